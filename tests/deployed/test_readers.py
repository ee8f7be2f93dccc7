"""Who may read the tables reads them as docs/tables.md says, with the rights that stand there, and can do nothing else."""

from __future__ import annotations

import json
import re

import boto3
import jmespath
import pytest
from botocore.exceptions import ClientError

from local.aws.account import ACCOUNT, REGION
from local.compare import differences
from local.reader import columns, compare, read_through_glue, scan_source
from local.workload import KEY
from tests.deployed.roles import environment_of_a_person
from tests.documents import TABLES, blocks, filled, section
from tests.spark.duck import connected, rows_of

pytestmark = [pytest.mark.local_aws, pytest.mark.spark, pytest.mark.deployed]

ENGINES = section(TABLES, "## Other engines")
(PYICEBERG,), (DUCKDB,) = blocks(ENGINES, "python"), blocks(ENGINES, "sql")
(POLICY,) = blocks(section(TABLES, "## Rights of readers"), "json")


@pytest.fixture
def reader(world, monkeypatch):
    """A session with the rights of a reader, whose credentials stand in the environment as well; the table is loaded."""
    world.bootstrap()
    bucket = world.deployed.outputs["BucketName"]
    policy = filled(POLICY, partition="aws", region=REGION, account=ACCOUNT, bucket=bucket)
    environment = environment_of_a_person(world.aws, json.loads(policy)["Statement"])
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return boto3.Session()


def test_a_reader_reads_with_pyiceberg_as_the_document_says(world, reader):
    here = f'"client.region": "{REGION}", "s3.endpoint": "{world.aws.endpoint}"'
    found: dict = {}
    exec(PYICEBERG.replace('"client.region": "eu-west-1"', here), found)  # noqa: S102 - the document's own words
    assert [str(one) for one in compare(scan_source(world.aws, "orders"), found["orders"], KEY)] == []


def test_a_reader_reads_with_duckdb_as_the_document_says(world, reader):
    asked = re.search(r"^aws glue get-table --database-name (\S+) --name (\S+) --query (\S+) ", ENGINES, re.MULTILINE)
    database, name, query = asked.groups()
    metadata_file = jmespath.search(query, reader.client("glue").get_table(DatabaseName=database, Name=name))
    _, load, secret, select = DUCKDB.splitlines()  # what is installed comes as packages here
    here = (
        f"REGION '{REGION}', ENDPOINT '{world.aws.endpoint.removeprefix('http://')}', USE_SSL false, URL_STYLE 'path'"
    )
    with connected("avro", *re.findall(r"LOAD (\w+);", load)) as duck:
        duck.execute(secret.replace("REGION 'eu-west-1'", here))
        rows = rows_of(duck.execute(filled(select, **{"metadata file": metadata_file})))
    named = columns(read_through_glue(world.aws, database, name))
    assert [str(one) for one in differences(scan_source(world.aws, name), rows, named, KEY)] == []


def test_a_reader_finds_the_reports_and_neither_exports_nor_a_way_to_write(world, reader):
    s3, bucket = reader.client("s3"), world.deployed.outputs["BucketName"]
    keys = [found["Key"] for found in s3.list_objects_v2(Bucket=bucket)["Contents"]]
    data, export, report = (
        next(key for key in keys if key.startswith(f"{folder}/")) for folder in ("warehouse", "exports", "runs")
    )
    assert json.loads(s3.get_object(Bucket=bucket, Key=report)["Body"].read())["job"] == "load"
    for refused in (
        lambda: s3.get_object(Bucket=bucket, Key=export),
        lambda: s3.put_object(Bucket=bucket, Key=data, Body=b""),
        lambda: s3.delete_object(Bucket=bucket, Key=data),
        lambda: reader.client("glue").delete_table(DatabaseName="tidemark", Name="orders"),
        lambda: reader.client("dynamodb").scan(TableName="orders"),
    ):
        with pytest.raises(ClientError, match="AccessDenied"):
            refused()
    assert world.differences() == []
