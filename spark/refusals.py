"""Finding what a refusal must name: the file and the line, after a count has shown that something is wrong.

These read the export once more. They run only when the job is about to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.columns.types import Field
from pipeline.errors import ITEM_WITHOUT_KEY, CountMismatch, KeyMismatch, PipelineError, UnreadableLine
from pipeline.job_order import JobOrder
from pipeline.wording import number_of
from spark.exports.reading import FILE_NAME, Export, are_told, file_name, lines, read_exports, records_of
from spark.exports.records import WEIGHT
from spark.hiding.contradictions import rule_missed
from spark.java import thrown_in
from spark.rows.keys import LACKS_KEY
from spark.rows.projection import READABLE, unreadable

#: Where Java and Hadoop unpack, natively as well.
_UNPACKING = ("java.util.zip.", "org.apache.hadoop.io.compress.")


class Suspected(NamedTuple):
    """Exports that were read and counted, and what is needed to look for what is wrong with them.

    `parsed`: makes rows that say whether they are readable, of lines. `key`: the columns of the rows' key.
    """

    spark: SparkSession
    order: JobOrder
    exports: Sequence[Export]
    parsed: Callable[[DataFrame], DataFrame]
    key: Sequence[Field]

    @property
    def uris(self) -> list[str]:
        """The files that hold anything."""
        return [uri for export in self.exports for uri in export.files_with_records]

    @property
    def said(self) -> int:
        """How many records the manifests tell of."""
        return records_of(self.exports)

    @property
    def declared_key(self) -> str:
        """The source table's key, as refusals tell it."""
        return ", ".join(map(str, self.order.source.key))


def check_items(this: Suspected, found: Mapping[str, int]) -> None:
    """Refuse a full export by what was counted of it.

    ``unreadable``, ``items``, their ``#weight``, ``lacking`` (a key), ``contradicting``. More items than the manifest says are
    refused where a file holds more: a verification counts an item for each row it meets, and a task that was done again
    counts twice.
    """
    if found["unreadable"]:
        raise unreadable_line(this)
    if not are_told(this.exports, found["items"], found[WEIGHT]):
        miscounted = miscounted_file(this)
        if miscounted or found["items"] < this.said:
            raise miscounted or other_total(this, found["items"])
    if found["lacking"]:
        first, many = first_line(this, F.col(READABLE) & F.col(LACKS_KEY)), number_of(found["lacking"], "item")
        (export,) = this.exports
        lacking = f"{many} of {export.manifest.export_arn} without the key {this.declared_key}{first}"
        raise KeyMismatch(lacking, ITEM_WITHOUT_KEY)
    if found["contradicting"]:
        raise rule_missed(this.parsed(lines(this.spark, this.uris)), this.key)


def unreadable_line(this: Suspected) -> UnreadableLine:
    """The refusal of an export with a line that is no record, naming the first such file and line."""
    first = first_line(this, unreadable())
    return UnreadableLine(f"a line is not a record of DynamoDB JSON{first or ', and could not be found again'}")


def first_line(this: Suspected, is_wrong: Column) -> str:
    """The first line that is wrong of the first such file by name, as the end of a sentence; empty where none is any more."""
    # One job for all of them, and one more for the line: of a year's windows there are thousands.
    uris = {file_name(uri): uri for uri in this.uris}
    named = lines(this.spark, [*uris.values()]).withColumn("#file", F.expr(FILE_NAME))
    file = _least(this.parsed(named), "#file", is_wrong)
    if file not in uris:
        return ""
    # One gzip file is one partition, so the row's number in it is the line's.
    numbered = lines(this.spark, [uris[file]]).withColumn("#number", F.monotonically_increasing_id())
    line = _least(this.parsed(numbered), "#number", is_wrong)
    return "" if line is None else f", the first in {uris[file]}, line {line + 1}"


def _least(rows: DataFrame, name: str, is_wrong: Column) -> Any:
    """The least value of a column in the rows that are wrong; None where none is."""
    # A filter would be moved before what parses the lines, and do all of that once more for each thing it asks.
    row: Any = rows.agg(F.min(F.when(is_wrong, F.col(name)))).first()
    return row[0]


def miscounted_file(this: Suspected) -> CountMismatch | None:
    """The refusal that names the first file with another number of records than its manifest says; None without one."""
    said = {export.uri(file.key): file.item_count for export in this.exports for file in export.manifest.files}
    # One job for all of them: of a year's windows there are thousands.
    records = lines(this.spark, this.uris).where(F.col("value").rlike(r"\S"))
    found = dict(records.groupBy(F.expr(FILE_NAME)).count().collect()) if this.uris else {}  # type: ignore[arg-type]  # rows are pairs
    for uri, count in said.items():
        held = found.get(file_name(uri), 0)
        if held != count:
            return CountMismatch(f"{uri} holds {number_of(held, 'record')}, its manifest says {count}")
    return None


def other_total(this: Suspected, read: int) -> CountMismatch:
    """The refusal of exports of which another number of records was read, though no file is miscounted."""
    return CountMismatch(f"the manifests say {number_of(this.said, 'record')}, read: {read}")


def torn_file(spark: SparkSession, order: JobOrder, failure: Exception) -> UnreadableLine | None:
    """The refusal of an export of which a file cannot be unpacked, though its checksum is right; None for other failures.

    `failure`: how a job has ended that found nothing else wrong. Only what ends again in the same way is refused.
    """
    if not _is_of_unpacking(failure):
        return None
    try:
        uris = [uri for export in read_exports(spark, order) for uri in export.files_with_records]
        torn = next((uri for uri in uris if not _is_unpacked(spark, uri)), "")
    except (PipelineError, Py4JJavaError):
        return None  # there is something else, and the first failure tells of it
    return UnreadableLine(f"{torn} cannot be unpacked to its end, though its MD5 is the manifest's") if torn else None


def _is_unpacked(spark: SparkSession, uri: str) -> bool:
    try:
        lines(spark, [uri]).count()
    except Py4JJavaError as failure:
        if not _is_of_unpacking(failure):
            raise
        return False
    return True


def _is_of_unpacking(failure: Exception) -> bool:
    """Whether a failure began where Java, or Hadoop, unpacks: not at the network, and not on a disk."""
    return isinstance(failure, Py4JJavaError) and thrown_in(failure).startswith(_UNPACKING)
