"""The Java that Spark runs on here: its jars, and an archive of classes that fits exactly one Java and one set of jars."""

import os
from pathlib import Path

import pyspark
import pytest

from local import java
from local.java import JARS_VARIABLE, JarsMissing, archive_of, archive_options, installed_jars
from pipeline.spark_submit import application_configuration


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.setattr(java, "ARCHIVES", tmp_path)
    monkeypatch.setattr(java, "UNSIGNED", tmp_path / "unsigned")
    (tmp_path / "unsigned").mkdir()
    found = [tmp_path / "one.jar", tmp_path / "two.jar"]
    for jar in found:
        jar.write_bytes(b"classes")
    return found


def test_without_an_archive_a_job_runs_without(jars: list[Path]) -> None:
    assert archive_options(jars) == ()


def test_an_archive_is_used_silently(jars: list[Path]) -> None:
    archive_of(jars).write_bytes(b"archive")

    assert archive_options(jars) == (f"-XX:SharedArchiveFile={archive_of(jars)}", "-Xlog:disable")


def test_another_jar_or_another_java_is_another_archive(
    jars: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = archive_of(jars)
    os.utime(jars[0], (1, 1))
    second = archive_of(jars)
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_bytes(b"java")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    third = archive_of(jars)

    assert len({first, second, third, archive_of(jars[:1])}) == 4
    assert archive_of(jars) == third
    (tmp_path / "unsigned" / "spark.jar").write_bytes(b"classes")
    assert archive_of(jars) != third


def test_unsigned_copies_come_before_spark_in_an_order_that_stays(jars: list[Path], tmp_path: Path) -> None:
    copies = [tmp_path / "unsigned" / name for name in ("b.jar", "a.jar")]
    for copy in copies:
        copy.write_bytes(b"classes")

    assert java.before_spark() == f"{copies[1]}:{copies[0]}"


def test_without_jars_the_error_names_the_command_that_fetches_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(JARS_VARIABLE, str(tmp_path))

    with pytest.raises(JarsMissing, match="make install"):
        installed_jars()


def test_jobs_run_on_the_pinned_spark_whatever_another_installation_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))

    assert java.environment([])["SPARK_HOME"] == str(Path(pyspark.__file__).parent)


def test_java_as_spark_starts_it_has_what_our_jobs_say_on_emr_and_nothing_that_is_laid_ready_here() -> None:
    (defaults,) = application_configuration("")
    said = defaults["Properties"]["spark.driver.extraJavaOptions"]

    ours, plain = java.environment([], start=java.OURS_ON_EMR), java.environment([], start=java.PLAIN)

    assert ours["SPARK_SUBMIT_OPTS"] == f"{plain['SPARK_SUBMIT_OPTS']} {said}"
    assert "-XX" not in plain["SPARK_SUBMIT_OPTS"] + plain["SPARK_LAUNCHER_OPTS"]
    assert (java.OURS_ON_EMR.is_prepared, java.PLAIN.is_prepared) == (False, False)
