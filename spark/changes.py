"""Changes of one or many windows, folded into one net change for each key.

The images tell the story for nothing: the first record's old image says whether the item was there before the stretch,
the last record's new image says what it is afterwards. Windows come in order, whatever their exports did; inside one,
the write time decides.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import reduce
from operator import and_

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.column_names import WRITE_TIME
from pipeline.errors import ManifestUnreadable
from pipeline.identity import SourceTable
from pipeline.table_columns import Columns
from spark.keys import key_cells, lacks_key
from spark.projection import ITEM, ODD, READABLE, rows_with_misfits, typed_rows
from spark.protection import Protection
from spark.reading import Export, lines
from spark.records import changes, image

DELETED, HAD_OLD, RECORDS = "#deleted", "#had_old", "#records"
#: What may be wrong with the records of a key; each is a column that counts them.
UNREADABLE, LACKING, UNFIT, OTHER_KEY, CONFLICTS = "#unreadable", "#lacking", "#unfit", "#other_key", "#conflicts"
_WINDOW = "#window"


def net_changes(lines_: DataFrame, source: SourceTable, columns: Columns, protection: Protection) -> DataFrame:
    """One typed row for each key that changed, from lines with the number of their window.

    The table's columns, with ``#odd`` for ``_misfits``;
    ``#deleted``, ``#had_old`` (before the stretch), ``#records``; a count for each kind of problem.
    """
    keys = "`#keys`"
    records = changes(lines_).select(
        "*",
        *(cell.alias(_key(i)) for i, cell in enumerate(key_cells(keys, columns.key))),
        F.expr(lacks_key(keys, source.key)).alias("#lacks_key"),
    )
    typed = typed_rows(protection.protected(_folded(records, len(columns.key)), ITEM), columns.all)
    new, names = F.col("#new"), [field.name for field in columns.key]
    same_key = reduce(and_, (F.col(name).eqNullSafe(F.col(_key(i))) for i, name in enumerate(names)))
    unread = new.isNotNull() & ~F.col("#image_read")
    return typed.select(
        *(F.col(_key(i)).alias(name) for i, name in enumerate(names)),
        *(F.col(field.name) for field in columns.attributes),
        F.timestamp_micros("#micros").alias(WRITE_TIME),
        ODD,
        new.isNull().alias(DELETED),
        HAD_OLD,
        RECORDS,
        (F.col(UNREADABLE) + unread.cast("int")).alias(UNREADABLE),
        LACKING,
        UNFIT,
        (new.isNotNull() & ~same_key).cast("int").alias(OTHER_KEY),
        CONFLICTS,
    )


def _folded(records: DataFrame, key_length: int) -> DataFrame:
    """One row for each key: its first record's old image, its last record's new one, and its records' problems."""
    key = [_key(i) for i in range(key_length)]
    when = (F.col(_WINDOW), F.col("#micros"))
    readable, lacking = F.col(READABLE), F.col("#lacks_key")
    whole_key = reduce(and_, (F.col(name).isNotNull() for name in key))
    versions = F.size(F.collect_set(F.struct(*when, F.xxhash64(F.coalesce("#new", F.lit(""))))))
    folded = records.groupBy(*key).agg(
        F.min(F.struct(*when, "#old")).alias("first"),
        F.max(F.struct(*when, "#new")).alias("last"),
        F.count(F.lit(1)).alias(RECORDS),
        (versions - F.size(F.collect_set(F.struct(*when)))).alias(CONFLICTS),
        F.count_if(~readable).alias(UNREADABLE),
        F.count_if(readable & lacking).alias(LACKING),
        F.count_if(readable & ~lacking & ~whole_key).alias(UNFIT),
    )
    kept = folded.select(
        *key,
        F.col("first.#old").alias(HAD_OLD),
        F.col("last.#micros").alias("#micros"),
        F.col("last.#new").alias("#new"),
        *(RECORDS, CONFLICTS, UNREADABLE, LACKING, UNFIT),
    )
    item = image(F.col("#new"))
    return kept.withColumn(ITEM, item).withColumn("#image_read", F.col(ITEM).isNotNull())


def readable(lines_: DataFrame, columns: Columns, protection: Protection) -> DataFrame:
    """The records of lines with ``#readable``, the image included: what a refusal looks through."""
    records = changes(lines_).withColumn(ITEM, image(F.col("#new")))
    has_image = F.col("#new").isNull() | F.col(ITEM).isNotNull()
    read = records.withColumn(READABLE, F.col(READABLE) & has_image)
    return rows_with_misfits(protection.protected(read, ITEM), columns.all)


def _key(i: int) -> str:
    return f"#key{i}"


def numbered_lines(spark: SparkSession, exports: Sequence[Export]) -> DataFrame:
    """The lines of all exports (``value``), each with the number of its window (``#window``), in one scan."""
    window_of: dict[str, int] = {}
    for number, export in enumerate(exports):
        for uri in export.files_with_records:
            name = uri.rpartition("/")[2]
            if name in window_of:
                raise ManifestUnreadable(f"{uri} is named by two manifests")
            window_of[name] = number
    if not window_of:
        return lines(spark, []).withColumn(_WINDOW, F.lit(0))
    found = lines(spark, [uri for export in exports for uri in export.files_with_records])
    if len(exports) == 1:
        return found.withColumn(_WINDOW, F.lit(0))
    name = F.substring_index(F.col("_metadata.file_path"), "/", -1)
    # By way of JSON, because rows made in Python would start a Python worker to hand them over. From a row of SQL's,
    # because Scala finds out by reflection what a range is made of, which takes a second.
    numbers = F.from_json(F.lit(json.dumps(window_of)), "map<string,int>")
    known = spark.sql("SELECT 1").select(F.explode(numbers).alias("name", _WINDOW))
    return found.withColumn("name", name).join(F.broadcast(known), "name").drop("name")
