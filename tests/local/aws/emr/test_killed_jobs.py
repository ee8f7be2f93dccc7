"""Jobs whose driver is killed at a call, by a fault."""

from __future__ import annotations

import textwrap

import pytest

pytestmark = [pytest.mark.local_aws, pytest.mark.spark]

COPY = textwrap.dedent(
    """
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    path = spark._jvm.org.apache.hadoop.fs.Path
    files = path("s3://lake/").getFileSystem(spark._jsc.hadoopConfiguration())
    for name in ("first", "second"):
        files.create(path("s3://lake/out/" + name)).close()
    """
)


@pytest.mark.parametrize(("when", "left"), [("before", []), ("after", ["out/first"])])
def test_a_driver_is_killed_at_a_call_and_goes_no_further(aws, jobs, when, left):
    fault = {"action": "s3:PutObject", "resource": "arn:aws:s3:::lake/out/first", "kind": "killed", "when": when}
    aws.set_faults({"name": "n", "role": "job", **fault})

    ended = jobs.ended(jobs.start(jobs.driver(COPY)), within=120)

    assert (ended["state"], "ExitCode: 137" in ended["stateDetails"]) == ("FAILED", True), ended["stateDetails"]
    found = jobs.s3.list_objects_v2(Bucket="lake", Prefix="out/").get("Contents", [])
    assert [one["Key"] for one in found] == left
