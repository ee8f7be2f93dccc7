"""Names and places: one class writes the functions' environment and reads it back."""

from __future__ import annotations

import shlex
from dataclasses import asdict, fields, replace

import pytest

from local.aws.emr.spark import SparkJob
from local.aws.emr.workers import Worker, worker_of
from pipeline.deployment import Deployment
from pipeline.spark_submit import spark_submit_parameters
from tests.pipeline.world import DEPLOYMENT

LONGEST_ENVIRONMENT = 4096  # bytes, all of a function's variables
SIZE = {"worker_vcpus": "4", "worker_memory_gb": "16", "worker_disk_gb": "20", "max_executors": "3"}


def test_the_environment_is_read_back_as_it_was_written():
    assert Deployment.from_environment({**DEPLOYMENT.to_environment(), "PATH": "/bin"}) == DEPLOYMENT


@pytest.mark.parametrize("field", [field.name for field in fields(Deployment)])
def test_a_missing_variable_is_named(field):
    environment = DEPLOYMENT.to_environment()
    del environment[f"TIDEMARK_{field.upper()}"]
    with pytest.raises(KeyError, match=f"TIDEMARK_{field.upper()}"):
        Deployment.from_environment(environment)


def test_the_environment_fits_into_a_function_with_room_to_spare():
    longest = replace(
        DEPLOYMENT,
        stack_name="s" * 60,
        default_table="t" * 255,
        bucket="b" * 63,
        database="d" * 255,
        **dict.fromkeys(("topic_arn", "state_machine_arn", "job_role_arn"), "x" * 256),
        **dict.fromkeys(("entry_point", "spark_bundle"), "x" * 200),
    )
    assert sum(len(k) + len(v) for k, v in longest.to_environment().items()) < LONGEST_ENVIRONMENT - 1000


def test_parameters_exports_and_reports_have_their_places():
    assert DEPLOYMENT.parameter("orders") == "/tidemark/Tidemark/orders"
    assert DEPLOYMENT.parameter("orders", "run/7") == "/tidemark/Tidemark/orders/run/7"
    assert DEPLOYMENT.export_prefix("orders") == "exports/orders"
    assert DEPLOYMENT.report_key("orders", "job") == "runs/orders/job.json"
    assert (DEPLOYMENT.warehouse, DEPLOYMENT.log_uri) == ("s3://a-bucket/warehouse", "s3://a-bucket/logs/")
    assert DEPLOYMENT.region == "eu-west-1"


def test_spark_is_told_bundle_catalog_and_size_and_nothing_of_the_data():
    words = shlex.split(spark_submit_parameters(replace(DEPLOYMENT, **SIZE)))
    assert words[:2] == ["--py-files", "spark_bundle"]
    assert words[2::2] == ["--conf"] * (len(words[2:]) // 2)
    conf = dict(word.split("=", 1) for word in words[3::2])
    assert conf["spark.sql.catalog.glue.catalog-impl"] == "org.apache.iceberg.aws.glue.GlueCatalog"
    # Else a MERGE would go on from a state of the table that the job has never looked at.
    held = ("cache-enabled", "cache.expiration-interval-ms")
    assert [conf[f"spark.sql.catalog.glue.{name}"] for name in held] == ["true", "-1"]
    assert conf["spark.sql.catalog.glue.warehouse"] == "s3://a-bucket/warehouse"
    assert (conf["spark.driver.memory"], conf["spark.executor.cores"]) == ("13g", "4")
    assert conf["spark.dynamicAllocation.maxExecutors"] == "3"


@pytest.mark.parametrize("kind", ["driver", "executor"])
@pytest.mark.parametrize(("memory", "disk"), [(2, 20), (8, 100), (16, 20), (30, 200), (120, 50)])
def test_a_worker_is_as_large_as_the_settings_say(kind, memory, disk):
    size = {**SIZE, "worker_memory_gb": str(memory), "worker_disk_gb": str(disk)}
    words = shlex.split(spark_submit_parameters(replace(DEPLOYMENT, **size)))
    asked = worker_of(SparkJob("s3://b/job.py", (), dict(word.split("=", 1) for word in words[3::2])), kind)
    assert asked == Worker(4, memory, disk)


@pytest.mark.parametrize(("most", "at_first"), [("1", "1"), ("3", "3"), ("500", "3")])
def test_no_job_begins_with_more_executors_than_it_may_have(most, at_first):
    parameters = spark_submit_parameters(replace(DEPLOYMENT, **{**SIZE, "max_executors": most}))
    assert f"initialExecutors={at_first} " in parameters


def test_every_value_is_text_because_an_environment_holds_nothing_else():
    assert all(isinstance(value, str) for value in asdict(DEPLOYMENT).values())
