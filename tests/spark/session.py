"""A Spark session with a catalog on local disk under the name it has on AWS."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from local.java import BULK_JOB
from local.session import local_session
from spark.session import configured

# One session for a hundred tests, of which each makes small tables of its own. A tenth less processor time than in a
# job's JVM: generated code is kept for the next table of the same columns, and the second compiler waits four times as long.
_MANY_SMALL_TABLES = (
    "-Dspark.sql.codegen.cache.maxEntries=3000",
    "-XX:ReservedCodeCacheSize=512m",
    "-XX:-MethodFlushing",
    "-XX:Tier4InvocationThreshold=20000",
    "-XX:Tier4MinInvocationThreshold=2400",
    "-XX:Tier4CompileThreshold=60000",
    "-XX:Tier4BackEdgeThreshold=160000",
)


def session_with(warehouse: Path) -> SparkSession:
    """The session of this process; tables lie below `warehouse`."""
    session = local_session(warehouse, "glue", cores="2", start=BULK_JOB, java_options=_MANY_SMALL_TABLES)
    session.sparkContext.setLogLevel("ERROR")
    return configured(session)


@contextmanager
def plans_in_full(spark: SparkSession) -> Iterator[None]:
    """Plans as text hold every field and have no end cut off, which the session of a job does to them."""
    cut = ("spark.sql.maxPlanStringLength", "spark.sql.debug.maxToStringFields")
    before = {name: spark.conf.get(name) for name in cut}
    for name in cut:
        spark.conf.set(name, str(10**7))
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
