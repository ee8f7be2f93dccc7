"""What a commit of SQL says of itself, decided at its last moment: every row is written, and nothing is committed yet.

Iceberg 1.10 has no setting for properties of such a commit: they stand in a thread-local of a class of its own, which is
reached by reflection. It asks that map for them right before it commits; the map here is made when it is asked for. By
then Spark knows what a running command has counted on the way, so that whoever says something of the commit may refuse it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from spark.java import scala_object, string_map

_EXECUTION = "spark.sql.execution.id"
#: How a map of Java's may be read.
_READ_BY = ("isEmpty", "size", "forEach", "entrySet", "keySet", "values", "get", "containsKey")


class _LastWord:
    """A map of Java's that is made when it is first read, by whichever of its methods."""

    def __init__(self, spark: SparkSession, say: Callable[[], Mapping[str, str]]) -> None:
        self._spark, self._say = spark, say
        self._said: Any = None
        self.refusal: Exception | None = None

    def __getattr__(self, method: str) -> Any:
        """A method of the map. What `say` raises reaches Java as a failure of the command, which is then not committed."""
        if method not in _READ_BY:
            raise AttributeError(method)
        if self._said is None:
            try:
                self._said = string_map(self._spark, self._say())
            except Exception as refusal:
                self.refusal = refusal
                raise
        return getattr(self._said, method)

    class Java:
        """What the bridge to Java makes of it."""

        implements = ("java.util.Map",)


@contextmanager
def last_word(spark: SparkSession, say: Callable[[], Mapping[str, str]]) -> Iterator[None]:
    """Put what `say` returns into the summary of the snapshot that SQL commits from this thread meanwhile.

    It is called right before the commit, and not at all where none is tried. What it raises keeps the commit from being
    made, and is raised here; files that were written already are then no table's. Who uses this looks afterwards whether
    the properties arrived.
    """
    jvm = spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    kept_in = jvm.java.lang.Class.forName("org.apache.iceberg.spark.CommitMetadata", True, loader)
    field = kept_in.getDeclaredField("COMMIT_PROPERTIES")
    field.setAccessible(True)
    thread_local, asked = field.get(None), _LastWord(spark, say)
    thread_local.set(asked)
    try:
        yield
    finally:
        thread_local.remove()
        if asked.refusal is not None:
            raise asked.refusal


def counted_so_far(spark: SparkSession, name: str) -> dict[str, Any]:
    """What the command that runs in this thread has counted under a name by `DataFrame.observe`; empty if nothing passed.

    An `Observation` would tell only once the command has ended. Of a task that is done again because what it had written
    was lost, Spark may count rows twice: whoever relies on counts holds them against what they must be.
    """
    executions = scala_object(spark._jvm.org.apache.spark.sql.execution, "SQLExecution")
    running = executions.getQueryExecution(int(spark.sparkContext.getLocalProperty(_EXECUTION)))
    found = running.observedMetrics().get(name)
    return json.loads(found.get().json()) if found.isDefined() else {}
