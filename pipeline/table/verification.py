"""What a verification says: how many items and rows are equal, and which are not. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.wording import cut, number_of, on_one_line

_DIFFERENCES = ("only_in_source", "only_in_table", "different", "surplus")
_MOST_NAMED = 5
_LONGEST_KEY = 200


def difference_count(counts: Mapping[str, int]) -> int:
    """How many keys differ, and rows beyond the first of a key (`surplus`)."""
    return sum(counts.get(name, 0) for name in _DIFFERENCES)


def told(counts: Mapping[str, int]) -> str:
    """The result in three words, for subjects of mails."""
    return number_of(difference_count(counts), "difference")


def accounted(counts: Mapping[str, int]) -> str:
    """Every item and row by what was found, in one sentence."""
    parts = [
        f"{counts.get('equal', 0)} equal",
        f"{counts.get('only_in_source', 0)} only in the source",
        f"{counts.get('only_in_table', 0)} only in the table",
        f"{counts.get('different', 0)} different",
    ]
    if counts.get("surplus", 0):
        parts.append(f"{number_of(counts['surplus'], 'row')} beyond the first of a key, compared with its item as well")
    items, rows = number_of(counts.get("items", 0), "item"), number_of(counts.get("rows", 0), "row")
    return f"Compared {items} with {rows}: {', '.join(parts)}."


def named(differences: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each of the first differing keys: what differs, without the values, which stand in the report."""
    lines = []
    for found in differences[:_MOST_NAMED]:
        # Of a key that only one side has, all there is differs.
        values = found["values"] if found["found"] == "different" else ()
        paths = ", ".join(on_one_line(value["path"]) for value in values[:_MOST_NAMED])
        paths += ", and more" if len(values) > _MOST_NAMED else ""
        what = f"{found['found'].replace('_', ' ')}{': ' if paths else ''}{paths}"
        lines.append(f"{on_one_line(cut(found['key'], _LONGEST_KEY))} {what}")
    return lines
