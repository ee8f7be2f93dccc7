"""Changes of one or many windows, folded into one net change for each key.

The images tell the story for nothing: the first record's old image says whether the item was there before the stretch,
the last record's new image says what it is afterwards. Windows come in order, whatever their exports did; inside one,
the write time decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.columns.declared.overrides import Overrides
from pipeline.columns.declared.rules_inside import inside_items
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.names import WRITE_TIME
from pipeline.errors import ManifestUnreadable
from pipeline.identity import SourceTable
from spark.exports.reading import FILE_NAME, Export, file_name
from spark.exports.records import WEIGHT, changes, image, weighed_lines
from spark.expressions.lost_names import lost
from spark.expressions.sql import Sql, looked_up
from spark.hiding.excluded_types import excluded
from spark.hiding.missed_rules import CONTRADICTED
from spark.hiding.protection import UNPROTECTED, Protection
from spark.rows.keys import LACKS_KEY, key_cells, lacks_key
from spark.rows.projection import ITEM, ODD, READABLE, rows_with_misfits, typed_rows
from spark.rows.table_rows import held_in

DELETED, HAD_OLD, RECORDS = "#deleted", "#had_old", "#records"
#: What may be wrong with the records of a key; each is a column that counts them.
UNREADABLE, LACKING, UNFIT, OTHER_KEY, CONFLICTS = "#unreadable", "#lacking", "#unfit", "#other_key", "#conflicts"
#: The old image before the stretch as JSON text, null where there was none.
OLD = "#old"
#: The pointers of what the item has lost since then, and whether there are any; none where there are no old images.
LOST, LOSES = "#lost", "#loses"
_WINDOW = "#window"
#: A record's key, a level.
KEYS: Sql = "`#keys`"


def folded(
    lines_: DataFrame,
    source: SourceTable,
    columns: Columns,
    protection: Protection = UNPROTECTED,
    *,
    with_lost: bool = False,
    with_old: bool = False,
) -> DataFrame:
    """One row for each key that changed, from lines as `numbered_lines` gives them; of images only names are looked at yet.

    The key's cells; ``#had_old`` (before the stretch), ``#micros``, ``#new`` (the last image as JSON text, null for a
    deletion), ``#records`` and their ``#weight``; a count for each kind of problem but another key; ``#lost`` (empty but
    `with_lost`); ``#old`` (`with_old`, and then `with_lost`).
    """
    key = keys(columns)
    rows = _gathered(_keyed(changes(lines_, with_old=with_lost), source, columns), key)
    old, rules = F.col(f"first.{OLD}"), inside_items(protection.rules)
    gone = lost(f"first.`{OLD}`", "last.`#new`", columns.all, rules) if with_lost else "array()"
    return rows.select(
        *key,
        (old.isNotNull() if with_lost else old).alias(HAD_OLD),
        *([old.alias(OLD)] if with_old else []),
        F.expr(gone).alias(LOST),
        "last.#micros",
        "last.#new",
        *(RECORDS, WEIGHT, CONFLICTS, UNREADABLE, LACKING, UNFIT),
    )


def _keyed(records: DataFrame, source: SourceTable, columns: Columns) -> DataFrame:
    """Records with the key's cells, and whether there is another key than the source's."""
    cells = (cell.alias(name) for cell, name in zip(key_cells(KEYS, columns.key), keys(columns)))
    return records.select("*", *cells, F.expr(lacks_whole_key(source)).alias(LACKS_KEY))


def _gathered(records: DataFrame, key: Sequence[str]) -> DataFrame:
    """One row for each key: of its ``first`` record what was before it, its ``last``, and what is counted of all."""
    when = (F.col(_WINDOW), F.col("#micros"))
    whole_key = reduce(and_, (F.col(name).isNotNull() for name in key))
    # Records without a whole key are refused, and are one group however many they are: nothing is gathered of them.
    times, versions = (
        F.size(F.collect_set(F.when(whole_key, F.struct(*parts)))) for parts in (when, (*when, F.xxhash64("#new")))
    )
    return records.groupBy(*key).agg(
        # Of several records in the first window the newest tells, for what came before it, too.
        F.min(F.struct(_WINDOW, (-F.col("#micros")).alias("#micros"), OLD)).alias("first"),
        F.max(F.struct(*when, "#new")).alias("last"),
        F.count(F.lit(1)).alias(RECORDS),
        F.sum(WEIGHT).alias(WEIGHT),
        (versions - times).alias(CONFLICTS),
        # A record may be counted more than once: what is refused first leaves nothing of the later counts to be told.
        F.count_if(~F.col(READABLE)).alias(UNREADABLE),
        F.count_if(LACKS_KEY).alias(LACKING),
        F.count_if(~whole_key).alias(UNFIT),
    )


def net_changes(folded_: DataFrame, columns: Columns, protection: Protection, said: Overrides) -> DataFrame:
    """One typed row for each key that changed, of what `folded` has made of a stretch.

    The cells of the table's columns (`table_rows.cells`), with ``#odd`` for ``_misfits``; ``#deleted``, ``#had_old``,
    ``#loses``, ``#records``, ``#weight``; a count for each kind of problem; ``#contradicted``.
    """
    items = folded_.withColumn(ITEM, image(F.col("#new")))
    also = [f"`{ITEM}` IS NULL AS `#no_image`", protection.contradicted(ITEM, excluded(columns, said, ITEM))]
    typed = typed_rows(protection.protected(items, ITEM), columns, also)
    new, key = F.col("#new"), [(F.col(of), field.name) for of, field in zip(keys(columns), columns.key)]
    same_key = reduce(and_, (F.col(name).eqNullSafe(of) for of, name in key))
    unread = new.isNotNull() & F.col("#no_image")
    return typed.select(
        *(of.alias(name) for of, name in key),
        *held_in(columns),
        F.timestamp_micros("#micros").alias(WRITE_TIME),
        ODD,
        new.isNull().alias(DELETED),
        HAD_OLD,
        (F.size(LOST) > 0).alias(LOSES),
        RECORDS,
        WEIGHT,
        (F.col(UNREADABLE) + unread.cast("int")).alias(UNREADABLE),
        LACKING,
        UNFIT,
        (new.isNotNull() & ~same_key).cast("int").alias(OTHER_KEY),
        CONFLICTS,
        CONTRADICTED,
    )


def readable(lines_: DataFrame, columns: Columns, protection: Protection) -> DataFrame:
    """The records of lines with ``#readable``, the image included: what a refusal looks through."""
    records = changes(lines_).withColumn(ITEM, image(F.col("#new")))
    has_image = F.col("#new").isNull() | F.col(ITEM).isNotNull()
    read = records.withColumn(READABLE, F.col(READABLE) & has_image)
    return rows_with_misfits(protection.protected(read, ITEM), columns)


def keys(columns: Columns) -> list[str]:
    """The names of the key's cells in changes that are not typed yet."""
    return [f"#key{i}" for i in range(len(columns.key))]


def lacks_whole_key(source: SourceTable) -> Sql:
    """Whether a record's key is not just the attributes that the source declares, with their types; never null.

    With more of them it is another key: by a part of it, several items would be one.
    """
    return f"{lacks_key(KEYS, source.key)} OR size({KEYS}) <> {len(source.key)}"


def numbered_lines(spark: SparkSession, exports: Sequence[Export]) -> DataFrame:
    """The lines of all exports (``value``), each with its ``#weight`` and the number of its window (``#window``), in one scan."""
    window_of: dict[str, int] = {}
    for number, export in enumerate(exports):
        for uri in export.files_with_records:
            name = file_name(uri)
            if name in window_of:
                raise ManifestUnreadable(f"{uri} is named by two manifests")
            window_of[name] = number
    if not window_of:
        return weighed_lines(spark, []).withColumn(_WINDOW, F.lit(0))
    found = weighed_lines(spark, [uri for export in exports for uri in export.files_with_records])
    if len(exports) == 1:
        return found.withColumn(_WINDOW, F.lit(0))
    # In an expression, because a join would be a job of its own before the first line is read.
    known, number_of = looked_up(window_of, "int")
    window = number_of(known, FILE_NAME)
    # Null would come before every window, and an older image before newer ones.
    return found.withColumn(
        _WINDOW, F.expr(f"coalesce({window}, raise_error('a line of a file that no manifest names'))")
    )
