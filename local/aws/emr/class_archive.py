"""The classes a Spark job loads, parsed once and kept as a file that the JVM maps: half of a small job's work is saved.

`python -m local.aws.emr.class_archive` makes the file, under `.tools`, by a rehearsal on a local AWS; jobs use it when it
is there and fits, and are only slower without it. Method: "Application Class-Data Sharing" of the JDK's `java` manual.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from local.aws.emr.control import Control
from local.aws.emr.logs import Logs, last_exceptions
from local.control import REGION, LocalAws

if TYPE_CHECKING:
    from local.aws.emr.machine import Machine

_FOLDER = Path(__file__).resolve().parents[3] / ".tools" / "spark-classes"
# The JVM writes the archive when it ends: seconds of work, minutes on a machine that has other things to do.
_WRITTEN_WITHIN_SECONDS = 300.0
_DATABASE, _BUCKET = "rehearsal", "rehearsal"
_ROOT = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_SESSION_TOKEN": "test"}
_LINES = b"".join(b'{"id": %d, "item": {"total": {"N": "%d.5"}}}\n' % (number, number) for number in range(1, 6))
_PARAMETERS = " ".join(
    f"--conf {setting}"
    for setting in (
        "spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.glue=org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.glue.catalog-impl=org.apache.iceberg.aws.glue.GlueCatalog",
        "spark.sql.catalog.glue.io-impl=org.apache.iceberg.aws.s3.S3FileIO",
        f"spark.sql.catalog.glue.warehouse=s3://{_BUCKET}/warehouse",
    )
)


class RehearsalFailed(RuntimeError):
    """The program did not run to its end, or left no archive; the text is the end of what it wrote."""


def jvm_options(class_path: Sequence[Path]) -> tuple[str, ...]:
    """What makes the JVM use the archive of this class path; nothing where there is none."""
    archive = archive_of(class_path)
    # An archive that does not fit is left aside by the JVM, whose warnings would be lines of the job's output.
    return (f"-XX:SharedArchiveFile={archive}", "-Xlog:disable") if archive.exists() else ()


def archive_of(class_path: Sequence[Path]) -> Path:
    """Where the archive of these jars lies or would lie; another Java or another jar is another archive."""
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else shutil.which("java")
    files = [Path(java).resolve() if java else Path("java"), *class_path]
    known = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files if file.exists()]
    return _FOLDER / f"{hashlib.sha256(repr(known).encode()).hexdigest()[:16]}.jsa"


def make() -> Path:
    """Rehearse and keep the archive, in place of all earlier ones. Raises RehearsalFailed."""
    # Not at the top: `machine` asks this module for its options.
    from local.aws.emr.machine import Machine, class_path, installed_jars

    jars = installed_jars()
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_FOLDER) as name:
        folder = Path(name)
        made = folder / "made.jsa"
        aws = LocalAws.start(folder / "aws", enforce_iam=False)
        try:
            _prepare(aws)
            machine = Machine(aws.endpoint, REGION, jars, (f"-XX:ArchiveClassesAtExit={made}",))
            _rehearse(machine, folder)
        finally:
            aws.stop()
        if not made.exists():
            raise RehearsalFailed("Java wrote no archive")
        for earlier in _FOLDER.glob("*.jsa"):
            earlier.unlink()
        return made.rename(archive_of(class_path(jars)))


def _prepare(aws: LocalAws) -> None:
    aws.client("s3").create_bucket(Bucket=_BUCKET)
    aws.client("s3").put_object(Bucket=_BUCKET, Key="lines.json", Body=_LINES)
    aws.client("glue").create_database(DatabaseInput={"Name": _DATABASE})


def _rehearse(machine: Machine, folder: Path) -> None:
    from local.aws.emr.drivers import Driver
    from local.aws.emr.machine import DriverKind
    from local.aws.emr.spark import SparkJob

    job = SparkJob.parse(
        {
            "entryPoint": str(Path(__file__).with_name("rehearsal.py")),
            "entryPointArguments": [f"s3://{_BUCKET}/lines.json", f"glue.{_DATABASE}.items"],
            "sparkSubmitParameters": _PARAMETERS,
        }
    )
    logs, control = Logs(folder / "stdout", folder / "stderr"), Control()
    driver = Driver(machine, DriverKind.of(job))
    try:
        driver.wait_until_ready(control)
        if driver.submit(machine.arguments(job, folder), _ROOT, logs, control):
            raise RehearsalFailed(last_exceptions(logs))
    finally:
        driver.end(_WRITTEN_WITHIN_SECONDS)


if __name__ == "__main__":
    sys.exit(0 if make() else 1)
