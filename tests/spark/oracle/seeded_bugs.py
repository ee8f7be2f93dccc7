"""Bugs planted in the merge and in the verification, each as a patch: what must be found. The jobs know nothing of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from local.compare import pointer
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.names import MISFITS
from pipeline.columns.types import ColumnType, Field, Kind
from spark.expressions.sql import Sql
from spark.merging import changes, key_filter, merge
from spark.verifying import pairs, sameness
from tests.spark.large import always_filtered

Bug = Callable[[], AbstractContextManager[None]]
_NUMBERS = (Kind.LONG, Kind.DECIMAL, Kind.DIGITS)
#: What becomes of a row that is not deleted: nothing.
_KEPT = "WHEN MATCHED AND c.`#deleted` THEN UPDATE SET t.`_write_time` = t.`_write_time`"


@contextmanager
def dropped_attribute() -> Iterator[None]:
    """The text of an attribute never comes into its column."""
    with _net_changes(lambda rows, columns: rows.withColumn(_text(columns).name, F.lit(None).cast("string"))):
        yield


@contextmanager
def rounded_number() -> Iterator[None]:
    """Numbers lose their last digit on the way."""

    def rounded(rows: DataFrame, columns: Columns) -> DataFrame:
        numbers = [field.name for field in columns.attributes if field.type.kind in _NUMBERS]
        digits = {name: F.regexp_replace(F.col(name).cast("string"), "[1-9]$", "0") for name in numbers}
        return rows.withColumns({name: digits[name].cast(rows.schema[name].dataType) for name in numbers})

    with _net_changes(rounded):
        yield


@contextmanager
def needless_misfits() -> Iterator[None]:
    """A text that its column would hold is kept as a misfit, exactly, and the cell is null."""
    commit = merge._commit

    def other(this: Any, whole: DataFrame, count: Any, columns: Columns) -> None:
        text = _text(columns)
        kept = F.create_map(F.lit(pointer("", text.attribute)), F.to_json(F.create_map(F.lit("S"), text.name)))
        more = F.when(F.col(text.name).isNotNull(), F.map_concat(F.coalesce(F.col(MISFITS), F.create_map()), kept))
        cells = {MISFITS: F.coalesce(more, F.col(MISFITS)), text.name: F.lit(None).cast("string")}
        commit(this, whole.withColumns(cells), count, columns)

    with patch.object(merge, "_commit", other):
        yield


@contextmanager
def wrong_order() -> Iterator[None]:
    """Of two windows the earlier one wins."""
    numbered = changes.numbered_lines

    def backwards(*of: Any) -> DataFrame:
        return numbered(*of).withColumn("#window", -F.col("#window"))

    with patch.object(changes, "numbered_lines", backwards):
        yield


@contextmanager
def ghost_row() -> Iterator[None]:
    """The delete of a key that the table does not have inserts a row of nulls."""
    with _statement(lambda _: [("WHEN NOT MATCHED AND NOT c.`#deleted`", "WHEN NOT MATCHED")]):
        yield


@contextmanager
def stale_attribute() -> Iterator[None]:
    """Attributes that were removed from an item keep their old values."""
    with _statement(
        lambda columns: [
            (f"`{field.name}` = c.`{field.name}`", f"`{field.name}` = COALESCE(c.`{field.name}`, t.`{field.name}`)")
            for field in columns.attributes
        ]
    ):
        yield


@contextmanager
def missed_delete() -> Iterator[None]:
    """A deleted item keeps its row."""
    with _statement(lambda columns: [("THEN DELETE", f"AND t.`{columns.key[0].name}` IS NULL THEN DELETE {_KEPT}")]):
        yield


@contextmanager
def key_let_go() -> Iterator[None]:
    """A key that has changed does not pass the filter of changed keys, so that its old row stays beside the new one."""
    filtered = key_filter.filtered

    def of_one(changes: DataFrame, *of: Any) -> AbstractContextManager[Any]:
        return filtered(changes.orderBy("#key0").limit(1), *of)

    with always_filtered(), patch.object(key_filter, "filtered", of_one):
        yield


@contextmanager
def misfits_unread() -> Iterator[None]:
    """A verification takes what a row keeps as misfits for what the item holds there."""
    with patch.object(sameness, "same_leaves", lambda *_: "true"):
        yield


@contextmanager
def json_unread() -> Iterator[None]:
    """A verification takes whatever a cell has as JSON for what the item holds there."""
    with patch.object(sameness, "same_plain_leaves", lambda *_: "true"):
        yield


@contextmanager
def glanced_at() -> Iterator[None]:
    """A verification has no doubts where the first half of the cells is the same."""
    first_sight = sameness.is_same_at_first_sight
    with patch.object(pairs, "is_same_at_first_sight", lambda fields: first_sight(fields[: len(fields) // 2])):
        yield


@contextmanager
def sets_in_order() -> Iterator[None]:
    """To a verification a set in another order is another set."""
    same, ordered = sameness._same_cell, sameness._ordered

    def unsorted(type_: ColumnType, cell: Sql) -> Sql:
        return cell if type_.kind is Kind.SET else ordered(type_, cell)

    def in_order(type_: ColumnType, s: Sql, t: Sql, place: Sql) -> Sql:
        return f"{s} <=> {t}" if type_.kind is Kind.SET else same(type_, s, t, place)

    with patch.object(sameness, "_ordered", unsorted), patch.object(sameness, "_same_cell", in_order):
        yield


#: Of the verification.
BLINDNESS: tuple[Bug, ...] = (misfits_unread, json_unread, glanced_at, sets_in_order)

BUGS: tuple[Bug, ...] = (
    dropped_attribute,
    rounded_number,
    wrong_order,
    ghost_row,
    stale_attribute,
    missed_delete,
    key_let_go,
    needless_misfits,
)


def _text(columns: Columns) -> Field:
    """The first attribute of which the table has a column of text."""
    return next(field for field in columns.attributes if field.type.kind is Kind.TEXT)


def _net_changes(damage: Callable[[DataFrame, Columns], DataFrame]) -> AbstractContextManager[Any]:
    net_changes = changes.net_changes

    def other(folded: DataFrame, columns: Columns, *of: Any) -> DataFrame:
        return damage(net_changes(folded, columns, *of), columns)

    return patch.object(changes, "net_changes", other)


def _statement(damages: Callable[[Columns], list[tuple[str, str]]]) -> AbstractContextManager[Any]:
    statement = merge.merge_statement

    def other(table: str, view: str, columns: Columns, *of: Any) -> str:
        text = statement(table, view, columns, *of)
        for part, damaged in damages(columns):
            assert part in text
            text = text.replace(part, damaged)
        return text

    return patch.object(merge, "merge_statement", other)
