"""What a job's parameters mean on one machine."""

from pathlib import Path

import pytest

from local import java
from local.aws.emr.machine import DriverKind, Machine, secrets_file
from local.aws.emr.secrets_manager import names_of
from local.aws.emr.spark import JobUnreadable, SparkJob

MACHINE = Machine("http://127.0.0.1:1", "us-east-1", (Path("/jars/a.jar"), Path("/jars/b.jar")))
EMR_IMAGE = "/usr/share/aws/iceberg/lib/iceberg-spark3-runtime.jar"


def parsed(parameters: str) -> SparkJob:
    return SparkJob.parse({"entryPoint": "s3://b/job.py", "sparkSubmitParameters": parameters})


def settings_of(arguments: list[str]) -> dict[str, str]:
    """The settings among the arguments of spark-submit."""
    given = [arguments[at + 1] for at, word in enumerate(arguments) if word == "--conf"]
    return dict(setting.split("=", 1) for setting in given)


def test_options_are_settings_and_quotes_are_the_shells() -> None:
    job = parsed("--py-files s3://b/one.zip --conf 'spark.x=a b=c' --driver-memory=3g --conf spark.y=")

    assert job.conf == {
        "spark.submit.pyFiles": "s3://b/one.zip",
        "spark.x": "a b=c",
        "spark.driver.memory": "3g",
        "spark.y": "",
    }


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ("--conf spark.x", "NAME=VALUE"),
        ("--proxy-user me", "--proxy-user"),
        ("job.py", "no option"),
        ("--py-files", "has no value"),
        ("--conf 'open", "cannot be parsed"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(parameters: str, complaint: str) -> None:
    with pytest.raises(JobUnreadable, match=complaint):
        parsed(parameters)


def test_parameters_win_over_the_jobs_configuration_and_that_over_the_applications() -> None:
    def defaults(**properties: str) -> list[dict[str, object]]:
        named = {f"spark.{name}": value for name, value in properties.items()}
        return [{"classification": "spark-defaults", "properties": named}]

    driver = {"entryPoint": "s3://b/job.py", "sparkSubmitParameters": "--conf spark.c=parameters"}
    job = SparkJob.parse(driver, defaults(a="application", b="application"), defaults(b="job", c="job"))

    assert job.conf == {"spark.a": "application", "spark.b": "job", "spark.c": "parameters"}


def test_a_secret_reaches_the_job_in_a_file_and_not_on_the_command_line(tmp_path: Path) -> None:
    properties = {"spark.my.secret": "EMR.secret@shop/key", "spark.x": "y"}
    job = SparkJob.parse({"entryPoint": "job.py"}, [{"classification": "spark-defaults", "properties": properties}])

    arguments = MACHINE.arguments(job, tmp_path)

    assert names_of(job.conf) == {"spark.my.secret": "shop/key"}
    assert settings_of(arguments)["spark.x"] == "y"
    assert "spark.my.secret" not in settings_of(arguments)
    assert arguments[arguments.index("--properties-file") + 1] == str(secrets_file(tmp_path))


def test_what_lies_in_s3_is_fetched_and_what_the_image_holds_is_left_out() -> None:
    job = parsed(
        f"--py-files s3://b/one.zip,s3://b/two.zip --conf spark.jars={EMR_IMAGE} --archives s3://b/env.tar.gz#environment"
    )

    local = job.with_files(lambda uri: Path("/work") / uri.rpartition("/")[2])

    assert local.entry_point == "/work/job.py"
    assert local.conf == {
        "spark.submit.pyFiles": "/work/one.zip,/work/two.zip",
        "spark.archives": "/work/env.tar.gz#environment",
    }


def test_settings_of_a_cluster_do_not_reach_one_process(tmp_path: Path) -> None:
    job = parsed(
        "--conf spark.executor.cores=4 --conf spark.dynamicAllocation.maxExecutors=9 --conf spark.master=yarn "
        "--conf spark.emr-serverless.executor.disk=50g --conf spark.executorEnv.PYSPARK_PYTHON=/x "
        "--conf spark.sql.ansi.enabled=true"
    )

    settings = settings_of(MACHINE.arguments(job, tmp_path))

    assert settings["spark.sql.ansi.enabled"] == "true"
    assert not [
        name for name in settings if name.startswith(("spark.executor", "spark.dynamic", "spark.emr", "spark.m"))
    ]


@pytest.mark.parametrize(("asked", "given"), [("13g", "2g"), ("512m", "512m"), (None, "2g")])
def test_the_drivers_memory_is_what_was_asked_for_up_to_two_gigabytes(asked: str | None, given: str) -> None:
    kind = DriverKind.of(parsed(f"--driver-memory {asked}" if asked else ""))

    options = ["--driver-memory", given, "--driver-class-path", java.before_spark()]
    assert MACHINE.driver_command(kind)[1:] == [*options, "pyspark-shell"]


def test_every_catalog_of_the_parameters_reaches_the_local_endpoint(tmp_path: Path) -> None:
    job = parsed(
        "--conf spark.sql.catalog.glue=org.apache.iceberg.spark.SparkCatalog "
        "--conf spark.sql.catalog.glue.warehouse=s3://b/w --conf spark.sql.catalog.other=org.apache.iceberg.X"
    )

    settings = settings_of(MACHINE.arguments(job, tmp_path))

    for catalog in ("glue", "other"):
        assert settings[f"spark.sql.catalog.{catalog}.glue.endpoint"] == "http://127.0.0.1:1"
        assert settings[f"spark.sql.catalog.{catalog}.s3.path-style-access"] == "true"
    assert settings["spark.sql.catalog.glue.warehouse"] == "s3://b/w"


def test_the_environment_holds_what_the_job_asks_for_and_nothing_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    monkeypatch.setenv("AWS_PROFILE", "mine")
    monkeypatch.setenv("PYTHONPATH", "/mine")
    kind = DriverKind.of(
        parsed("--conf spark.emr-serverless.driverEnv.MODE=x --conf spark.emr-serverless.driverEnv.PYSPARK_PYTHON=./e")
    )

    environment = MACHINE.driver_environment(kind, tmp_path)

    assert environment["AWS_ENDPOINT_URL"] == "http://127.0.0.1:1"
    assert environment["SPARK_DIST_CLASSPATH"] == "/jars/a.jar:/jars/b.jar"
    assert environment["MODE"] == "x"
    assert environment["PYSPARK_PYTHON"].startswith(str(tmp_path))
    assert not {"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "PYTHONPATH"} & set(environment)
