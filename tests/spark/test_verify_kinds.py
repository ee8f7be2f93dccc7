"""What a verification finds in each kind of column: a cell that somebody has changed, at its place, with both values."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline.columns.declared.overrides import Overrides
from tests.spark.overriding import SECRET, hashed
from tests.spark.sample_items import item
from tests.spark.shop import as_written
from tests.spark.verifying import differences, tamper, verify

pytestmark = pytest.mark.spark

A, B, ONE, TWO = {"S": "a"}, {"S": "b"}, {"N": "1"}, {"N": "2"}
LINE = {"M": {"sku": A, "tags": {"SS": ["a", "b"]}}}
#: An attribute for each kind of column.
FULL: dict[str, Any] = {
    "text": A,
    "count": {"N": "3"},
    "price": {"N": "12.5"},
    "huge": {"N": "12345678901234567890123456789012345678e9"},
    "scalar": {"N": "1.5"},
    "flag": {"BOOL": True},
    "raw": {"B": b"\x00\xff"},
    "texts": {"SS": ["a", "b"]},
    "numbers": {"NS": ["2", "1.5"]},
    "raws": {"BS": [b"\x01", b"\x02"]},
    "names": {"L": [A, B]},
    "lines": {"L": [LINE, {"M": {"sku": B}}]},
    "rows": {"L": [{"L": [ONE, TWO]}, {"L": [TWO]}]},
    "ship": {"M": {"city": A, "zip": ONE, "codes": {"SS": ["a", "b"]}}},
    "sizes": {"M": {"s": ONE, "m": TWO}},
    "by_shop": {"M": {"x": LINE, "y": {"M": {}}}},
    "mixed": {"L": [A, ONE, {"M": {"b": {"SS": ["a", "b"]}, "c": {"NULL": True}, "d": {"B": b"\x01"}}}]},
    "email": A,
    "odd": {"S": "ten"},
    "box": {"M": {"v": {"S": "ten"}}},
}
EMPTY: dict[str, Any] = {
    "text": {"S": ""},
    "raw": {"B": b""},
    "names": {"L": []},
    "rows": {"L": [{"L": []}]},
    "ship": {"M": {}},
    "sizes": {"M": {}},
    "mixed": {"M": {}},
}
#: What makes columns decimals, scalars of several types, and columns that take no text.
FILLING: dict[str, Any] = {
    "price": {"N": "0.25"},
    "scalar": A,
    "odd": {"L": [ONE]},
    "box": {"M": {"v": {"L": [ONE]}}},
}

#: How reports show what rows hold of them.
LINE_SHOWN = {"sku": "a", "tags": ["b", "a"]}
SHIP_SHOWN = {"city": "a", "codes": ["b", "a"], "zip": 1}
MIXED_SHOWN = '["a",1,{"b":["b","a"],"c":null,"d":"AQ=="}]'
#: What is the source's where a report spells it otherwise, or hides it.
SOURCE = {"huge": {"N": "12345678901234567890123456789012345678000000000"}, "email": {"S": hashed('{"S":"a"}')}}
#: What somebody has done to rows: the item, then of each column what SQL sets, and what a report shows that the row holds.
TAMPERED: dict[str, tuple[dict[str, Any], dict[str, tuple[str, Any]]]] = {
    "another": (
        FULL,
        {
            "text": ("'A'", "A"),
            "count": ("4", 4),
            "price": ("12.51", 12.51),
            "huge": (
                "'12345678901234567890123456789012345679000000000'",
                "12345678901234567890123456789012345679000000000",
            ),
            "scalar": ("'1.50'", "1.50"),
            "flag": ("false", False),
            "raw": ("X'00fe'", "AP4="),
            "texts": ("array('a', 'c')", ["a", "c"]),
            "numbers": ("array(2, 1.6)", [2, 1.6]),
            "raws": ("array(X'01', X'03')", ["AQ==", "Aw=="]),
            "names": ("array('a', 'c')", ["a", "c"]),
            "lines": ("array(lines[0], named_struct('sku', 'c', 'tags', NULL))", [LINE_SHOWN, {"sku": "c"}]),
            "rows": ("array(array(1, 2), array(1))", [[1, 2], [1]]),
            "ship": ("named_struct('city', 'a', 'codes', ship.codes, 'zip', 2)", {**SHIP_SHOWN, "zip": 2}),
            "sizes": ("map('s', 1, 'm', 3)", {"s": 1, "m": 3}),
            "by_shop": (
                "map('x', named_struct('sku', 'a', 'tags', array('a', 'c')), 'y', by_shop['y'])",
                {"x": {"sku": "a", "tags": ["a", "c"]}, "y": {}},
            ),
            "mixed": ("replace(mixed, 'AQ==', 'Ag==')", MIXED_SHOWN.replace("AQ==", "Ag==")),
            "email": ("'a'", "a"),
        },
    ),
    "more": (
        FULL,
        {
            "text": ("'a '", "a "),
            "texts": ("array_append(texts, 'c')", ["b", "a", "c"]),
            "numbers": ("array_append(numbers, 2)", [2, 1.5, 2]),
            "raws": ("array(X'02', X'01', X'')", ["Ag==", "AQ==", ""]),
            "names": ("array_append(names, NULL)", ["a", "b", None]),
            "lines": ("array_append(lines, lines[0])", [LINE_SHOWN, {"sku": "b"}, LINE_SHOWN]),
            "rows": ("array_append(rows, array())", [[1, 2], [2], []]),
            "ship": (
                "named_struct('city', 'a', 'codes', array('a', 'b', 'b'), 'zip', 1)",
                {**SHIP_SHOWN, "codes": ["a", "b", "b"]},
            ),
            "sizes": ("map('s', 1, 'm', 2, 'l', NULL)", {"s": 1, "m": 2, "l": None}),
            "mixed": ("concat(left(mixed, length(mixed) - 1), ',null]')", MIXED_SHOWN[:-1] + ",null]"),
        },
    ),
    "less": (
        FULL,
        {
            "texts": ("array('a')", ["a"]),
            "numbers": ("array(2)", [2]),
            "raws": ("array()", []),
            "names": ("array('a')", ["a"]),
            "lines": ("array(lines[0], NULL)", [LINE_SHOWN, None]),
            "rows": ("array(array(1), array(2))", [[1], [2]]),
            "ship": ("named_struct('city', 'a', 'codes', NULL, 'zip', 1)", {"city": "a", "zip": 1}),
            "sizes": ("map('s', 1)", {"s": 1}),
            "by_shop": ("map('x', by_shop['x'], 'y', NULL)", {"x": LINE_SHOWN, "y": None}),
            "mixed": ("""replace(mixed, '["b","a"]', '["a"]')""", MIXED_SHOWN.replace('["b","a"]', '["a"]')),
        },
    ),
    "turned": (
        FULL,
        {
            "names": ("array('b', 'a')", ["b", "a"]),
            "lines": ("reverse(lines)", [{"sku": "b"}, LINE_SHOWN]),
            "rows": ("array(array(2, 1), array(2))", [[2, 1], [2]]),
            "sizes": ("map('s', 2, 'm', 1)", {"s": 2, "m": 1}),
            "by_shop": ("map('x', by_shop['y'], 'y', by_shop['x'])", {"x": {}, "y": LINE_SHOWN}),
            "mixed": ("""replace(mixed, '["a",1,', '[1,"a",')""", MIXED_SHOWN.replace('["a",1,', '[1,"a",')),
        },
    ),
    "of another type": (
        FULL,
        {
            "sizes": ("map('S', 1, 'm', 2)", {"S": 1, "m": 2}),
            "mixed": ("""replace(mixed, '["a",1,', '["a","1",')""", MIXED_SHOWN.replace('["a",1,', '["a","1",')),
        },
    ),
    "lost": (FULL, {name: ("NULL", None) for name in FULL if name not in ("odd", "box")}),
    "lost though empty": (EMPTY, dict.fromkeys(EMPTY, ("NULL", None))),
    "invented": (
        {"text": {"NULL": True}},
        {
            "text": ("''", ""),
            "flag": ("false", False),
            "raw": ("X''", ""),
            "texts": ("array()", []),
            "names": ("array()", []),
            "ship": ("named_struct('city', NULL, 'codes', NULL, 'zip', NULL)", {}),
            "sizes": ("map()", {}),
            "mixed": ("'{}'", "{}"),
        },
    ),
}
#: What somebody has done to the row of the full item that leaves its meaning as it was.
REWRITTEN = {
    "price": "12.50",
    "texts": "array('a', 'b')",
    "numbers": "array(1.5, 2.0)",
    "raws": "array(X'02', X'01')",
    "lines": "array(named_struct('sku', 'a', 'tags', array('a', 'b')), lines[1])",
    "ship": "named_struct('city', 'a', 'codes', array('a', 'b'), 'zip', 1)",
    "sizes": "map('s', 1, 'm', 2)",
    "by_shop": "map('y', by_shop['y'], 'x', named_struct('sku', 'a', 'tags', array('a', 'b')))",
    "mixed": """'["a", 1.0, {"d":"AQ==", "b":["a","b"]}]'""",
    "_misfits": """map('/odd', '{"S": "\\\\u0074en"}', '/box/v', '{"S":"ten"}')""",
}
#: The same of what rows keep as misfits: a column, what SQL sets, the place, and what a report shows that the row holds.
MISFITS = {
    "another misfit": ("_misfits", """map('/odd', '{"S":"ten"}', '/box/v', '{"S":"9"}')""", "/box/v", '{"S":"9"}'),
    "a misfit lost": ("_misfits", """map('/odd', '{"S":"ten"}')""", "/box/v", None),
    "its type": ("_misfits", """map('/odd', '{"B":"ten"}', '/box/v', '{"S":"ten"}')""", "/odd", '{"B":"ten"}'),
    "one elsewhere": ("_misfits", """map_concat(_misfits, map('/box/w', '{"S":"ten"}'))""", "/box/w", '{"S":"ten"}'),
    "a cell beside one": ("odd", "array(10)", "/odd", '[10] and in _misfits {"S":"ten"}'),
    "a field beside one": ("box", "named_struct('v', array(10))", "/box", '{"v":[10]}'),
}


def test_one_changed_cell_is_found_in_columns_of_every_kind_and_what_is_spelled_otherwise_is_none(shop):
    said = {"sizes": "map", "by_shop": "map", "email": {"hash": True}}
    s = shop(columns=Overrides.parse(said), secret=SECRET)
    s.put(1, *(item(pk, **attributes) for pk, (attributes, _) in TAMPERED.items()))
    s.put(1, *(item(pk, **FULL) for pk in ("rewritten", *MISFITS)), item("null", text={"NULL": True}), item("none"))
    s.put(1, *(item(f"k{n}", **FILLING) for n in range(30)))
    s.load(5)
    assert verify(s, 5)["result"] == "0 differences"
    changes = {pk: {column: sql for column, (sql, _) in cells.items()} for pk, (_, cells) in TAMPERED.items()}
    tamper(s, {**changes, "rewritten": REWRITTEN, **{pk: {column: sql} for pk, (column, sql, *_) in MISFITS.items()}})

    report = differences(s, 5)

    told = {json.loads(row["key"])["pk"]: row["values"] for row in report["differences"]}
    found = {pk: {value["path"]: value for value in values} for pk, values in told.items()}
    expected = {pk: {f"/{column}" for column in cells} for pk, (_, cells) in TAMPERED.items()}
    assert {pk: set(values) for pk, values in found.items()} == expected | {
        pk: {p} for pk, (*_, p, _) in MISFITS.items()
    }
    for pk, (attributes, cells) in TAMPERED.items():
        for column, (_, shown) in cells.items():
            value = found[pk][f"/{column}"]
            assert _shown(value["table"]) == shown, (pk, column)
            assert _sorted(_shown(value["source"])) == _sorted(as_written(SOURCE.get(column, attributes.get(column))))
    assert {pk: found[pk][place]["table"] for pk, (*_, place, _) in MISFITS.items()} == {
        pk: text for pk, (*_, text) in MISFITS.items()
    }


def _shown(text: str | None) -> Any:
    return text if text is None else json.loads(text)


def _sorted(value: Any) -> Any:
    """DynamoDB JSON with its sets in one order."""
    if isinstance(value, dict):
        return {n: sorted(v) if n in ("SS", "NS", "BS") else _sorted(v) for n, v in value.items()}
    return [_sorted(one) for one in value] if isinstance(value, list) else value
