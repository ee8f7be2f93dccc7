"""A declared type holds where no column shows it as well: in plain JSON, and in dictionaries whose values share another type."""

from __future__ import annotations

import pytest

from pipeline.columns.in_table.table_columns import columns_of
from pipeline.columns.types import Kind
from pipeline.errors import OverrideContradicted
from tests.spark.overriding import carry_out
from tests.spark.sample_items import N, S, item
from tests.spark.shop import minute

pytestmark = pytest.mark.spark

#: A map of so many names that it is a dictionary of numbers.
MANY = {"M": {f"n{i}": N for i in range(600)}}
#: An attribute that is a map in one item and a list in another is plain JSON.
MIXED = [item("list", m={"L": [S, N]}), item("map", m={"M": {"z": S}})]


def of_map(**members):
    return {"M": members}


#: What is declared, items that make the attribute what it is, a value that obeys, one that does not, and what is told.
CASES = {
    "in plain JSON": ({"/m/x": "S"}, MIXED, of_map(x=S), of_map(x=N), "'/m/x'] declares the type S", "N"),
    "deep in plain JSON": (
        {"/m/x/y": "string"},
        MIXED,
        of_map(x=of_map(y=N)),
        of_map(x=of_map(y={"SS": ["a"]})),
        "'/m/x/y'] declares the type string",
        "SS",
    ),
    "any of plain JSON": ({"/m/*": "string"}, MIXED, of_map(x=N), of_map(x={"L": []}), "'/m/*'] declares", "L"),
    "any element of plain JSON": ({"/m/*": "string"}, MIXED, {"L": [S]}, {"L": [S, of_map()]}, "'/m/*'] declares", "M"),
    "a narrow number": ({"/m/x": "bigint"}, MIXED, of_map(x=N), of_map(x={"N": "1.5"}), "the type bigint, which", "N"),
    "a narrow decimal": (
        {"/m/x": "decimal(38,1)"},
        MIXED,
        of_map(x={"N": "1.5"}),
        of_map(x={"N": "1.25"}),
        "the type decimal(38,1), which",
        "N",
    ),
    "a container": ({"/m/x": "M"}, MIXED, of_map(x=of_map()), of_map(x=S), "'/m/x'] declares the type M", "S"),
    "one name of a dictionary": (
        {"/m/one": "S"},
        [item("many", m=MANY)],
        of_map(one=S, other=N),
        of_map(one=N),
        "'/m/one'] declares the type S",
        "N",
    ),
    "a container in one map of a dictionary": (
        {"/m/one/x": "L"},
        [item("many", m={"M": {f"n{i}": of_map(x={"L": [S, N]}) for i in range(600)}})],
        of_map(one=of_map(x={"L": [S]}), other=of_map(x={"L": []})),
        of_map(one=of_map(x=of_map())),
        "'/m/one/x'] declares the type L",
        "M",
    ),
    "another than any": (
        {"/m/*": "S", "/m/x": "N"},
        [item("list", m={"L": [S]}), item("map", m=of_map(x=N))],
        of_map(x=N, y=S),
        of_map(x=N, y=N),
        "'/m/*'] declares the type S",
        "N",
    ),
    "the last of several": (
        {"/m/*": "S", "/m/x": "N"},
        [item("list", m={"L": [S]}), item("map", m=of_map(x=N))],
        of_map(x=N, y=S),
        of_map(x=S, y=S),
        "'/m/x'] declares the type N",
        "S",
    ),
    "what is hashed is text": (
        {"/m/*": "S", "/m/x": {"hash": True}},
        [item("list", m={"L": [S]}), item("map", m=of_map(z=S))],
        of_map(x=N, y={"NULL": True}),
        of_map(x=N, y=N),
        "'/m/*'] declares the type S",
        "N",
    ),
    "what is hashed by another path that leads there is text": (
        {"/m/*/c": {"hash": True}, "/m/x/*": "N"},
        MIXED,
        of_map(x=of_map(c=S, d=N)),
        of_map(x=of_map(c=S, d=S)),
        "'/m/x/*'] declares the type N",
        "S",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_type_is_held_against_values_that_have_no_column_of_their_own(shop, case):
    said, items, obeys, odd, told, tag = CASES[case]
    source = shop()
    source.put(1, *items, item("obeys", m=obeys))
    carry_out(source, source.full(5), **said)
    (m,) = (field for field in columns_of(source.metadata, source.source.key).attributes if field.attribute == "m")
    assert m.type.kind in (Kind.JSON, Kind.DICTIONARY)

    source.put(6, item("odd", m=odd), item("other", m=odd))
    for order in (source.windows(5, 25), source.full(25)):
        with pytest.raises(OverrideContradicted) as refused:
            carry_out(source, order, **said)
        for word in (
            told,
            f"which excludes values of type {tag}; items that hold one at such a place: 2",
            '{"pk":"odd"}',
        ):
            assert word in str(refused.value)
    assert source.state.watermark == minute(5)
    source.put(7, item("odd", m=obeys), item("other", m=obeys))
    assert carry_out(source, source.windows(5, 25), **said)["counts"]["inserted"] == 2
