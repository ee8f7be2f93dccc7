"""A Spark session with a catalog on local disk under the name it has on AWS."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from local.session import local_session
from spark.session import configured


def session_with(warehouse: Path) -> SparkSession:
    """The session of this process; tables lie below `warehouse`."""
    # One session for a hundred tests: there is enough to do to make Java's code fast.
    session = local_session(warehouse, "glue", cores="2", is_bulk=True)
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
