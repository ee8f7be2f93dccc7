"""Rebuilds: a later full export replaces content and types at once; names and ids of columns stay."""

from __future__ import annotations

from dataclasses import replace

import pytest

import spark.loading.load
import spark.loading.sampling
from pipeline.columns.declared.overrides import Overrides
from pipeline.columns.types import Kind
from pipeline.errors import KeyDoesNotFit, OverrideContradicted, PartitionsKept, TableContended
from spark.job import run
from tests.spark.rivals import run_beside
from tests.spark.sample_items import N_KEY, S, item
from tests.spark.shop import minute

pytestmark = pytest.mark.spark


def test_a_rebuild_replaces_content_and_types_and_keeps_names(shop):
    source = shop()
    source.put(1, {"pk": {"S": "a"}, "Amount": {"N": "1"}, "gone": S}, {"pk": {"S": "b"}, "m": {"M": {"x": S}}})
    source.load(5)
    source.put(6, {"pk": {"S": "a"}, "Amount": {"N": "1.5"}, "amount": S, "m": {"M": {"x": S, "y": S}}})
    source.delete(6, {"pk": {"S": "b"}})
    before = source.metadata["schemas"][-1]
    report = source.load(30)
    assert source.differences(30) == []
    assert report["new_columns"] == [
        {"column": "m.y", "path": "/m/y", "type": "string", "count": 1, "example": '{"pk":"a"}'},
        {"column": "amount_2", "path": "/amount", "type": "string", "count": 1, "example": '{"pk":"a"}'},
    ]
    amount = {"column": "amount", "path": "/Amount", "before": "bigint", "after": "decimal(38,1)"}
    assert report["changed_columns"] == [{**amount, "count": 1, "example": '{"pk":"a"}'}]
    ids = {f["name"]: f["id"] for f in before["fields"]}
    after = next(s for s in source.metadata["schemas"] if s["schema-id"] == source.metadata["current-schema-id"])
    assert {f["name"]: f["type"] for f in after["fields"]}["amount"] == "decimal(38, 1)"
    assert [f["name"] for f in after["fields"] if "#" in f["name"]] == []
    assert {f["name"]: f["id"] for f in after["fields"]}["gone"] == ids["gone"]
    assert source.state.watermark == minute(30)


def test_of_new_columns_of_a_rebuild_values_are_counted_wherever_they_lie_with_the_least_key_of_those_that_have_one(
    shop,
):
    source = shop()
    few = {"M": {"x": S}}
    months = ({"M": {f"2024-{month:02}-{day:02}": few for day in range(1, 29)}} for month in range(1, 13))
    source.put(1, *({"pk": {"S": f"a{i}"}, "l": {"L": [few]}, "d": month} for i, month in enumerate(months)))
    source.put(1, {"pk": {"S": "o"}, source.name: few, "y": S, "deep": {"L": [{"L": [few]}]}})
    source.load(5)
    more = {"M": {"x": S, "y": S}}
    source.put(
        6, {"pk": {"S": "b"}, "l": {"L": [more, few, more]}, "d": {"M": {"2024-02-01": more, "2024-02-02": few}}}
    )
    source.put(6, {"pk": {"S": "c"}, "l": {"L": [more, {"NULL": True}]}, "new": {"M": {}}, "often": {"NULL": True}})
    many = {"often": {"N": "1"}, **{f"n{i:03}": S for i in range(150)}}
    digits = {"L": [{"L": [{"M": {"x": S, "1e2": S}}] * 2}, {"L": [few]}, {"NULL": True}]}
    source.put(6, {"pk": {"S": "d"}, "deep": digits, source.name: more, "new": {"NULL": True}, **many})
    source.put(6, {"pk": {"S": "e"}, "often": {"N": "2"}})
    report = source.load(30)
    told = {new["path"]: (new["count"], new["example"]) for new in report["new_columns"]}
    assert {path: told.pop(path) for path in ("/l/*/y", "/d/*/y", "/new", "/often")} == {
        "/l/*/y": (3, '{"pk":"b"}'),
        "/d/*/y": (1, '{"pk":"b"}'),
        "/new": (1, '{"pk":"c"}'),
        "/often": (2, '{"pk":"d"}'),
    }
    assert told.pop(f"/{source.name}/y") == (1, '{"pk":"d"}')  # not that of the column y
    assert told.pop("/deep/*/*/1e2") == (2, '{"pk":"d"}')
    assert told == {f"/n{i:03}": (1, '{"pk":"d"}') for i in range(150)}
    assert report["changed_columns"] == []


def test_a_refused_rebuild_leaves_the_columns_as_they_were(shop):
    source = shop()
    source.put(1, {"pk": {"S": "a"}, "v": {"N": "1"}, "m": {"M": {"x": S}}})
    source.load(5)
    fields = source.metadata["schemas"][-1]["fields"]
    source.put(6, {"pk": {"S": "a"}, "v": S, "new": S, "h": {"M": {}}, "m": {"M": {"x": S, "y": S}}})
    order = replace(source.full(15), columns=Overrides.parse({"h": {"hash": True}}))
    with pytest.raises(OverrideContradicted):
        run(source.spark, order, "a secret of thirty-two characters")
    now = next(s for s in source.metadata["schemas"] if s["schema-id"] == source.metadata["current-schema-id"])
    assert now["fields"] == fields
    assert source.differences(5) == []
    told = source.merge(5, 25)["new_columns"]
    assert {new["path"]: new["count"] for new in told} == {"/new": 1, "/h": 1, "/m/y": 1}
    assert source.differences(25) == []


def test_a_rebuild_that_a_merge_has_overtaken_takes_no_column_back_that_has_been_filled_meanwhile(shop, monkeypatch):
    source = shop()
    source.put(1, item("a"))
    source.load(5)
    source.put(6, item("a", new=S))
    rival, order, publish = source.windows(5, 25), source.full(30), spark.loading.load.Table.publish

    def raced(table, *arguments):
        run_beside(source, rival)
        publish(table, *arguments)

    monkeypatch.setattr(spark.loading.load.Table, "publish", raced)
    with pytest.raises(TableContended):
        run(source.spark, order)
    assert source.differences(25) == []


def test_a_rebuild_that_fails_after_it_was_written_twice_leaves_no_column_behind(shop, monkeypatch):
    source = shop()
    source.put(1, item("a"))
    source.load(5)
    source.put(6, *(item(f"k{n}", new=S) for n in range(9)), item("odd", new={"L": [S]}))
    with monkeypatch.context() as patched:
        patched.setattr(spark.loading.load.Table, "publish", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            source.load(15)
    assert "new" not in {field.name for field in source.table.schema().fields}
    assert source.load(15)["passes"] == 2


def test_where_a_sample_was_wrong_of_what_is_new_it_is_made_once_more(shop, monkeypatch):
    monkeypatch.setattr(spark.loading.sampling, "MOST_ITEMS", 1)
    source = shop()
    source.put(1, {"pk": {"S": "a"}, "m": {"M": {"x": S}}})
    source.load(5)
    values = [{"N": "1"}, {"N": "1.25"}, {"M": {"z": {"N": "1"}}}, {"M": {"z": S}}, S]
    source.put(
        6,
        *({"pk": {"S": f"k{n}"}, f"n{n // 2}": v, "m": {"M": {"x": S, f"n{n // 2}": v}}} for n, v in enumerate(values)),
    )
    report = source.load(15)
    assert (report["passes"], report["counts"]["misfits"]) == (2, 0)
    assert source.differences(15) == []
    assert set(source.metadata["refs"]) == {"main"}


def test_a_rebuild_of_a_key_decides_types_by_all_items_and_leaves_no_copy(shop, monkeypatch):
    monkeypatch.setattr(spark.loading.sampling, "MOST_ITEMS", 1)
    source = shop(key=N_KEY)
    source.put(1, {"pk": S, "sk": {"N": "1"}, "v": {"N": "1"}})
    source.load(5)
    source.put(6, *({"pk": S, "sk": {"N": f"{n}.5"}, "v": {"N": "2.5"}, "rare": S} for n in range(3)))
    report = source.load(15)
    assert (report["counts"]["misfits"], source.differences(15)) == (0, [])
    assert {new["path"] for new in report["new_columns"]} == {"/rare"}
    assert set(source.metadata["refs"]) == {"main"}


@pytest.mark.parametrize("statement", ["ADD PARTITION FIELD state", "WRITE ORDERED BY state"])
def test_a_column_that_a_person_sorts_by_stays_what_it_is(shop, statement):
    source = shop()
    source.put(1, {"pk": {"S": "a"}, "state": {"N": "1"}, "v": {"N": "1"}})
    source.load(5)
    source.spark.sql(f"ALTER TABLE glue.shop.{source.name} {statement}")
    source.put(6, {"pk": {"S": "b"}, "state": S, "v": S}, {"pk": {"S": "c"}, "state": S, "v": S})
    report = source.load(15)
    assert report["misfits"] == [{"path": "/state", "type": "S", "count": 2, "example": '{"pk":"b"}'}]
    assert [change["path"] for change in report["changed_columns"]] == ["/v"]
    assert source.differences(15) == []
    before = source.metadata
    for said in ("S", {"drop": True}, {"name": "status"}):
        with pytest.raises(PartitionsKept, match=r"partitioned or sorted by state, which columns\[./state.\] wants"):
            run(source.spark, replace(source.full(25), columns=Overrides.parse({"state": said})))
    assert source.metadata == before
    if "PARTITION" in statement:
        source.spark.sql(f"ALTER TABLE glue.shop.{source.name} DROP PARTITION FIELD state")
    source.load(35)
    source.merge(35, 55)
    assert source.differences(55) == []


def test_a_table_that_somebody_else_has_made_is_replaced_whole(shop):
    source = shop()
    source.spark.sql(f"CREATE TABLE glue.shop.{source.name} USING iceberg AS SELECT 'x' AS pk, DATE'2026-01-01' AS day")
    source.put(1, {"pk": {"S": "a"}, "day": {"S": "2026-01-02"}})
    report = source.load(5)
    assert (report["new_columns"], report["changed_columns"]) == ([], [])  # as of a first load
    source.put(6, {"pk": {"S": "a"}, "day": {"S": "soon"}})
    report = source.merge(5, 25)
    assert (report["continuity"], source.differences(25)) == ("", [])
    assert source.metadata["properties"]["write.merge.mode"] == "merge-on-read"


def test_columns_of_any_type_are_replaced(shop):
    source = shop()
    years, places = {"M": {"2024": {"N": "1"}, "1e2": S, "12l": S}}, {"L": [{"M": {"5d": S}}]}
    source.put(1, {"pk": {"S": "a"}, "years": years, "places": places, "names": {"SS": ["x"]}, "raw": {"B": "AQ=="}})
    source.load(5)
    source.put(6, {"pk": {"S": "a"}, "years": S, "places": S, "names": S, "raw": {"N": "1"}})
    source.load(30)
    assert source.differences(30) == []


def test_readers_see_the_old_content_until_a_rebuild_is_published(shop):
    source = shop()
    source.put(1, {"pk": {"S": "a"}})
    source.load(5)
    source.put(6, {"pk": {"S": "b"}})
    source.spark.sql(f"ALTER TABLE glue.shop.{source.name} ADD PARTITION FIELD truncate(2, pk)")
    seen = []
    publish = spark.loading.load.Table.publish

    def watched(table, *arguments):
        seen.extend(source.rows())
        publish(table, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark.loading.load.Table, "publish", watched)
        source.load(30)
    assert seen == ["a"]
    assert sorted(source.rows()) == ["a", "b"]
    layout = {spec["spec-id"]: spec["fields"] for spec in source.metadata["partition-specs"]}
    transforms = [field["transform"] for field in layout[source.metadata["default-spec-id"]]]
    assert transforms == ["bucket[4]", "truncate[2]"]  # what a person has added stays


def test_a_key_that_outgrew_its_column_is_refused_until_a_rebuild_makes_room(shop):
    source = shop(key=N_KEY)
    source.put(1, {"pk": S, "sk": {"N": "1"}, "a": {"L": [S, {"N": "1"}]}})
    source.load(5)
    source.put(6, {"pk": S, "sk": {"N": "1.5"}, "a": {"L": [S, {"N": "1"}]}})
    before = source.metadata
    with pytest.raises(KeyDoesNotFit):
        source.merge(5, 25)
    assert source.metadata == before
    source.load(30)
    assert source.differences(30) == []
    source.put(31, {"pk": S, "sk": {"N": "2.5"}, "a": {"L": [{"N": "2"}]}})
    assert source.merge(30, 50)["counts"]["inserted"] == 1
    assert source.differences(50) == []
    assert Kind.JSON.value in source.metadata["properties"]["tidemark.kinds"]
