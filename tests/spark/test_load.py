"""Loads: a full export becomes the table's content, whole, typed, with its watermark, or nothing happens."""

from __future__ import annotations

import json

import pytest

import local.aws.pitr.files
import spark.loading.load
import spark.loading.sampling
from pipeline.identity import KeyAttribute
from pipeline.instants import format_instant
from pipeline.table.marker import JOB, LOADING, WATERMARK
from spark.job import run
from tests.spark.reads import given_to_readers, times
from tests.spark.sample_items import ALL_TYPES, N_KEY, S
from tests.spark.shop import another_id, minute

pytestmark = pytest.mark.spark

OTHERS = (
    {"pk": {"S": "key only"}},
    {"pk": {"S": "empties"}, "list": {"L": []}, "map": {"M": {}}, "text": {"NULL": True}},
    {"pk": {"S": "several"}, "several": {"N": "1.50"}},
    {"pk": {"S": "types"}, "several": {"S": "1.50"}},
)


@pytest.fixture(scope="module")
def loaded(shop):
    source = shop()
    source.put(1, ALL_TYPES, *OTHERS)
    return source, source.load(5)


def test_every_value_of_every_type_arrives(loaded):
    source, _ = loaded
    assert source.differences(5) == []


def test_the_commit_carries_the_watermark_and_the_counts(loaded):
    source, report = loaded
    assert report["outcome"] == "committed"
    assert report["counts"] == {"read": 5, "inserted": 5, "misfits": 0}
    assert (source.state.watermark, source.state.marker.job_id) == (minute(5), "load-1")
    assert dict(source.state.marker.counts) == report["counts"]
    assert json.loads((source.folder / "runs" / "load-1.json").read_text()) == report


def test_the_watermark_outlives_its_snapshot(loaded):
    source, _ = loaded
    properties = source.metadata["properties"]
    assert properties["tidemark.watermark"] == format_instant(minute(5))
    assert LOADING not in properties


def test_the_table_is_as_the_design_says(loaded):
    source, _ = loaded
    metadata = source.metadata
    schema = metadata["schemas"][-1]
    assert metadata["format-version"] == 2
    written = {name: value for name, value in metadata["properties"].items() if name.startswith("write.")}
    written.pop("write.parquet.compression-codec", None)  # Iceberg notes which one it began the table with
    assert written == {
        "write.delete.mode": "merge-on-read",
        "write.update.mode": "merge-on-read",
        "write.merge.mode": "merge-on-read",
        "write.merge.isolation-level": "serializable",
        "write.distribution-mode": "hash",
        "write.target-file-size-bytes": "268435456",
        "write.metadata.delete-after-commit.enabled": "true",
        "write.metadata.previous-versions-max": "100",
    }
    assert next((f["name"], f["required"]) for f in schema["fields"]) == ("pk", True)
    assert schema["identifier-field-ids"] == [schema["fields"][0]["id"]]
    assert [f["transform"] for f in metadata["partition-specs"][0]["fields"]] == ["bucket[4]"]
    assert {f["name"]: f.get("doc") for f in schema["fields"][-2:]} == {"_write_time": None, "_misfits": None}
    assert set(metadata["refs"]) == {"main"}


def test_types_are_those_of_the_design(loaded):
    source, _ = loaded
    types = {f["name"]: f["type"] for f in source.metadata["schemas"][-1]["fields"]}
    assert {name: types[name] for name in ("text", "count", "price", "digits", "huge", "raw", "flag", "several")} == {
        "text": "string",
        "count": "long",
        "price": "decimal(38, 1)",
        "digits": "decimal(38, 0)",
        "huge": "string",
        "raw": "binary",
        "flag": "boolean",
        "several": "string",
    }
    assert types["list"]["element"] == "long"
    assert types["numbers"]["element"] == "decimal(38, 2)"
    assert types["mixed"] == "string"
    assert "nothing" not in types


def test_exact_names_stand_in_the_property_and_where_they_fit_in_comments(loaded):
    source, _ = loaded
    fields = source.metadata["schemas"][-1]["fields"]
    names = json.loads(source.metadata["properties"]["tidemark.names"])
    exact = {f["name"]: names.get(str(f["id"])) for f in fields}
    assert {exact[name] for name in ("dot_ted_name_", "dot_ted_name__2")} == {"Dot.ted 'name'", "dot_ted_name_"}
    commented = {f["name"]: f.get("doc") for f in fields}
    differ = {exact[name] for name, comment in commented.items() if comment != exact[name]}
    assert differ == {"n" * 400, "line\nbreak"}
    assert "in\nside" in names.values(), "inside a column"
    assert exact["_misfits_2"] == "_misfits"
    assert all(len(f.get("doc", "").encode()) <= 255 and "\n" not in f.get("doc", "") for f in fields)


def test_the_same_load_again_does_nothing(loaded):
    source, _ = loaded
    before = source.metadata
    order = source.full(5)
    again = run(source.spark, another_id(order, "load-1"))
    assert again["outcome"] == "already_there"
    assert source.metadata == before


def test_a_source_without_items_and_a_window_without_changes_move_the_watermark(shop):
    source = shop(key=N_KEY)
    report = source.load(5)
    assert (report["counts"]["read"], source.rows(), source.state.watermark) == (0, {}, minute(5))
    report = source.merge(5, 20)
    assert (report["counts"]["read"], source.rows(), source.state.watermark) == (0, {}, minute(20))
    source.put(21, {"pk": S, "sk": {"N": "1"}, "a": S})
    assert source.merge(20, 40)["counts"]["inserted"] == 1
    assert source.differences(40) == []


@pytest.mark.parametrize("bounds", [{"MOST_ITEMS": 1}, {"MOST_BYTES": 1, "LEAST_ITEMS": 1}])
def test_a_wrong_sample_costs_a_second_pass_and_nothing_else(shop, monkeypatch, bounds):
    monkeypatch.setattr(local.aws.pitr.files, "LEAST_BILLED_BYTES", 1)  # a few items are billed nothing otherwise
    for name, value in bounds.items():
        monkeypatch.setattr(spark.loading.sampling, name, value)
    source, given = shop(key=N_KEY), given_to_readers(monkeypatch)
    kinds = [{"N": "1"}, {"N": "2.5"}, {"M": {"x": {"N": "1"}}}, {"M": {"x": {"N": "1.5"}, "y": S}}]
    for i, value in enumerate(kinds):
        source.put(1, {"pk": S, "sk": {"N": f"{i}.5"}, f"a{i // 2}": value, f"only{i}": S})
    report = source.load(5)
    assert (report["passes"], report["counts"]) == (2, {"read": 4, "inserted": 4, "misfits": 0})
    assert times(given) == {"binaryFile": {1}, "json": {2}}
    assert source.differences(5) == []
    assert {len(row) for row in source.rows().values()} == {2 + 2 + 4 + 2}
    given.clear()
    assert source.load(6)["passes"] == 1, "the columns that are there now have room for everything"
    assert times(given) == {"binaryFile": {1}, "json": {1}}


def test_room_for_more_decimals_is_not_taken_from_large_numbers(shop, monkeypatch):
    monkeypatch.setattr(spark.loading.sampling, "MOST_ITEMS", 2)
    source, residue, large = shop(), {"N": "0." + "0" * 31 + "5"}, {"N": "2500000.5"}
    balances = [{"N": "13993.5"}] * 60 + [residue, *[large] * 3]
    source.put(1, *({"pk": {"S": f"k{i}"}, "v": v, "l": {"L": [v]}} for i, v in enumerate(balances)))
    report = source.load(5)
    assert (report["passes"], report["counts"]["misfits"]) == (3, 0)
    assert {row["v"] for row in source.rows().values()} == {v["N"] for v in balances}
    assert source.differences(5) == []
    assert source.load(6)["passes"] == 1


def test_what_a_sample_counts_weighs_as_much_as_what_all_items_count(shop, monkeypatch):
    monkeypatch.setattr(spark.loading.sampling, "MOST_ITEMS", 10)
    source = shop()
    for i in range(100):
        source.put(1, {"pk": {"S": f"k{i}"}, "v": {"M": {"x": S}} if i % 5 == 0 else {"N": str(i)}})
    report = source.load(5)
    assert ({row["path"]: row["count"] for row in report["misfits"]}, report["passes"]) == ({"/v": 20}, 1)
    assert source.differences(5) == []


@pytest.mark.parametrize("name", ["a", "404"])
def test_values_of_the_rarer_kind_are_kept_as_misfits(shop, name):
    source = shop()
    source.put(1, *({"pk": {"S": f"m{i}"}, name: {"M": {"x": S}}} for i in range(3)), {"pk": {"S": "s"}, name: S})
    report = source.load(5)
    assert report["misfits"] == [{"path": f"/{name}", "type": "S", "count": 1, "example": '{"pk":"s"}'}]
    # A small load does not look for misfits until a row turns out to be odd.
    assert (report["counts"]["misfits"], report["passes"]) == (1, 2)
    assert source.differences(5) == []


@pytest.mark.parametrize(
    ("type_", "updated", "written_as", "deleted"),
    [
        pytest.param("B", b"\x00", b"\x00", b"\x01\xff", id="binary"),
        pytest.param("N", "1" + "0" * 60, "1E+60", "0.1", id="numbers that only text can hold"),
        pytest.param("N", "1", "1.0", "-20", id="numbers of one value in two spellings"),
    ],
)
def test_keys_of_other_types(shop, type_, updated, written_as, deleted):
    source = shop(key=(KeyAttribute("pk", type_),))
    source.put(1, *({"pk": {type_: value}, "a": S} for value in (updated, deleted)))
    source.load(5)
    source.put(6, {"pk": {type_: written_as}, "a": {"S": "new"}})
    source.delete(6, {"pk": {type_: deleted}})
    counts = source.merge(5, 20)["counts"]
    assert (counts["inserted"], counts["updated"], counts["deleted"]) == (0, 1, 1)
    assert [row["a"] for row in source.rows().values()] == ["new"]


def test_a_load_that_was_killed_before_it_published_is_begun_anew(shop, monkeypatch):
    source = shop()
    source.put(1, {"pk": {"S": "a"}, "v": {"N": "1"}})
    order = source.full(5)
    with monkeypatch.context() as patch:
        patch.setattr(spark.loading.load.Table, "publish", _killed)
        with pytest.raises(KeyboardInterrupt):
            run(source.spark, order)
    assert (source.state.exists, source.metadata["properties"][LOADING]) == (False, order.job_id)
    assert run(source.spark, order)["outcome"] == "committed"
    assert source.differences(5) == []
    assert set(source.metadata["refs"]) == {"main"}


def test_what_a_load_that_was_killed_has_left_goes_with_the_next_maintenance(shop, monkeypatch):
    source = shop()
    source.put(1, {"pk": {"S": "a"}, "v": {"N": "1"}})
    source.load(5)
    source.put(6, {"pk": {"S": "a"}, "v": S})
    with monkeypatch.context() as patch:
        patch.setattr(spark.loading.load.Table, "publish", _killed)
        with pytest.raises(KeyboardInterrupt):
            source.load(15)
    assert len(source.metadata["refs"]) == 2
    source.maintain(5)
    assert set(source.metadata["refs"]) == {"main"}
    now = next(s for s in source.metadata["schemas"] if s["schema-id"] == source.metadata["current-schema-id"])
    assert [field["name"] for field in now["fields"]] == ["pk", "v", "_write_time", "_misfits"]


def _killed(*_):
    raise KeyboardInterrupt


def test_only_the_empty_snapshot_that_a_table_begins_with_names_no_job(shop):
    source = shop()
    source.put(1, *OTHERS)
    source.load(5)
    source.put(6, ALL_TYPES)
    source.merge(5, 25)
    source.run(another_id(source.full(25), "load-2"))
    source.maintain(25)
    nameless = [one for one in source.metadata["snapshots"] if not {WATERMARK, JOB} & one["summary"].keys()]
    assert nameless == source.metadata["snapshots"][:1]
    assert nameless[0]["summary"]["total-records"] == "0"
