"""A Spark session with a catalog on local disk under the name it has on AWS."""

from __future__ import annotations

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
