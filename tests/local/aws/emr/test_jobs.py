"""Jobs that are real: Spark's submission, the Java Glue catalog, S3 under the job's role, cancelling, timeouts, the queue."""

import gzip
import io
import re
import textwrap
import time
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.local_aws, pytest.mark.spark]

# Reads JSON from S3, creates an Iceberg table, merges into it, reads it back; the expression comes from a module of
# the bundle.
ICEBERG_JOB = textwrap.dedent(
    """
    import json, sys
    from pyspark.sql import SparkSession
    from bundled.changes import MERGE

    spark = SparkSession.builder.getOrCreate()
    spark.read.json(sys.argv[1]).createOrReplaceTempView("changes")
    spark.sql("CREATE TABLE IF NOT EXISTS glue.shop.orders (id BIGINT, total STRING) USING iceberg")
    spark.sql("INSERT INTO glue.shop.orders VALUES (1, 'old'), (2, 'kept')")
    spark.sql(MERGE)
    rows = spark.sql("SELECT id, total FROM glue.shop.orders ORDER BY id").collect()
    print("ROWS", json.dumps([list(row) for row in rows]))
    """
)
MODULE = textwrap.dedent(
    '''
    MERGE = """
        MERGE INTO glue.shop.orders t USING changes c ON t.id = c.id
        WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
    """
    '''
)
# The process's own id lets a test see whether it is gone; the file's path holds the id of the job run.
SLOW_JOB = "import os, time; print('PID', os.getpid(), __file__, flush=True); time.sleep(300)"

GLUE = {
    "Action": ["glue:GetDatabase", "glue:GetTable", "glue:CreateTable", "glue:UpdateTable"],
    "Resource": [
        "arn:aws:glue:us-east-1:000000000000:catalog",
        "arn:aws:glue:us-east-1:000000000000:database/shop",
        "arn:aws:glue:us-east-1:000000000000:table/shop/*",
    ],
}
LIST = {"Action": ["s3:ListBucket", "s3:GetBucketLocation"], "Resource": "arn:aws:s3:::lake"}
READ = {"Action": "s3:GetObject", "Resource": "arn:aws:s3:::lake/*"}
WRITE = {"Action": ["s3:PutObject", "s3:DeleteObject"], "Resource": "arn:aws:s3:::lake/warehouse/*"}
LOGS = {"Action": "s3:PutObject", "Resource": "arn:aws:s3:::lake/logs/*"}


@pytest.fixture
def iceberg_driver(aws, jobs):
    aws.client("glue").create_database(DatabaseInput={"Name": "shop"})
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as bundle:
        bundle.writestr("bundled/__init__.py", "")
        bundle.writestr("bundled/changes.py", MODULE)
    bundle_uri = jobs.put("jobs/bundle.zip", archive.getvalue())
    changes = jobs.put("exports/changes.json", '{"id": 1, "total": "new"}\n{"id": 3, "total": "more"}\n')
    return jobs.driver(ICEBERG_JOB, changes, parameters=f"--py-files {bundle_uri} {jobs.iceberg}")


def process_of(jobs, run):
    """The process id a running SLOW_JOB wrote, found in its output on disk."""

    def output():
        files = (jobs.aws.home / "tmp").glob("spark-driver-*/stdout")
        return "".join(file.read_text() for file in files)

    deadline = time.monotonic() + 60
    while not (found := re.findall(rf"PID (\d+) .*emr-{run}-", output())):
        assert time.monotonic() < deadline, jobs.described(run)
        time.sleep(0.05)
    return int(found[-1])


def is_gone(process):
    """Whether a process has ended; what is left of it until its parent looks does not count."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_job_reads_s3_and_merges_into_an_iceberg_table_with_no_more_than_its_roles_rights(aws, jobs, iceberg_driver):
    role = jobs.make_role("merger", GLUE, LIST, READ, WRITE, LOGS)

    run = jobs.start(iceberg_driver, executionRoleArn=role, configurationOverrides=jobs.logs_to_s3)
    ended = jobs.ended(run, within=120)

    assert ended["state"] == "SUCCESS", ended["stateDetails"]
    output = gzip.decompress(jobs.log(run, "stdout")).decode()
    assert 'ROWS [[1, "new"], [2, "kept"], [3, "more"]]' in output
    assert "Running Spark version 3.5.6" in gzip.decompress(jobs.log(run, "stderr")).decode()
    table = aws.client("glue").get_table(DatabaseName="shop", Name="orders")["Table"]
    assert table["Parameters"]["metadata_location"].startswith("s3://lake/warehouse/")
    actions = {check["action"] for check in aws.access_log() if check["role"] == "merger" and check["allowed"]}
    assert {"s3:GetObject", "s3:PutObject", "glue:CreateTable", "glue:UpdateTable"} <= actions
    assert not list((aws.home / "tmp").glob("emr-*"))


def test_a_job_that_may_not_write_fails_and_says_so(jobs, iceberg_driver):
    role = jobs.make_role("reader", GLUE, LIST, READ, LOGS)

    failed = jobs.ended(
        jobs.start(iceberg_driver, executionRoleArn=role, configurationOverrides=jobs.logs_to_s3), within=120
    )

    assert failed["state"] == "FAILED"
    assert "is not authorized to perform: s3:PutObject" in failed["stateDetails"]
    assert failed["stateDetails"].startswith("Job failed, please check complete logs")


def test_a_program_that_raises_fails_the_job_with_its_error(jobs):
    failed = jobs.ended(jobs.start(jobs.driver("raise LookupError('nothing there')")))

    assert failed["state"] == "FAILED"
    assert "LookupError: nothing there" in failed["stateDetails"]
    assert "ExitCode: 1" in failed["stateDetails"]


def test_a_module_that_is_not_in_the_bundle_is_missing(jobs):
    failed = jobs.ended(jobs.start(jobs.driver("import boto3")))

    assert "ModuleNotFoundError: No module named 'boto3'" in failed["stateDetails"]


def test_arguments_arrive_as_they_were_given(jobs):
    odd = ["--not-an-option", "two words", '{"json": "with \\"quotes\\" and $signs"}', ""]

    run = jobs.start(
        jobs.driver("import sys; print(ascii(sys.argv[1:]))", *odd), configurationOverrides=jobs.logs_to_s3
    )
    ended = jobs.ended(run)

    assert ended["state"] == "SUCCESS", ended["stateDetails"]
    assert ascii(odd) in gzip.decompress(jobs.log(run, "stdout")).decode()


def test_a_cancelled_job_is_gone_with_its_process(jobs):
    run = jobs.start(jobs.driver(SLOW_JOB), configurationOverrides=jobs.logs_to_s3)
    process = process_of(jobs, run)

    jobs.emr.cancel_job_run(applicationId=jobs.application, jobRunId=run)
    ended = jobs.ended(run, within=10)

    assert ended["state"] == "CANCELLED"
    assert is_gone(process)
    assert f"PID {process}" in gzip.decompress(jobs.log(run, "stdout")).decode()


def test_a_job_that_runs_too_long_is_cancelled_by_the_virtual_clock(aws, jobs):
    run = jobs.start(jobs.driver(SLOW_JOB), executionTimeoutMinutes=10)
    process = process_of(jobs, run)

    aws.advance(9 * 60)
    time.sleep(0.5)
    assert jobs.described(run)["state"] == "RUNNING"
    aws.advance(2 * 60)
    ended = jobs.ended(run, within=10)

    assert ended["state"] == "CANCELLED"
    assert "longer than its execution timeout" in ended["stateDetails"]
    assert is_gone(process)


def test_jobs_beyond_the_limit_wait_their_turn(aws, jobs):
    single = jobs.make_application(schedulerConfiguration={"maxConcurrentRuns": 1, "queueTimeoutMinutes": 15})
    first = jobs.start(jobs.driver(SLOW_JOB), applicationId=single)
    process_of(jobs, first)
    second, third = (jobs.start(applicationId=single) for _ in range(2))
    jobs.until(third, lambda run: run["state"] == "QUEUED", application=single)

    jobs.emr.cancel_job_run(applicationId=single, jobRunId=second)
    assert jobs.ended(second, application=single)["state"] == "CANCELLED"
    assert jobs.described(third, single)["state"] == "QUEUED"
    jobs.emr.cancel_job_run(applicationId=single, jobRunId=first)

    ended = jobs.ended(third, application=single)
    assert ended["state"] == "FAILED"
    assert ended["queuedDurationMilliseconds"] > 0


def test_a_job_that_waits_too_long_in_the_queue_is_cancelled(aws, jobs):
    single = jobs.make_application(schedulerConfiguration={"maxConcurrentRuns": 1, "queueTimeoutMinutes": 15})
    process_of(jobs, jobs.start(jobs.driver(SLOW_JOB), applicationId=single))
    waiting = jobs.start(applicationId=single)

    aws.advance(16 * 60)

    assert "in the queue" in jobs.ended(waiting, application=single)["stateDetails"]


def test_restoring_the_account_ends_its_jobs(aws, jobs):
    process = process_of(jobs, jobs.start(jobs.driver(SLOW_JOB)))

    aws.restore()

    assert is_gone(process)
    assert aws.client("emr-serverless").list_applications()["applications"] == []


def test_an_application_with_a_job_under_way_does_not_stop(jobs):
    process_of(jobs, jobs.start(jobs.driver(SLOW_JOB)))

    with pytest.raises(jobs.emr.exceptions.ValidationException, match="have not ended"):
        jobs.emr.stop_application(applicationId=jobs.application)
