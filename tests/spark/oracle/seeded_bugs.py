"""Bugs planted in the merge, each as a patch: what the comparison with the source must find. The jobs know nothing of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark.merging import changes, key_filter, merge
from tests.spark.large import always_filtered

Bug = Callable[[], AbstractContextManager[None]]


@contextmanager
def dropped_attribute() -> Iterator[None]:
    """A value never comes into its column."""
    with _net_changes(lambda rows: rows.withColumn("note", F.lit(None).cast("string"))):
        yield


@contextmanager
def rounded_number() -> Iterator[None]:
    """A number loses its last digits on the way."""
    with _net_changes(lambda rows: rows.withColumn("price", F.round("price", 2).cast(rows.schema["price"].dataType))):
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
    with _statement("WHEN NOT MATCHED AND NOT c.`#deleted`", "WHEN NOT MATCHED"):
        yield


@contextmanager
def stale_attribute() -> Iterator[None]:
    """An attribute that was removed from an item keeps its old value."""
    with _statement("`note` = c.`note`", "`note` = COALESCE(c.`note`, t.`note`)"):
        yield


@contextmanager
def missed_delete() -> Iterator[None]:
    """A deleted item keeps its row."""
    with _statement(
        "THEN DELETE", "AND t.`pk` = '' THEN DELETE WHEN MATCHED AND c.`#deleted` THEN UPDATE SET t.`pk` = t.`pk`"
    ):
        yield


@contextmanager
def key_let_go() -> Iterator[None]:
    """A key that has changed does not pass the filter of changed keys, so that its old row stays beside the new one."""
    filtered = key_filter.filtered

    def of_one(changes: DataFrame, *of: Any) -> AbstractContextManager[Any]:
        return filtered(changes.orderBy("#key0").limit(1), *of)

    with always_filtered(), patch.object(key_filter, "filtered", of_one):
        yield


BUGS: tuple[Bug, ...] = (
    dropped_attribute,
    rounded_number,
    wrong_order,
    ghost_row,
    stale_attribute,
    missed_delete,
    key_let_go,
)


def _net_changes(damage: Callable[[DataFrame], DataFrame]) -> AbstractContextManager[Any]:
    net_changes = changes.net_changes
    return patch.object(changes, "net_changes", lambda *of: damage(net_changes(*of)))


def _statement(part: str, damaged: str) -> AbstractContextManager[Any]:
    statement = merge.merge_statement

    def other(*of: Any) -> str:
        text = statement(*of)
        assert part in text
        return text.replace(part, damaged)

    return patch.object(merge, "merge_statement", other)
