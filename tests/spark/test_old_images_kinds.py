"""What old images tell of each kind of column: as many rows as somebody has changed a cell of, and none that looks otherwise."""

from __future__ import annotations

import json

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.identity import KeyAttribute
from spark.verifying import pairs
from tests.spark.overriding import SECRET
from tests.spark.sample_items import N, S, item
from tests.spark.test_old_images import compared
from tests.spark.test_verify_kinds import FILLING, FULL, MISFITS, REWRITTEN, TAMPERED
from tests.spark.verifying import tamper

pytestmark = pytest.mark.spark

#: Whatever the settings say of attributes that a verification's items have not.
SAID = {"card": {"drop": True}, "/deep/pin": {"drop": True}, "code": "string"}
MORE = {"card": N, "code": S, "deep": {"M": {"pin": N, "lines": {"L": [{"M": {"sku": S, "qty": N}}]}}}}
#: What rows keep as misfits, their columns having come later.
KEPT = """map_concat(_misfits, map('/code', '{"S":"x"}', '/deep/lines/0/qty', '{"N":"1.0"}'))"""
LATER = {
    "code": "NULL",
    "deep": "named_struct('lines', array(named_struct('qty', NULL, 'sku', 'x')))",
    "_misfits": KEPT,
}

#: One cell of each row: its key, and what SQL sets; and where it is found.
CHANGES = {
    **{f"{how}, {c}": {c: sql} for how, (_, cells) in TAMPERED.items() for c, (sql, _) in cells.items()},
    **{pk: {column: sql} for pk, (column, sql, *_) in MISFITS.items()},
    "declared": {"code": "'y'"},
    "kept and in its cell": {**LATER, "code": "'x'"},
}
PLACES = {
    **{pk: [f"/{column}" for column in cells] for pk, cells in CHANGES.items()},
    **{pk: [place] for pk, (*_, place, _) in MISFITS.items()},
    "kept and in its cell": ["/code"],
}
ALIKE = {"later": LATER, **{f"rewritten, {column}": {column: sql} for column, sql in REWRITTEN.items()}}


def told(report):
    """What a report shows: of each key what was found, and where."""
    return {
        json.loads(shown["key"])["pk"]: (shown["found"], [value["path"] for value in shown["values"]])
        for shown in report["differences"]
    }


def test_one_changed_cell_of_every_kind_is_told_and_what_is_spelled_otherwise_is_not(shop, monkeypatch):
    monkeypatch.setattr(pairs, "MOST_SHOWN", 1000)
    said = {"sizes": "map", "by_shop": "map", "email": {"hash": True}, **SAID}
    s = shop(columns=Overrides.parse(said), secret=SECRET, compare_old_images=True)
    held = {f"{how}, {c}": attributes for how, (attributes, cells) in TAMPERED.items() for c in cells}
    items = {pk: held.get(pk, FULL) | MORE for pk in (*CHANGES, *ALIKE, "as it was")} | {
        "null": {"text": {"NULL": True}}
    }
    s.put(1, *(item(pk, **attributes) for pk, attributes in items.items()))
    s.put(1, *(item(f"k{n}", **FILLING) for n in range(4 * len(items))))
    s.load(5)
    tamper(s, {**CHANGES, **ALIKE})
    s.put(6, *(item(pk, text=S) for pk in items))

    report = s.merge(5, 25)

    assert told(report) == {pk: ("different", places) for pk, places in PLACES.items()}
    assert compared(report) == [len(items) - len(CHANGES), len(CHANGES), 0, 0]


def test_rows_are_found_by_numbers_and_binaries_however_they_are_spelled_and_columns_of_other_names_are_none(shop):
    s = shop(key=(KeyAttribute("pk", "N"), KeyAttribute("sk", "B")), compare_old_images=True)

    def of(pk, value):
        return {"pk": {"N": pk}, "sk": {"B": b"\xff"}, "total": value}

    s.put(1, *(of(pk, N) for pk in ("-0.0001", "1.5", "70", "12345678901234567890", "5", "6")))
    s.load(5)
    for how in ("RENAME COLUMN total TO amount", "ADD COLUMN own date"):
        s.spark.sql(f"ALTER TABLE glue.shop.{s.name} {how}")
    s.change("UPDATE TABLE SET own = DATE '2026-01-01', sk = if(pk = 5, X'ff00', sk), amount = if(pk = 6, 2, amount)")
    s.put(6, *(of(pk, S) for pk in ("-1E-4", "1.50", "7E1", "12345678901234567890.0", "5.0", "6E0")))

    report = s.merge(5, 25)

    assert compared(report) == [4, 1, 1, 0]
    assert {int(pk): found for pk, found in told(report).items()} == {
        5: ("only_in_source", ["/pk", "/sk", "/total"]),
        6: ("different", ["/total"]),
    }
