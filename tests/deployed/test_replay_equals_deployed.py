"""Replaying a mirror of the bucket's exports gives the same table as the deployed run, value by value."""

from __future__ import annotations

import pytest

from local import reader
from local.workload import KEY
from tests.local_command import run_local

pytestmark = [pytest.mark.local_aws, pytest.mark.spark, pytest.mark.deployed]


def mirror(world, folder):
    """Every object below exports/, as `aws s3 sync` would bring it."""
    s3, bucket = world.aws.client("s3"), world.deployed.outputs["BucketName"]
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix="exports/"):
        for found in page.get("Contents", []):
            file = folder / found["Key"]
            file.parent.mkdir(parents=True, exist_ok=True)
            s3.download_file(bucket, found["Key"], str(file))


def replay(exports, warehouse):
    """`python -m local replay` as a person runs it; what it wrote."""
    key = [argument for name, type_ in zip(KEY, ("S", "N"), strict=True) for argument in ("--key", f"{name}:{type_}")]
    arguments = [str(exports), "--table", "tidemark.orders", *key, "--warehouse", str(warehouse)]
    ended = run_local("replay", *arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def rows_by_key(table):
    """The rows by key, their values by exact attribute name."""
    names = {field.name: field.doc or field.name for field in table.schema().fields}
    return {tuple(row[c] for c in KEY): {names[c]: value for c, value in row.items()} for row in reader.rows(table)}


def types(table):
    return [(field.name, field.doc, str(field.field_type)) for field in table.schema().fields]


def test_a_replay_of_the_exports_gives_the_table_of_the_deployed_run(world, tmp_path):
    world.bootstrap()
    world.work()
    world.succeed()
    mirror(world, tmp_path / "bucket")
    replay(tmp_path / "bucket", tmp_path / "warehouse")
    deployed = reader.read_through_glue(world.aws, "tidemark", "orders")
    replayed = reader.read_folder(tmp_path / "warehouse" / "tidemark" / "orders")
    assert types(replayed) == types(deployed)
    assert rows_by_key(replayed) == rows_by_key(deployed)
    assert replayed.properties["tidemark.watermark"] == world.watermark()
    assert world.differences() == []
