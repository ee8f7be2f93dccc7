"""The classes a Spark job loads, parsed once and kept as a file that the JVM maps: half of a small job's work is saved.

`python -m local.aws.emr.class_archive` makes the file, under `.tools`, by a rehearsal on a local AWS; jobs use it when it
is there and fits, and are only slower without it. Method: "Application Class-Data Sharing" of the JDK's `java` manual.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from local import java
from local.aws.account import REGION
from local.aws.emr.control import Control
from local.aws.emr.drivers import Driver
from local.aws.emr.logs import Logs, last_exceptions
from local.aws.emr.machine import DriverKind, Machine
from local.aws.emr.spark import SparkJob
from local.control import LocalAws

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


def make() -> Path:
    """Rehearse and keep the archive, in place of all earlier ones. Raises RehearsalFailed."""
    jars = java.installed_jars()
    java.ARCHIVES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=java.ARCHIVES) as name:
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
        for earlier in java.ARCHIVES.glob("*.jsa"):
            earlier.unlink()
        return made.rename(java.archive_of(jars))


def _prepare(aws: LocalAws) -> None:
    aws.client("s3").create_bucket(Bucket=_BUCKET)
    aws.client("s3").put_object(Bucket=_BUCKET, Key="lines.json", Body=_LINES)
    aws.client("glue").create_database(DatabaseInput={"Name": _DATABASE})


def _rehearse(machine: Machine, folder: Path) -> None:
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
