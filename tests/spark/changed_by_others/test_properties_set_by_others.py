"""Properties that somebody sets of a table: what they mean is left to who set them, and nothing wrong is said of it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.errors import KeyDoesNotFit, PartitionsKept, PropertyUnfit
from pipeline.table.maintenance import COUNTED
from tests.spark.sample_items import N_KEY, S, item
from tests.spark.shop import Shop, minute
from tests.spark.verifying import verify_order

pytestmark = pytest.mark.spark

DAY = 24 * 60
END = 5 + 2 * DAY


def set_by_somebody(source: Shop, name: str, value: str) -> None:
    source.spark.sql(f"ALTER TABLE glue.shop.{source.name} SET TBLPROPERTIES ('{name}' = '{value}')")


def test_merges_that_write_whole_files_anew_cast_no_doubt_on_the_rows(shop):
    source = shop()
    source.put(1, *(item(f"k{i}", v=S) for i in range(6)))
    source.load(5)
    set_by_somebody(source, "write.merge.mode", "copy-on-write")
    source.put(6, item("k1", v={"S": "new"}), item("new"))
    source.delete(7, {"pk": {"S": "k2"}})
    report = source.merge(5, 20)
    counts = report["counts"]
    assert (counts["inserted"], counts["updated"], counts["deleted"], report["continuity"]) == (1, 1, 1, "")
    assert source.differences(20) == []
    # A row that is not there is written no file anew for, so that it is told all the same.
    source.lose("k3")
    source.delete(21, {"pk": {"S": "k3"}})
    assert "1 removed or replaced; Iceberg counted 0 and 0." in source.merge(20, 35)["continuity"]


def test_a_delete_file_that_hides_rows_of_several_files_stays_where_one_of_these_has_gone(shop):
    source = shop()
    source.put(1, *(item(f"a{n}") for n in range(4)))
    source.run(replace(source.full(5), buckets=1))
    set_by_somebody(source, "write.delete.granularity", "partition")
    source.put(6, item("z1"))
    source.merge(5, 20)
    source.put(21, item("a1", v=S), item("z1", v=S))
    source.merge(20, 35)
    # Of the two files with hidden rows, the one whose path comes first is written anew; the other stays.
    files = source.spark.read.table(f"glue.shop.{source.name}.data_files")
    lowest = files.selectExpr("file_path", "readable_metrics.pk.lower_bound AS pk").where("pk IN ('a0', 'z1')")
    (_, key), _ = lowest.orderBy("file_path").collect()
    rewritten = """table => 'TABLE', where => "pk = 'KEY'", options => map('rewrite-all', 'true')"""
    source.change(f"CALL glue.system.rewrite_data_files({rewritten})", KEY=key)
    assert source.maintain(35)["counts"]["delete_files_removed"] == 0
    assert source.metadata["snapshots"][-1]["summary"]["total-delete-files"] == "1"
    assert source.differences(35) == []


def test_where_all_is_kept_files_are_put_in_order_and_none_is_let_go(shop):
    source = shop()
    source.put(1, item("a", v=S))
    source.load(5)
    source.put(6, item("b", v=S))
    source.merge(5, 5 + DAY, END)
    before = {one["snapshot-id"] for one in source.metadata["snapshots"]}
    set_by_somebody(source, "gc.enabled", "false")
    report = source.maintain(END, snapshot_days=1)
    gone = {"snapshots_expired", "files_expired", "orphans_removed"}
    assert (report["outcome"], set(report["counts"])) == ("maintained", set(COUNTED) - gone)
    assert before <= {one["snapshot-id"] for one in source.metadata["snapshots"]}
    set_by_somebody(source, "gc.enabled", "true")
    assert source.maintain(END, snapshot_days=1)["counts"]["snapshots_expired"] > 0


def test_where_all_is_kept_a_merge_that_needs_former_partitions_gone_is_refused_by_name(shop):
    source = shop()
    source.put(1, item("a", v=S))
    source.load(5)
    set_by_somebody(source, "gc.enabled", "false")
    source.columns = Overrides.parse({"pk": {"name": "id"}})
    source.load(15)
    source.put(16, item("b", v=S))
    with pytest.raises(PartitionsKept, match=r"kept by its property gc\.enabled, which is false") as refused:
        source.merge(15, 30)
    assert refused.value.remedy.startswith("Set gc.enabled of the table to true:")
    with pytest.raises(PartitionsKept, match=r"gc\.enabled"):
        source.maintain(15)
    set_by_somebody(source, "gc.enabled", "true")
    source.merge(15, 30)
    assert source.differences(30) == []


def test_a_table_in_a_newer_format_with_packed_metadata_is_followed_and_replaced_whole_in_that_format(shop):
    source = shop(key=N_KEY)
    source.put(1, {**item("a", v=S), "sk": {"N": "1"}})
    source.load(5)
    set_by_somebody(source, "format-version", "3")
    set_by_somebody(source, "write.metadata.compression-codec", "gzip")
    source.put(6, {**item("a", v={"S": "new"}), "sk": {"N": "1"}})
    source.merge(5, 20)
    assert source.differences(20) == []
    source.put(21, {**item("b"), "sk": {"N": "1.5"}})
    with pytest.raises(KeyDoesNotFit):
        source.merge(20, 35)
    source.load(35)
    assert (source.differences(35), source.metadata["format-version"]) == ([], 3)


def test_an_empty_table_of_somebody_elses_in_a_newer_format_is_replaced(shop):
    source = shop()
    made = "USING iceberg TBLPROPERTIES ('format-version' = '3')"
    source.spark.sql(f"CREATE TABLE glue.shop.{source.name} (x STRING) {made}")
    source.put(1, item("a", v=S))
    source.load(5)
    assert (source.differences(5), source.metadata["format-version"]) == ([], 3)


def test_what_is_measured_of_a_nested_field_goes_with_it_and_stays_of_those_beside_it(shop):
    source, metrics = shop(), "write.metadata.metrics.column."
    source.put(1, item("a", m={"M": {"x": S, "y": S}}))
    source.load(5)
    for path in ("m.x", "m.y"):
        set_by_somebody(source, metrics + path, "full")
    source.columns = Overrides.parse({"/m/x": {"drop": True}})
    source.load(15)
    source.put(16, item("b", n=S))
    source.merge(15, 30)
    assert [name for name in source.metadata["properties"] if name.startswith(metrics)] == [metrics + "m.y"]
    assert all("x" not in (row["m"] or {}) for row in source.rows().values())


def test_a_table_that_is_set_to_take_any_columns_is_merged_without_that(shop):
    source, any_columns = shop(), "write.spark.accept-any-schema"
    source.put(1, item("a", v=S), item("gone"))
    source.load(5)
    set_by_somebody(source, any_columns, "true")
    source.put(6, item("a", v={"S": "new"}), item("b", new=S))
    source.delete(7, item("gone"))
    source.merge(5, 20)
    assert (source.differences(20), any_columns in source.metadata["properties"]) == ([], False)
    set_by_somebody(source, any_columns, "true")
    source.put(21, item("b", another=S))
    source.load(35)
    assert source.differences(35) == []


def test_a_full_export_is_published_over_a_branch_that_somebody_has_written_first_and_made_the_table(shop):
    source = shop()
    source.put(1, *(item(f"k{i}") for i in range(7)))
    source.load(5)
    set_by_somebody(source, "write.wap.enabled", "true")
    source.spark.conf.set("spark.wap.branch", "audit")
    try:
        source.change("INSERT INTO TABLE VALUES ('theirs', null, null)")
    finally:
        source.spark.conf.unset("spark.wap.branch")
    source.spark.sql(f"CALL glue.system.fast_forward('shop.{source.name}', 'main', 'audit')")
    source.change("ALTER table TABLE DROP BRANCH audit")
    source.merge(5, 20)
    source.load(20)
    assert source.differences(20) == []


def test_a_full_export_without_items_empties_a_table(shop):
    source = shop()
    source.put(1, *(item(f"k{i}") for i in range(7)))
    source.load(5)
    for i in range(7):
        source.delete(6, {"pk": {"S": f"k{i}"}})
    source.load(20)
    source.load(35)
    assert source.differences(35) == []


@pytest.mark.parametrize(
    ("name", "value", "refused", "statement"),
    [
        # Found in a task of a write, where a merge is prepared, where anything is read, and by maintenance alone.
        ("write.parquet.compression-codec", "foo 8", {"merge", "load"}, "UNSET TBLPROPERTIES ('{name}')"),
        ("write.merge.mode", "foo", {"merge"}, "SET TBLPROPERTIES ('{name}' = 'merge-on-read')"),
        ("read.split.target-size", "x", {"merge", "verify"}, "UNSET TBLPROPERTIES ('{name}')"),
        ("write.target-file-size-bytes", "-1", {"maintain"}, "SET TBLPROPERTIES ('{name}' = '268435456')"),
    ],
)
def test_a_value_that_iceberg_does_not_take_is_refused_by_name_with_the_statement_that_mends_it(
    shop, name, value, refused, statement
):
    source = shop()
    source.put(1, *(item(f"k{i}", v=S) for i in range(8)))
    source.load(5)
    source.put(6, item("k1", v={"S": "new"}))
    set_by_somebody(source, "read.split.open-file-cost", "8")  # such a number may stand in what is said of anything
    set_by_somebody(source, "write.note", "")
    set_by_somebody(source, name, value)
    orders = {"merge": source.windows(5, 20), "load": source.full(5), "verify": verify_order(source, 5)}
    orders["maintain"] = source.maintenance(5)
    for job in refused:
        with pytest.raises(PropertyUnfit, match=f"its property {name} says, which is {value}: ") as found:
            source.run(orders[job])
        said = source.report(orders[job])
        assert (said["error"], said["remedy"]) == ("PropertyUnfit", found.value.remedy)
    assert source.state.watermark == minute(5)
    (told,) = re.findall(r"ALTER TABLE `glue`\.`shop`\.`\w+` (.*), then start a run", found.value.remedy)
    assert told == statement.format(name=name)
    source.change(f"ALTER table TABLE {told}")
    for job in ("verify", "maintain", "merge"):
        source.run(orders[job])
    assert source.differences(20) == []


def test_the_statement_can_be_pasted_for_a_table_that_is_called_like_a_number(shop):
    source = shop()
    source.name = f"{source.name.removeprefix('orders')}e5"
    source.put(1, item("a"))
    source.load(5)
    source.put(6, item("b"))
    source.spark.sql(f"ALTER TABLE glue.shop.`{source.name}` SET TBLPROPERTIES ('write.merge.mode' = 'foo')")
    with pytest.raises(PropertyUnfit) as refused:
        source.merge(5, 20)
    source.spark.sql(re.findall(r"ALTER TABLE .*'\)", refused.value.remedy)[0])
    source.merge(5, 20)
    assert source.differences(20) == []
    # Another test holds that nothing lies beside the tests' own tables, which it knows by their names.
    source.spark.sql(f"DROP TABLE glue.shop.`{source.name}` PURGE")
    assert not (source.warehouse / "shop" / source.name).exists()
