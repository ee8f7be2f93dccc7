"""A table says what its rows were made without, and changes of another kind are refused."""

from __future__ import annotations

import pytest

from pipeline.columns.declared.overrides import NO_OVERRIDES, Overrides
from pipeline.columns.growth import first_columns
from pipeline.columns.item_sample import observed_items
from pipeline.columns.profile import Profile
from pipeline.columns.protected import check_protected, protected_at, protected_text
from pipeline.errors import RebuildNeeded
from pipeline.identity import KeyAttribute
from pipeline.instants import parse_instant
from pipeline.table.marker import PROTECTED

S = {"S": "x"}
MAP = {"M": {"x": S}}
ITEM = {"pk": S, "a": S, "m": {"M": {"x": S, "in": MAP}}, "l": {"L": [MAP]}, "j": {"L": [S, {"N": "1"}]}, "d": MAP}
A_DICTIONARY = Overrides.parse({"d": {"type": "map"}})
COLUMNS = first_columns((KeyAttribute("pk", "S"),), Profile.of(observed_items([ITEM])), A_DICTIONARY)
LOADED = Overrides.parse({"gone": {"drop": True}, "h": {"hash": True}})
THERE = protected_text(LOADED, "one secret")


def said(**more) -> Overrides:
    return Overrides.parse({**LOADED.to_json(), **more})


def test_a_table_without_protection_says_nothing():
    assert protected_text(NO_OVERRIDES, "") == protected_text(Overrides.parse({"a": "S"}), "") == ""
    assert check_protected("", COLUMNS, NO_OVERRIDES, "") == []


@pytest.mark.parametrize("path", ["new", "/m/new", "/m/in/new", "/l/new", "/l/*/new"])
def test_what_the_table_holds_nothing_of_is_protected_at_once(path):
    new = check_protected(THERE, COLUMNS, said(**{path: {"drop": True}}), "one secret")
    assert [rule.pointer for rule in new] == ["/new" if path == "new" else path]


@pytest.mark.parametrize("path", ["a", "m", "/m/x", "/m/*", "/l/*/x", "/a/inside", "/j/*", "/d/new"])
def test_what_the_table_may_hold_needs_a_rebuild(path):
    with pytest.raises(RebuildNeeded, match="may hold"):
        check_protected(THERE, COLUMNS, said(**{path: {"drop": True}}), "one secret")


def test_inside_of_what_was_hashed_there_is_nothing_to_be_hidden():
    inside = said(**{"/h/*": {"hash": True}})
    assert check_protected(THERE, COLUMNS, inside, "one secret") == []
    with pytest.raises(RebuildNeeded, match="hash set for /h"):
        check_protected(THERE, COLUMNS, Overrides.parse({"gone": {"drop": True}, "/h/*": {"hash": True}}), "one secret")


@pytest.mark.parametrize("overrides", [NO_OVERRIDES, Overrides.parse({"gone": {"drop": True}})])
def test_what_is_taken_back_needs_a_rebuild(overrides):
    with pytest.raises(RebuildNeeded, match="no longer is"):
        check_protected(THERE, COLUMNS, overrides, "one secret")


@pytest.mark.parametrize("loaded", [LOADED, Overrides.parse({"h": {"hash": True}})])
def test_another_secret_needs_a_rebuild(loaded):
    with pytest.raises(RebuildNeeded, match="another secret"):
        check_protected(protected_text(loaded, "one secret"), COLUMNS, loaded, "another secret")


def test_a_table_without_hashes_takes_any_secret():
    dropping = Overrides.parse({"gone": {"drop": True}})
    assert [rule.pointer for rule in check_protected(protected_text(dropping, ""), COLUMNS, LOADED, "a secret")] == [
        "/h"
    ]


def test_a_rollback_brings_back_what_the_older_rows_were_made_without():
    def commit(id_, at, **said):
        marker = {"tidemark.watermark": at, "tidemark.start": at, "tidemark.job": "load", "tidemark.job-id": at}
        source = {"tidemark.source-arn": "arn", "tidemark.source-id": "id"}
        return {"snapshot-id": id_, "parent-snapshot-id": id_ - 1 or None, "summary": {**marker, **source, **said}}

    first, second = "2026-11-01T12:00:00Z", "2026-11-01T13:00:00Z"
    snapshots = [commit(1, first, **{PROTECTED: ""}), commit(2, second, **{PROTECTED: THERE})]
    metadata = {"snapshots": snapshots, "properties": {PROTECTED: THERE}}
    for id_, watermark, there in ((2, second, THERE), (2, first, ""), (1, first, "")):
        found = protected_at({**metadata, "current-snapshot-id": id_}, parse_instant(watermark))
        assert found == there
    # A commit from before this stood there, or one that has expired: the table's property.
    assert protected_at({**metadata, "snapshots": [commit(1, first)], "current-snapshot-id": 1}, None) == THERE
