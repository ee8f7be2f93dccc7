"""Which rows of the table may have changed, told by their keys before they are brought to the changes.

MERGE brings a row for each of the table's to the changes: its key, and the path of its file, some 300 bytes. A Bloom
filter of the changed keys lets pass all of their rows and three in a thousand others, so that of a large table little
more than what changes is shuffled. It is one value of a known size, a byte and a half for each change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark.expressions.sql import Sql
from spark.java import scala_object

#: Of fewer rows, or of many changes among them, bringing all of them takes no longer than making the filter.
LEAST_ROWS, ROWS_A_CHANGE = 500_000, 10
#: The filter stands in the statement's plan, and Spark tells its listeners of plans as text, in full and more than once.
MOST_CHANGES = 100_000
_PASSED_BY_CHANCE = 0.003
_FUNCTION, _BITS = "tidemark_may_have_changed", "changed_keys"
_ASKED = "org.apache.spark.sql.catalyst.expressions.BloomFilterMightContain"


@dataclass(frozen=True)
class KeyFilter:
    """A Bloom filter of keys, as Spark writes it; without bits it lets everything pass."""

    bits: bytes = b""

    def conditions(self, key: Sequence[Sql]) -> list[Sql]:
        """What a key has to fulfil, in a statement that is run with `arguments`; Spark takes no subquery in a MERGE's."""
        return [f"{_FUNCTION}(:{_BITS}, xxhash64({', '.join(key)}))"] if self.bits else []

    @property
    def arguments(self) -> Mapping[str, bytearray]:
        """What a statement with these conditions is run with."""
        return {_BITS: bytearray(self.bits)} if self.bits else {}

    def passed(self, rows: DataFrame, key: Sequence[str]) -> DataFrame:
        """The rows of a frame whose key, by the names of its columns, passes."""
        bits = F.lit(bytearray(self.bits))
        return rows.where(F.call_function(_FUNCTION, bits, F.xxhash64(*key))) if self.bits else rows


def pays(rows: int, changes: int) -> bool:
    """Whether a filter costs less than it saves: `changes` of a table of so many rows."""
    return 0 < changes <= MOST_CHANGES and rows >= max(LEAST_ROWS, ROWS_A_CHANGE * changes)


def brought(rows: int, changes: int) -> int:
    """About how many of so many rows are brought to the changes."""
    return changes + int(_PASSED_BY_CHANCE * rows) if pays(rows, changes) else rows


@contextmanager
def filtered(changes: DataFrame, key: Sequence[str], rows: int, most: int) -> Iterator[Callable[[], KeyFilter]]:
    """The filter of the keys of at most so many changes of a table of so many rows, where it pays; call it to wait for it.

    It is made while something else is done.
    """
    if not pays(rows, most):
        yield KeyFilter
        return
    with ThreadPoolExecutor(1) as beside:
        yield beside.submit(_filter, changes, key, most).result


def _filter(changes: DataFrame, key: Sequence[str], most: int) -> KeyFilter:
    _register(changes.sparkSession)
    jvm: Any = changes.sparkSession._jvm
    hashes = changes.select(F.xxhash64(*key).alias("hash"))
    content = jvm.java.io.ByteArrayOutputStream()
    hashes._jdf.stat().bloomFilter("hash", most, _PASSED_BY_CHANCE).writeTo(content)
    return KeyFilter(bytes(content.toByteArray()))


def _register(spark: SparkSession) -> None:
    """Give the session a name for the expression with which Spark's own joins ask such filters; SQL has none for it."""
    jvm, registry = spark._jvm, spark._jsparkSession.sessionState().functionRegistry()
    catalyst = jvm.org.apache.spark.sql.catalyst
    name = catalyst.FunctionIdentifier(_FUNCTION)
    if not registry.functionExists(name):
        asked = scala_object(jvm.scala.reflect, "ClassTag").apply(jvm.java.lang.Class.forName(_ASKED))
        builders = scala_object(catalyst.analysis, "FunctionRegistryBase")
        built = builders.build(_FUNCTION, scala_object(jvm.scala, "None"), asked)
        registry.registerFunction(name, built._1(), built._2())
