"""What the settings say of a table's columns, in the file that the deployment has laid down."""

from __future__ import annotations

from lambdas.aws.clients import client
from pipeline.columns.columns_file import from_file
from pipeline.columns.overrides import Overrides
from pipeline.deployment import Deployment


def read(deployment: Deployment, table: str) -> Overrides:
    """Read what is said of a source table's columns. The file is named by its content, and the plan names it to the job."""
    bucket, _, key = deployment.columns_file.partition("://")[2].partition("/")
    return from_file(client("s3").get_object(Bucket=bucket, Key=key)["Body"].read(), table)
