"""A dictionary among the misfits crowds out nothing: its names are limited as those of a sample of items are."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pipeline.columns import item_sample
from pipeline.columns.declared.overrides import Overrides
from pipeline.columns.item_sample import observed_items
from spark.rows import profiles
from spark.rows.profiles import observed_misfits
from tests.spark.sample_items import N, S, item

pytestmark = pytest.mark.spark

NAMES = [f"k{n}" for n in range(9)]
CROWDED = {
    "a": {"M": {name: {"M": {"x": {"N": f"1.{at}"}}} for at, name in enumerate(NAMES)}},
    "b": {"M": {"home": {"M": {"city": S}}}},
    "c": {"M": {"d": {"M": {**dict.fromkeys(NAMES, N), "k8": S}}, "e": {"L": [{"M": dict.fromkeys(NAMES, N)}]}}},
}


def limit(monkeypatch, names: int, paths: int) -> None:
    for module in (item_sample, profiles):
        monkeypatch.setattr(module, "MOST_NAMES", names)
        monkeypatch.setattr(module, "MOST_PATHS", paths)


@pytest.mark.parametrize(
    "said",
    [
        pytest.param({}, id="nothing said"),
        pytest.param({"/a/k7": {"name": "seven"}, "/c/*/k8": "S", "/c/d/k6": {"name": "six"}}, id="names said"),
        pytest.param({"a": "struct", "/c/*/*": "M"}, id="a struct declared"),
    ],
)
def test_names_of_misfits_are_limited_as_those_of_a_sample(spark, monkeypatch, said):
    columns = Overrides.parse(said)
    limit(monkeypatch, 5, 1_000)
    wanted = observed_items([CROWDED], columns)
    limit(monkeypatch, 5, len(wanted) + 1)
    rows = [("", f"/{name}", json.dumps(value)) for name, value in CROWDED.items()]
    misfits = spark.createDataFrame(rows, "example string, pointer string, json string")
    assert [replace(row, found_at=0) for row in observed_misfits(misfits, columns)] == wanted


def test_the_most_frequent_names_are_told_apart_and_those_with_columns(spark, monkeypatch):
    limit(monkeypatch, 2, 4)
    often = [("", f"/m/often{n}", '{"S":"x"}') for n in (1, 1, 1)]
    rare = [
        (name, f"/m/{name}", f'{{"N":"{number}"}}') for name, number in zip("abc", ("0.25", "222", "33"), strict=True)
    ]
    inside = [("", "/m/there/new", '{"S":"x"}')]
    misfits = spark.createDataFrame([*rare, *often, *inside], "example string, pointer string, json string")
    seen = observed_misfits(misfits)
    found = {(row.path, row.tag): row.count for row in seen}
    assert found == {((".m", ".often1"), "S"): 3, ((".m", "."), "N"): 3, ((".m", ".there", ".new"), "S"): 1}
    (numbers,) = (row for row in seen if row.tag == "N")
    room = (numbers.integer_digits, numbers.fraction_digits, numbers.fits_long)
    assert (room, numbers.example) == ((3, 2, False), "a")


def test_a_dictionary_that_comes_with_a_window_gives_the_types_of_a_first_load(shop, monkeypatch):
    limit(monkeypatch, 100, 250)
    at_first, followed = shop(), shop()
    followed.put(1, item("0"))
    followed.load(5)
    home = {"M": {"home": {"M": {"city": S}}}}
    for n in range(60):
        sizes = {"M": {f"{n:02}-{of}": {"M": {"x": N}} for of in range(5)}}
        rare = {"rare": {"M": {"city": S}}} if n == 7 else {}
        followed.put(6, item(str(n), sizes=sizes, address=home, **rare))
    at_first.writes = followed.writes
    at_first.load(20)
    followed.merge(5, 20)
    first, merged = (dict(of.spark.table(f"glue.shop.{of.name}").dtypes) for of in (at_first, followed))
    assert first == merged
    assert (first["sizes"], first["rare"]) == ("map<string,struct<x:bigint>>", "struct<city:string>")
    assert followed.differences(20) == []


def test_a_map_of_thousands_of_names_is_one_column_and_takes_thousands_more_with_a_window(shop):
    source = shop()
    source.put(
        1, item("a", stock={"M": {f"s{n}": {"N": str(n)} for n in range(3000)}}), item("b", stock={"M": {"s1": N}})
    )
    source.load(5)
    source.put(6, item("b", stock={"M": {f"t{n}": N for n in range(2000)}}))
    report = source.merge(5, 20)
    assert (report["new_columns"], report["misfits"]) == ([], [])
    assert {pk: len(row["stock"]) for pk, row in source.rows().items()} == {"a": 3000, "b": 2000}
    assert source.differences(20) == []


def test_a_struct_that_turns_out_to_be_a_dictionary_of_thousands_loses_no_name_and_becomes_one(shop):
    source = shop()
    fields = {f"f{n}": N for n in range(5)}
    source.put(1, *(item(f"k{n}", m={"M": fields}) for n in range(20)))
    source.load(5)
    many = [{f"n{item_ * 100 + n}": N for n in range(100)} for item_ in range(20)]
    source.put(6, *(item(f"k{n}", m={"M": {**fields, **names}}) for n, names in enumerate(many)))
    report = source.merge(5, 25)
    # A thousand fields have room; the other names stand beside it.
    assert (len(report["new_columns"]), report["counts"]["misfits"]) == (995, 2000 - 995)
    assert source.differences(25) == []
    report = source.load(25)
    assert (report["changed_columns"][0]["after"], report["counts"]["misfits"]) == ("map<string,bigint>", 0)
    source.put(26, item("k3", m={"M": {"f1": N, "another": N}}))
    source.merge(25, 45)
    assert source.differences(45) == []
    assert dict(source.rows()["k3"]["m"]) == {"f1": 1, "another": 1}


def test_what_lies_deeper_than_types_are_decided_is_plain_json_also_where_a_window_brings_it(shop):
    def deep(pk, **members):
        return item(pk, a={"M": {"b": {"M": {"c": {"M": members}}}}})

    source = shop()
    source.put(1, deep("one", x=N))
    source.load(5)
    source.put(6, deep("two", e={"M": {"f": {"M": {"g": N}}}}))
    source.merge(5, 20)
    source.put(21, deep("three", e={"M": {"f": {"M": {"g": S}}}}))
    source.merge(20, 35)
    assert json.loads(source.rows()["three"]["a"]["b"]["c"]["e"]) == {"f": {"g": "x"}}
    source.load(35)
    assert source.differences(35) == []
    assert [row["_misfits"] for row in source.rows().values()] == [None] * 3
