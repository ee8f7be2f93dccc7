"""Finding what a refusal must name: the file and the line, after a count has shown that something is wrong.

These read the export once more. They run only when the job is about to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.columns.types import Field
from pipeline.errors import (
    ConflictingChanges,
    CountMismatch,
    KeyDoesNotFit,
    KeyMismatch,
    PipelineError,
    RebuildNeeded,
    UnreadableLine,
)
from pipeline.job_order import JobOrder
from pipeline.wording import number_of
from spark.exports.reading import FILE_NAME, Export, file_name, lines, read_exports
from spark.hiding.contradictions import rule_missed
from spark.hiding.missed_rules import CONTRADICTED
from spark.java import thrown_in
from spark.merging import changes
from spark.rows.keys import LACKS_KEY, key_cells, of_several, shown
from spark.rows.projection import READABLE, unreadable

#: Where Java and Hadoop unpack, natively as well.
_UNPACKING = ("java.util.zip.", "org.apache.hadoop.io.compress.")


def check_items(
    spark: SparkSession,
    order: JobOrder,
    export: Export,
    found: Mapping[str, int],
    typed: Callable[[DataFrame], DataFrame],
    key: Sequence[Field],
) -> None:
    """Refuse a full export by what was counted of it: ``unreadable``, ``items``, ``lacking`` (a key), ``contradicting``.

    More items than the manifest says are refused where a file holds more: a verification counts an item for each row it
    meets, and a task that was done again counts twice. `typed`: makes typed rows of lines. `key`: its columns.
    """
    if found["unreadable"]:
        raise unreadable_line(spark, [export], typed)
    if found["items"] != export.manifest.item_count:
        miscounted = _miscounted_file(spark, [export])
        if miscounted or found["items"] < export.manifest.item_count:
            raise miscounted or _other_total([export], found["items"])
    if found["lacking"]:
        declared = ", ".join(map(str, order.source.key))
        first = _first_line(spark, [export], typed, F.col(READABLE) & F.col(LACKS_KEY))
        lacking = f"{number_of(found['lacking'], 'item')} of {export.manifest.export_arn} without the key {declared}"
        raise KeyMismatch(f"{lacking}{first}")
    if found["contradicting"]:
        raise rule_missed(typed(lines(spark, export.files_with_records)), key, found["contradicting"])


def check_changes(
    spark: SparkSession,
    order: JobOrder,
    exports: Sequence[Export],
    found: Mapping[str, int],
    rows: DataFrame,
    key: Sequence[Field],
    parsed: Callable[[DataFrame], DataFrame],
) -> None:
    """Refuse the changes of windows by what was counted of them (`accounting.counted`).

    `rows`: the changes that were counted. `key`: its columns. `parsed`: makes rows that say whether they are readable, of
    lines.
    """
    stretch, declared = f"{order.job_id} ({number_of(len(exports), 'export')})", ", ".join(map(str, order.source.key))
    if found[changes.UNREADABLE] or found["no_value"]:
        raise unreadable_line(spark, exports, parsed)
    if found["read"] != sum(export.manifest.item_count for export in exports):
        # A change that was looked up in the table stands there once for each row of its key.
        doubled = doubled_rows(order, rows, key)
        raise doubled or _miscounted_file(spark, exports) or _other_total(exports, found["read"])
    lacks = F.expr(changes.lacks_whole_key(order.source))
    if found[changes.LACKING]:
        first = _first_line(spark, exports, parsed, F.col(READABLE) & lacks)
        many = number_of(found[changes.LACKING], "record")
        raise KeyMismatch(f"{stretch}: {many} with another key than {declared}{first}")
    if found[changes.OTHER_KEY]:
        many, such = number_of(found[changes.OTHER_KEY], "record"), _such(rows, changes.OTHER_KEY, key)
        raise KeyMismatch(f"{stretch}: {many} with an image of a key that is not its own, {declared}{such}")
    if found[changes.UNFIT]:
        unfit = reduce(or_, (cell.isNull() for cell in key_cells(changes.KEYS, key)))
        first = _first_line(spark, exports, parsed, F.col(READABLE) & ~lacks & unfit)
        many = number_of(found[changes.UNFIT], "record")
        raise KeyDoesNotFit(f"{stretch}: {many} with a key that {order.table} cannot hold{first}")
    if found[changes.CONFLICTS]:
        pairs = f"pairs of records that contradict each other: {found[changes.CONFLICTS]}"
        raise ConflictingChanges(f"{stretch}: {pairs}{_such(rows, changes.CONFLICTS, key)}")
    if found[CONTRADICTED]:
        raise rule_missed(rows, key, found[CONTRADICTED])


def unreadable_line(
    spark: SparkSession, exports: Sequence[Export], parsed: Callable[[DataFrame], DataFrame]
) -> UnreadableLine:
    """The refusal of an export with a line that is no record, naming the first such file and line."""
    first = _first_line(spark, exports, parsed, unreadable())
    return UnreadableLine(f"a line is not a record of DynamoDB JSON{first or ', and could not be found again'}")


def _first_line(
    spark: SparkSession, exports: Sequence[Export], parsed: Callable[[DataFrame], DataFrame], is_wrong: Column
) -> str:
    """The first line that is wrong of the first such file by name, as the end of a sentence; empty where none is any more."""
    # One job for all of them, and one more for the line: of a year's windows there are thousands.
    uris = {file_name(uri): uri for export in exports for uri in export.files_with_records}
    named = lines(spark, [*uris.values()]).withColumn("#file", F.expr(FILE_NAME))
    found: Any = parsed(named).where(is_wrong).agg(F.min("#file")).first()
    if not found or found[0] not in uris:
        return ""
    # One gzip file is one partition, so the row's number in it is the line's.
    numbered = lines(spark, [uris[found[0]]]).withColumn("#number", F.monotonically_increasing_id())
    line: Any = parsed(numbered).where(is_wrong).agg(F.min("#number")).first()
    return "" if line[0] is None else f", the first in {uris[found[0]]}, line {line[0] + 1}"


def _such(rows: DataFrame, problem: str, key: Sequence[Field]) -> str:
    """The key of one of the changes that have a problem, as the end of a sentence."""
    example = F.min(shown([field.name for field in key]))
    found: Any = rows.where(F.col(problem) > 0).agg(example).first()
    return f", such as of {found[0]}"


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


def doubled_rows(order: JobOrder, looked_up: DataFrame, key: Sequence[Field]) -> RebuildNeeded | None:
    """The refusal of a table that has several rows of one key; None where no change has met any.

    `looked_up`: changes, one row for each row of the table that they met.
    """
    example = F.min(shown([field.name for field in key])).alias("example")
    found: Any = of_several(looked_up, key).agg(F.count(F.lit(1)).alias("keys"), example).first()
    if not found["keys"]:
        return None
    return RebuildNeeded(
        f"{order.table} has several rows of one key, of which {order.job_id} met {found['keys']}, such as "
        f"{found['example']}: somebody else has written to it",
        "Replace the table's content by a new full export.",
    )


def _miscounted_file(spark: SparkSession, exports: Sequence[Export]) -> CountMismatch | None:
    """The refusal that names the first file with another number of records than its manifest says; None without one."""
    said = {export.uri(file.key): file.item_count for export in exports for file in export.manifest.files}
    # One job for all of them: of a year's windows there are thousands.
    uris = [uri for export in exports for uri in export.files_with_records]
    records = lines(spark, uris).where(F.col("value").rlike(r"\S"))
    found = dict(records.groupBy(F.expr(FILE_NAME)).count().collect()) if uris else {}  # type: ignore[arg-type]  # rows are pairs
    for uri, count in said.items():
        held = found.get(file_name(uri), 0)
        if held != count:
            return CountMismatch(f"{uri} holds {number_of(held, 'record')}, its manifest says {count}")
    return None


def _other_total(exports: Sequence[Export], read: int) -> CountMismatch:
    said = sum(export.manifest.item_count for export in exports)
    return CountMismatch(f"the manifests say {number_of(said, 'record')}, read: {read}")
