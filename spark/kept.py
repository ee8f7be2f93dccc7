"""Rows that are computed once and read more than once, as a leaf of whatever is made of them."""

from __future__ import annotations

from pyspark.sql import DataFrame


class Kept:
    """Rows in Spark's cache; lost blocks are computed again.

    A frame made of a cached one carries the whole plan behind it, and Spark analyses all of that anew at every step: of a
    wide table that is most of a small merge. The rows here are the cache's own relation, which has nothing behind it.
    """

    def __init__(self, rows: DataFrame) -> None:
        self._cached = rows.persist()
        session = rows.sparkSession
        jvm, java = session._jvm, session._jsparkSession
        relation = java.sharedState().cacheManager().lookupCachedData(rows._jdf).get().cachedRepresentation()
        dataset = getattr(getattr(jvm.org.apache.spark.sql, "Dataset$"), "MODULE$")
        self.rows = DataFrame(dataset.ofRows(java, relation), session)

    def drop(self) -> None:
        """Let go of them."""
        self._cached.unpersist()
