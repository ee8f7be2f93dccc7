"""What only large tables meet, met by small ones: the numbers from which on a table counts as large are small here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from random import Random
from unittest.mock import patch

from pipeline.columns import decided_types, field_counts, growth
from spark.expressions import cells, wide_items
from spark.loading import sampling
from tests.local import needless

#: What is large in a table: numbers of the product's, and of what judges it, with what they are then.
_LARGE: Mapping[str, tuple[tuple[object, str, int], ...]] = {
    "attributes": ((wide_items, "WIDE", 0),),
    "containers": ((wide_items, "MANY_PARSED", 0),),
    # Its types are decided from a few of its items, and again from all of them where that was wrong.
    "export": ((sampling, "MOST_ITEMS", 5),),
    "dictionaries": ((decided_types, "_SURELY_DICTIONARY", 1),),
    # Where they end nobody can tell from the table.
    "structs": ((field_counts, "MOST_FIELDS", 8), (needless, "_SURELY_FIELDS", 0)),
    "rows": ((growth, "MOST_COLUMNS", 6), (needless, "_SURELY_COLUMNS", 3)),
    "fields": ((cells, "MANY_FIELDS", 1),),
}
#: All that may be large.
ALL = frozenset(_LARGE)


def large_in(seed: int) -> frozenset[str]:
    """What is large in the table of a seed: of every other its attributes, of every fourth its containers, else as dice fall."""
    dice = Random(f"breadth of {seed}")  # noqa: S311  # test data, not a secret
    wide = ("attributes", "containers")
    by_number = wide[: (seed % 2 == 0) + (seed % 4 == 0)]
    return frozenset(by_number).union(name for name in _LARGE if name not in wide and dice.random() < 0.4)


@contextmanager
def as_large(what: frozenset[str]) -> Iterator[None]:
    """Within it a table is large in this, however small it is."""
    with ExitStack() as lowered:
        for one in what:
            for module, name, number in _LARGE[one]:
                lowered.enter_context(patch.object(module, name, number))
        yield
