"""Small tables that are treated as large ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from spark.merging import key_filter


@contextmanager
def always_filtered() -> Iterator[None]:
    """Merges make a filter of the keys that have changed, however few rows the table has."""
    with patch.multiple(key_filter, LEAST_ROWS=1, ROWS_A_CHANGE=0):
        yield
