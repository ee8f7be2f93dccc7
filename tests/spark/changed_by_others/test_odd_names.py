"""A column that somebody has renamed so that no job can carry its name stops changes by name, and no full export."""

from __future__ import annotations

import pytest

from pipeline.errors import RebuildNeeded
from tests.spark.sample_items import N, S, item
from tests.spark.verifying import verify_order

pytestmark = pytest.mark.spark


def test_a_full_export_gives_columns_whose_names_no_job_can_carry_readable_ones(shop):
    source = shop()
    source.put(1, item("a", u=N, v=N, w=N, m={"M": {"x": S}}))
    source.load(5)
    for name, odd in (("u", "a.b"), ("v", "#odd"), ("w", "a``b"), ("m.x", "x``y")):
        source.spark.sql(f"ALTER TABLE glue.shop.{source.name} RENAME COLUMN {name} TO `{odd}`")
    source.put(6, item("b", v=N))
    for order in (source.windows(5, 20), verify_order(source, 5)):
        with pytest.raises(RebuildNeeded, match=r"the column of 'u' 'a\.b'"):
            source.run(order)
    source.load(20)
    assert source.differences(20) == []
    assert {"m", "u", "v", "w"} < set(source.rows()["a"])
    source.put(21, item("c", w=N))
    source.merge(20, 35)
    assert source.differences(35) == []


def test_a_key_that_no_job_can_carry_gets_its_name_back(shop):
    source = shop()
    source.put(1, item("a", v=N))
    source.load(5)
    source.spark.sql(f"ALTER TABLE glue.shop.{source.name} RENAME COLUMN pk TO `p.k`")
    source.load(20)
    source.put(21, item("b", v=N))
    source.merge(20, 35)
    assert source.differences(35) == []
    assert {"pk", "v"} < set(source.rows()["a"])


@pytest.mark.parametrize(
    "change",
    [
        pytest.param("ADD COLUMN `{}` timestamp COMMENT 'v'", id="a column of somebody's own"),
        pytest.param("RENAME COLUMN v TO `{}`", id="an attribute's"),
    ],
)
@pytest.mark.parametrize("name", ["_deleted", "__row_from_source"])
def test_with_a_column_called_as_engines_call_theirs_no_job_works_until_a_full_export_has_renamed_it(
    shop, name, change
):
    source = shop()
    source.put(1, item("a", v=N))
    source.load(5)
    source.change(f"alter table TABLE {change.format(name)}")
    source.put(6, item("b", v=N))
    for order in (source.windows(5, 20), source.maintenance(5), verify_order(source, 5)):
        with pytest.raises(RebuildNeeded, match=f"somebody has called a column '{name}'"):
            source.run(order)
    source.load(20)
    assert source.differences(20) == []
    own = {f"{name}_2"} if change.startswith("ADD") else set()
    assert set(source.rows()["a"]) == {"pk", "v", "_write_time", "_misfits"} | own
    source.put(21, item("c", v=N))
    source.merge(20, 35)
    source.maintain(35)
    assert source.differences(35) == []


def test_columns_of_somebodys_own_that_no_job_can_carry_are_all_made_readable_by_one_full_export(shop):
    source = shop()
    source.put(1, item("a", **{"u": S, "a.b": N}))
    source.load(5)
    source.spark.sql(f"ALTER TABLE glue.shop.{source.name} RENAME COLUMN a_b TO `c.d`")
    own = ("`x.y` string COMMENT 'u'", "`z.w` bigint COMMENT 'u'", "`a.b` string")
    own += ("mine struct<on: date, text: string> COMMENT 'u'",)
    for column in own:
        source.spark.sql(f"ALTER TABLE glue.shop.{source.name} ADD COLUMN {column}")
    source.load(20)
    assert source.differences(20) == []
    assert set(source.rows()["a"]) == {"pk", "u", "a_b", "x_y", "z_w", "a_b_2", "mine", "_write_time", "_misfits"}
    source.put(21, item("c", **{"u": N, "a.b": N}))
    source.merge(20, 35)
    assert source.differences(35) == []
