"""What the settings say of a table's columns, in the file that the deployment has laid down."""

from __future__ import annotations

from botocore.exceptions import ClientError

from lambdas.aws.clients import client, error_code, is_of_a_key
from pipeline.columns.declared.columns_file import from_file
from pipeline.columns.declared.overrides import Overrides
from pipeline.deployment import Deployment
from pipeline.errors import SettingsMissing

#: S3 says AccessDenied of a file that is gone, too, to whom it may not list the bucket's files.
_GONE = ("NoSuchBucket", "NoSuchKey", "AccessDenied")


def read(deployment: Deployment, table: str) -> Overrides:
    """Read what is said of a source table's columns. The file is named by its content, and the plan names it to the job.

    Raises SettingsMissing: the file lies in the bucket of `cdk bootstrap`, and no table's files do.
    """
    bucket, _, key = deployment.columns_file.partition("://")[2].partition("/")
    try:
        text = client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    except ClientError as error:
        if error_code(error) not in _GONE or is_of_a_key(error):
            raise
        bootstrap, deploy = (deployment.addressed(f"make {verb}") for verb in ("bootstrap", "deploy"))
        raise SettingsMissing(
            f"{deployment.columns_file}, which says what the settings say of columns, cannot be read: {error}",
            f"If the bucket {bucket} is gone, delete the stack CDKToolkit and run `{bootstrap}` and `{deploy}`. Else "
            "the command writes the file again and gives the function its right to read it; it sets `control` of paused "
            "tables to RUN.",
        ) from error
    return from_file(text, table)
