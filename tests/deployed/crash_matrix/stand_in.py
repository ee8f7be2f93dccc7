"""A stand-in for the Spark job at the points that are not the job's own: a real commit, without Spark.

It takes a merge whose windows hold nothing but deletions of rows that lie alone in their data files, and drops these files
through PyIceberg: one commit in the real table, under the job's role, with the product's marker. What the job may do at
all it asks the job's own guard: a window that is there does nothing, one that does not meet the watermark is refused.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyiceberg.catalog import load_catalog
from pyiceberg.expressions import And, BooleanExpression, EqualTo, Or

from local.aws.emr.sessions import client_of
from pipeline.job_order import JobOrder
from pipeline.table.guard import is_done
from pipeline.table.marker import read_table_state
from pipeline.table.order_marker import marker_of


def merge(arguments: Sequence[str], credentials: Mapping[str, str]) -> int:
    """Carry out an order; returns the exit code that the job would have. Raises a JobRefused."""
    order = JobOrder.from_arguments(list(arguments))
    assert order.job == "merge", f"a {order.job} is no work for a stand-in"
    table = _table(order, credentials)
    if is_done(read_table_state(json.loads(table.metadata.model_dump_json(by_alias=True))), order):
        return 0
    gone = [_row(key) for key in _deletions(order, credentials)]
    properties = marker_of(order, {"read": len(gone), "deleted": len(gone)}, billed_bytes=0, fingerprint="")
    with table.transaction() as transaction:
        transaction.delete(gone[0] if len(gone) == 1 else Or(*gone), snapshot_properties=properties)
        transaction.set_properties(properties)
    return 0


def die(_arguments: Sequence[str], _credentials: Mapping[str, str]) -> int:
    """End without success and without a word; returns the exit code."""
    return 1


def _deletions(order: JobOrder, credentials: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    """The keys of the order's changes, each of which must be a deletion."""
    s3 = client_of("s3", dict(credentials))

    def read(bucket: str, key: str) -> bytes:
        return bytes(s3.get_object(Bucket=bucket, Key=key)["Body"].read())

    for uri in order.exports:
        bucket, _, summary = uri.removeprefix("s3://").partition("/")
        files = json.loads(read(bucket, summary))["manifestFilesS3Key"]
        for listed in read(bucket, files).decode().splitlines():
            data = gzip.decompress(read(bucket, json.loads(listed)["dataFileS3Key"]))
            for change in map(json.loads, data.decode().splitlines()):
                assert "NewImage" not in change, "a stand-in takes deletions only"
                yield change["Keys"]


def _row(key: Mapping[str, Any]) -> BooleanExpression:
    return And(EqualTo("customer", key["customer"]["S"]), EqualTo("order", int(key["order"]["N"])))


def _table(order: JobOrder, credentials: Mapping[str, str]) -> Any:
    given = {
        "endpoint": os.environ["AWS_ENDPOINT_URL"],
        "region": os.environ["AWS_REGION"],
        "access-key-id": credentials["AWS_ACCESS_KEY_ID"],
        "secret-access-key": credentials["AWS_SECRET_ACCESS_KEY"],
        "session-token": credentials["AWS_SESSION_TOKEN"],
    }
    properties = {f"{service}.{name}": value for service in ("glue", "s3") for name, value in given.items()}
    catalog = load_catalog("stand-in", type="glue", **properties, **{"s3.force-virtual-addressing": "false"})
    return catalog.load_table(tuple(order.table.split(".")[-2:]))
