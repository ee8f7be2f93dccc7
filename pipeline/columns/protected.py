"""What a table was loaded without: which places are dropped and hashed, and with which secret, as its commits say.

It stands in the summary of every commit beside the watermark, so that a rollback brings back what the older rows were
made without; a copy in a table property serves when the snapshots have expired. Rows of one table are all made alike,
so that one value has one hash, and a verification knows what a row shows. What the settings say since is taken over at
once only for places of which the table holds nothing. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pipeline.columns.declared.overrides import ANY, Override, Overrides
from pipeline.columns.declared.rules_inside import fields_at
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.pointers import pointer_to
from pipeline.columns.types import ColumnType, Kind
from pipeline.errors import RebuildNeeded
from pipeline.table.marker import PROTECTED, read_table_state


def protected_text(overrides: Overrides, fingerprint: str) -> str:
    """The value of the property; empty where nothing is protected. A table property that is empty is removed."""
    if not overrides.protections:
        return ""
    said = {what: [rule.pointer for rule in overrides.protections if rule.kind == what] for what in ("drop", "hash")}
    return json.dumps({**said, "secret": fingerprint}, ensure_ascii=False, sort_keys=True)


def protected_at(metadata: Mapping[str, Any], watermark: datetime | None) -> str:
    """What the rows that a table showed at a watermark were made without, from the content of its metadata file."""
    commits = read_table_state(metadata).commits
    said = (commit.summary for commit in commits if commit.marker.watermark == watermark)
    kept = metadata.get("properties", {}).get(PROTECTED, "")
    return str(next(said, {}).get(PROTECTED, kept))


def check_protected(protected: str, columns: Columns, overrides: Overrides, fingerprint: str) -> list[Override]:
    """Refuse to treat changes otherwise than the rows that are there. Raises RebuildNeeded.

    `protected`: what those were made without (`protected_at`). Returns the rules that were added since for places that
    no column has; `_misfits` of rows that are there may still hold values of them.
    """
    there = json.loads(protected or "{}")
    before = {(what, pointer) for what in ("drop", "hash") for pointer in there.get(what, [])}
    wanted = {(rule.kind, rule.pointer): rule for rule in overrides.protections}
    for what, pointer in sorted(before - set(wanted)):
        raise RebuildNeeded(f"the table was loaded with {what} set for {pointer}, and it no longer is")
    # Of what was hashed, no map and no list has come into the table.
    nowhere = {pointer for what, pointer in before if what == "hash"}
    added = (rule for said, rule in sorted(wanted.items()) if said not in before)
    new = [rule for rule in added if rule.path[-1] != ANY or pointer_to(rule.path[:-1]) not in nowhere]
    for rule in new:
        if _may_hold(columns, rule):
            raise holds_plain(rule)
    if any(what == "hash" for what, _ in before) and there.get("secret") != fingerprint:
        raise RebuildNeeded("the table's hashes are keyed with another secret than the one that hash_secret names now")
    return new


def holds_plain(rule: Override) -> RebuildNeeded:
    """The refusal of a table that may show values which are to be dropped or hashed."""
    return RebuildNeeded(f"{rule.kind} is set for {rule.pointer}, of which the table may hold values as they are")


def _may_hold(columns: Columns, rule: Override) -> bool:
    """Whether anything at the path may be in the table; what is inside text nobody can tell."""
    return rule.path[0] in columns.types and _may_hold_inside(columns.types[rule.path[0]], rule.path[1:])


def _may_hold_inside(type_: ColumnType, path: tuple[str, ...]) -> bool:
    if not path:
        return True
    if type_.kind is Kind.STRUCT:
        return any(_may_hold_inside(field.type, path[1:]) for field in fields_at(type_, path[0]))
    if type_.kind is Kind.LIST and type_.element is not None:
        return path[0] == ANY and _may_hold_inside(type_.element, path[1:])
    return True
