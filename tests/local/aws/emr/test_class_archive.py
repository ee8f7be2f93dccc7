"""The archive of classes fits exactly one Java and one set of jars."""

import os
from pathlib import Path

import pytest

from local.aws.emr import class_archive
from local.aws.emr.class_archive import archive_of, jvm_options


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.setattr(class_archive, "_FOLDER", tmp_path)
    found = [tmp_path / "one.jar", tmp_path / "two.jar"]
    for jar in found:
        jar.write_bytes(b"classes")
    return found


def test_without_an_archive_a_job_runs_without(jars: list[Path]) -> None:
    assert jvm_options(jars) == ()


def test_an_archive_is_used_silently(jars: list[Path]) -> None:
    archive_of(jars).write_bytes(b"archive")

    assert jvm_options(jars) == (f"-XX:SharedArchiveFile={archive_of(jars)}", "-Xlog:disable")


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
