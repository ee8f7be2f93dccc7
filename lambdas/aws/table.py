"""The Iceberg table: its state, read from the metadata file that the Glue table points to. No engine needed."""

from __future__ import annotations

import json

from botocore.exceptions import ClientError

from lambdas.aws.clients import client, error_code
from pipeline.marker import NO_TABLE, TableState, read_table_state


def look(database: str, table: str) -> TableState:
    """Read what the table says of itself; NO_TABLE where there is none."""
    try:
        found = client("glue").get_table(DatabaseName=database, Name=table)["Table"]
    except ClientError as error:
        if error_code(error) == "EntityNotFoundException":
            return NO_TABLE
        raise
    location = found.get("Parameters", {}).get("metadata_location", "")
    if not location:
        return TableState(exists=True)  # a table that is not Iceberg: not ours, and never to be overwritten
    bucket, _, key = location.partition("://")[2].partition("/")
    try:
        metadata = client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    except ClientError as error:
        if error_code(error) == "NoSuchKey":
            return TableState(exists=True)  # nobody can read such a table; a full export can still replace it
        raise
    return read_table_state(json.loads(metadata))
