"""Jobs that follow each other in one JVM: warm, and as if the job before had not been."""

from __future__ import annotations

import gzip
import json
import textwrap
from typing import Any

import pytest

pytestmark = [pytest.mark.local_aws, pytest.mark.spark]

# What a job finds in its JVM; it leaves its session open, and its settings as they are.
LOOK_AROUND = textwrap.dedent(
    """
    import json, os, sys
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    system = spark._jvm.java.lang.System
    print("FOUND", json.dumps({
        "jvm": os.getppid(),
        "application": spark.sparkContext.applicationId,
        "name": spark.sparkContext.appName,
        "mine": spark.conf.get("spark.test.mine", ""),
        "left": system.getProperty("spark.test.left"),
        "key": system.getProperty("aws.accessKeyId"),
        "views": [table.name for table in spark.catalog.listTables()],
    }), flush=True)
    spark.range(1).createOrReplaceTempView("left_behind")
    system.setProperty("spark.test.left", "something")
    """
)
DIE = "import os, signal; os.kill(os.getppid(), signal.SIGKILL); os._exit(0)"


def ended(jobs: Any, program: str, parameters: str) -> dict[str, Any]:
    """A job run of a program at its end."""
    run = jobs.start(jobs.driver(program, parameters=parameters), configurationOverrides=jobs.logs_to_s3)
    found: dict[str, Any] = jobs.ended(run, within=120)
    return found


def found_by(jobs: Any, name: str = "test", *settings: str, ends: str = "") -> dict[str, Any]:
    """What a job finds; `ends`: what its program does after it has looked around."""
    parameters = " ".join(f"--conf {setting}" for setting in (f"spark.app.name={name}", *settings))
    run = ended(jobs, LOOK_AROUND + ends, parameters)
    assert run["state"] == ("FAILED" if ends else "SUCCESS"), run.get("stateDetails")
    (line,) = [
        line.removeprefix("FOUND ")
        for line in gzip.decompress(jobs.log(run["jobRunId"], "stdout")).decode().splitlines()
        if line.startswith("FOUND ")
    ]
    found: dict[str, Any] = json.loads(line)
    return found


def test_the_next_job_finds_the_jvm_warm_and_nothing_of_the_job_before(jobs):
    first = found_by(jobs, "first", "spark.test.mine=yes")
    second = found_by(jobs, "second")

    assert first["jvm"] == second["jvm"]
    assert first["application"] != second["application"]
    assert first["key"] != second["key"]
    assert (first["name"], first["mine"]) == ("first", "yes")
    assert (second["name"], second["mine"], second["left"], second["views"]) == ("second", "", None, [])


def test_a_program_that_fails_with_its_session_open_leaves_nothing_either(jobs):
    failed = found_by(jobs, "failed", "spark.test.mine=yes", ends="raise LookupError('nothing there')")
    after = found_by(jobs, "after")

    assert failed["jvm"] == after["jvm"]
    assert failed["application"] != after["application"]
    assert (after["name"], after["mine"], after["left"], after["views"]) == ("after", "", None, [])


def test_a_submission_that_spark_refuses_fails_with_sparks_words(jobs):
    nothing = {"sparkSubmit": {"entryPoint": jobs.put("jobs/empty.jar", b"")}}

    refused = jobs.ended(jobs.start(nothing), within=120)

    assert refused["state"] == "FAILED"
    assert "ExitCode: 1." in refused["stateDetails"]
    assert "Please specify one with --class" in refused["stateDetails"]


def test_a_jvm_that_dies_fails_its_job_and_the_next_job_gets_another(jobs):
    before = found_by(jobs)

    died = ended(jobs, DIE, "--conf spark.app.name=dies")
    after = found_by(jobs)

    assert died["state"] == "FAILED"
    assert "ExitCode: 137" in died["stateDetails"]
    assert after["jvm"] != before["jvm"]


def test_another_environment_is_another_jvm(jobs):
    assert found_by(jobs)["jvm"] != found_by(jobs, "test", "spark.emr-serverless.driverEnv.MODE=x")["jvm"]
