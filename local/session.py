"""A Spark session of this process, with Iceberg tables in a folder; and the product's own jobs, run in it."""

from __future__ import annotations

import os
import pwd
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import SparkSession

from local import java
from local.failed import Failed, unwritable
from local.spark_jars import LOCAL_FILE_SYSTEM
from local.surroundings import LOOPBACK, leave_other_spark
from pipeline.job_order import JobOrder

CATALOG = "local"


def local_session(
    warehouse: Path,
    catalog_name: str = CATALOG,
    cores: str = "*",
    *,
    start: java.Start = java.SMALL_JOB,
    java_options: Sequence[str] = (),
) -> SparkSession:
    """A Spark session of this process with a Hadoop catalog below `warehouse`, in a Java that is started so.

    `catalog_name`, `cores`, `java_options`: for whoever wants Glue's name for the catalog, fewer processors than there
    are, or a JVM for more than a job or two. Raises Failed where the warehouse takes no file, or the user has no name.
    """
    make_writable(warehouse)
    _check_named()
    leave_other_spark()
    _say_how_to(start, java_options)
    catalog = f"spark.sql.catalog.{catalog_name}"
    builder = (
        SparkSession.builder.master(f"local[{cores}]")
        .appName("tidemark")
        .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
        .config(catalog, "org.apache.iceberg.spark.SparkCatalog")
        .config(f"{catalog}.type", "hadoop")
        .config(f"{catalog}.cache-enabled", "true")
        .config(f"{catalog}.cache.expiration-interval-ms", "-1")
        # The characters as they are: Iceberg would take %20 for a part of the folder's name.
        .config(f"{catalog}.warehouse", f"file://{warehouse.resolve()}")
        .config("spark.hadoop.fs.file.impl", LOCAL_FILE_SYSTEM)
        .config("spark.driver.extraClassPath", java.before_spark() if start.is_prepared else "")
        .config("spark.driver.host", LOOPBACK)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "2g")
        # For what is no job's, which says itself how many it needs: 200 tasks take a minute on a laptop whatever the data.
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.ui.showConsoleProgress", "false")
    )
    with _no_interrupt():
        return builder.getOrCreate()


def _say_how_to(start: java.Start, more: Sequence[str]) -> None:
    jars = java.installed_jars()
    archive = java.archive_options(jars) if start.is_prepared else ()
    os.environ.update(java.environment(jars, *archive, *more, start=start))


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Ctrl-C waits until Java has started: before, PySpark forgets the Java it is starting, which then runs for ever.

    Where Ctrl-C ends the process at once, it does so afterwards too: PySpark sets a handler in place of that, which asks Java
    to end the jobs, perhaps in the middle of another question, and then Python prints pages of its own.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    is_end = signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    try:
        yield
    finally:
        if is_end:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _check_named() -> None:
    """A container may run as a number that nobody has a line for; Hadoop asks for the name, and ends by a page of Java's."""
    try:
        pwd.getpwuid(os.getuid())
    except KeyError as nameless:
        raise Failed(
            f"The user of this process, {os.getuid()}, has no name on this machine, and Spark needs one: add a line for it "
            "to /etc/passwd, or run as another user."
        ) from nameless


def make_writable(warehouse: Path) -> None:
    """Make the folder where there is none. Raises Failed where it takes no file, which Iceberg says by a page of Java's."""
    try:
        warehouse.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=warehouse, prefix=".written-"):
            pass
    except OSError as failed:
        raise Failed(unwritable(warehouse, failed, "warehouse")) from failed


def run_order(spark: SparkSession, order: JobOrder, secret: str) -> dict[str, Any]:
    """Carry out an order in this process; returns the job's report. Raises PipelineError."""
    # The jobs are what is shipped to EMR; nothing else here imports them but the bound of the benchmarks.
    from spark.job import run

    return run(spark, order, secret)
