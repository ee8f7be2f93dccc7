"""Rows that are computed once and read more than once, as a leaf of whatever is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

from pyspark.sql import DataFrame

from spark.java import scala_object


@contextmanager
def kept(rows: DataFrame, *, at_once: bool = False) -> Iterator[DataFrame]:
    """The same rows, in Spark's cache from when they are first read; lost blocks are computed again.

    `at_once`: they are computed while the caller plans what to do with them. What fails then fails again when they are read.

    A frame made of a cached one carries the whole plan behind it, and Spark analyses all of that anew at every step: of a
    wide table that is most of a small merge. The rows here are the cache's own relation, which has nothing behind it.
    Whoever joins them knows how large they are, which nobody can tell by the files they were read from.
    """
    cached = rows.persist()
    with ExitStack() as held:
        held.callback(cached.unpersist)
        session = rows.sparkSession
        jvm, java = session._jvm, session._jsparkSession
        relation = java.sharedState().cacheManager().lookupCachedData(rows._jdf).get().cachedRepresentation()
        if at_once:
            blocks = relation.cacheBuilder()
            held.enter_context(ThreadPoolExecutor(1)).submit(lambda: blocks.cachedColumnBuffers().count())
        yield DataFrame(scala_object(jvm.org.apache.spark.sql, "Dataset").ofRows(java, relation), session)
