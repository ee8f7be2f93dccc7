"""Lines of data files as records: items of a full export, changes of an incremental one.

Parsed with explicit schemas, never inferred ones. A line that is not a record stays as a row that says so, because a
refusal has to name it; nothing is dropped here but, from whole files, lines with nothing in them.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from spark.exports.reading import FILE_WEIGHT, lines, read_files
from spark.expressions.values import LEVEL_TYPE
from spark.rows.projection import ITEM, READABLE

#: What a record adds to its export's weight (`spark.exports.reading.FILE_WEIGHT`).
WEIGHT = "#weight"
_CORRUPT = "#corrupt"
_PERMISSIVE = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
_ITEM = f"Item {LEVEL_TYPE}, `{_CORRUPT}` string"
# Of an old image mostly only its presence counts, of a new one everything: it is kept as text until only the last one is
# left.
_CHANGE_LINE = (
    f"struct<Metadata:struct<WriteTimestampMicros:string>,Keys:{LEVEL_TYPE},OldImage:%s,"
    f"NewImage:string,`{_CORRUPT}`:string>"
)


def items_of_files(spark: SparkSession, uris: Sequence[str]) -> DataFrame:
    """The items of a full export's data files: ``#item``, ``#readable`` and ``#weight``. A line with nothing in it has no row.

    Spark parses a file's bytes in seven eighths of the time in which it makes texts of the lines and parses those.
    """
    if not uris:
        return items(weighed_lines(spark, [])).drop("#line")
    parsed = read_files(spark, uris, "json", _ITEM, **_PERMISSIVE)
    is_item = _is_item(F.struct("Item", F.col(f"`{_CORRUPT}`")))
    return parsed.select(F.col("Item").alias(ITEM), is_item.alias(READABLE), F.expr(FILE_WEIGHT).alias(WEIGHT))


def weighed_lines(spark: SparkSession, uris: Sequence[str]) -> DataFrame:
    """The lines of data files: ``value``, and ``#weight``."""
    return lines(spark, uris).withColumn(WEIGHT, F.expr(FILE_WEIGHT))


def items(lines_: DataFrame) -> DataFrame:
    """From lines of a full export (column ``value``): ``#item``, ``#line`` and ``#readable``; others are carried along.

    Every line has a row, whatever it holds.
    """
    carried = [name for name in lines_.columns if name != "value"]
    record = F.from_json("value", _ITEM, _PERMISSIVE)
    parsed = lines_.select(*carried, F.col("value").alias("#line"), record.alias("record"))
    found = F.col("record")
    return parsed.select(
        *carried, "#line", found["Item"].alias(ITEM), (_is_item(found) & _is_text("#line")).alias(READABLE)
    )


def _is_item(record: Column) -> Column:
    return _is_whole(record) & record["Item"].isNotNull()


def changes(lines_: DataFrame, *, with_old: bool = False) -> DataFrame:
    """From lines of incremental exports (column ``value``; others are carried along): one row a record.

    ``#keys``, a level; ``#micros``, the write time in microseconds; ``#old``, whether there is an old image, or
    (`with_old`) that image as JSON text; ``#new``, the new image as JSON text or null for a deletion; ``#readable``.
    """
    carried = [name for name in lines_.columns if name != "value"]
    found = F.from_json("value", _CHANGE_LINE % ("string" if with_old else "struct<`#`:string>"), _PERMISSIVE)
    parsed = lines_.select(*carried, found.alias("record"), _is_text("value").alias("#is_text"))
    record = F.col("record")
    micros = _micros(record["Metadata"]["WriteTimestampMicros"])
    whole = F.col("#is_text") & _is_whole(record) & record["Keys"].isNotNull() & micros.isNotNull()
    return parsed.select(
        *carried,
        record["Keys"].alias("#keys"),
        micros.alias("#micros"),
        (record["OldImage"] if with_old else record["OldImage"].isNotNull()).alias("#old"),
        F.when(record["NewImage"] != "{}", record["NewImage"]).alias("#new"),
        whole.alias(READABLE),
    )


def image(text: Column) -> Column:
    """An image kept as text, as a level; null for none, and for text that is no level."""
    return F.from_json(text, LEVEL_TYPE)


def _is_text(line: str) -> Column:
    """Whether a line's bytes are UTF-8: where they are none, what is parsed of them is another text."""
    return F.encode(line, "UTF-8") == F.col(line).cast("binary")


def _is_whole(record: Column) -> Column:
    """Whether all of a line was parsed. That is true also where there is no record, but then none of its fields is there."""
    return record[_CORRUPT].isNull()


def _micros(text: Column) -> Column:
    """The write time: ``{"N":"…"}`` in real exports, a bare string in the guide's example, perhaps a bare number."""
    return F.coalesce(text.cast("bigint"), F.get_json_object(text, "$.N").cast("bigint"))
