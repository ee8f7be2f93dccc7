"""The Iceberg table: its state, read from the metadata file that the Glue table points to. No engine needed."""

from __future__ import annotations

from botocore.exceptions import ClientError

from lambdas.aws.clients import client, error_code
from pipeline.deployment import Deployment
from pipeline.errors import DatabaseMissing, TableFilesMissing
from pipeline.setting_checks import refusal
from pipeline.table.marker import NO_TABLE, TableState, read_table_state
from pipeline.table.metadata_file import metadata_in

#: What S3 says of a bucket that is another's, or gone.
_OUT_OF_REACH = ("AccessDenied", "NoSuchBucket")


def look(deployment: Deployment, table: str) -> TableState:
    """Read what the table says of itself; NO_TABLE where there is none.

    Raises SettingRefused where it is none of Iceberg's, TableFilesMissing where nobody can read it, DatabaseMissing.
    """
    database = deployment.database
    try:
        found = client("glue").get_table(DatabaseName=database, Name=table)["Table"]
    except ClientError as error:
        if error_code(error) == "EntityNotFoundException":
            return _no_table_of(database)
        raise
    location = found.get("Parameters", {}).get("metadata_location", "")
    if not location:
        # Not ours, never to be overwritten, and Iceberg would not: neither changes nor a full export can come to it.
        allowed = "a name that no other table of the database has"
        raise refusal("iceberg_table", table, f"{allowed}; the one of {database} is no Iceberg table")
    bucket, _, key = location.partition("://")[2].partition("/")
    try:
        content = client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    except ClientError as error:
        if error_code(error) == "NoSuchKey":
            raise TableFilesMissing(
                f"the table {table} of {database} points to {location}, which does not exist",
                f"Bring the file back, or let the next run make the table anew after {_delete(deployment, table)}",
            ) from error
        if bucket != deployment.bucket and error_code(error) in _OUT_OF_REACH:
            raise TableFilesMissing(
                f"the table {table} of {database} points to {location}, which is not in this deployment's bucket, and which "
                f"its functions cannot read: {error}",
                "If it is of an earlier deployment, choose another database in the settings and deploy, or let the next run "
                f"make the table anew after {_delete(deployment, table)}",
            ) from error
        raise
    return read_table_state(metadata_in(content))


def _delete(deployment: Deployment, table: str) -> str:
    return deployment.addressed(f"aws glue delete-table --database-name {deployment.database} --name {table}")


def _no_table_of(database: str) -> TableState:
    """NO_TABLE of a database that exists: Glue has one code for a table and for a database that it does not find.

    Taken for a table, a database that is gone would cost a full export of each of its tables.
    """
    try:
        client("glue").get_database(Name=database)
    except ClientError as error:
        if error_code(error) == "EntityNotFoundException":
            raise DatabaseMissing(f"the Glue database {database} does not exist: {error}") from error
        raise
    return NO_TABLE
