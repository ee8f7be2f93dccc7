"""Comments that somebody sets on columns: each holds the attribute that it was made from, and no rule passes it by."""

from __future__ import annotations

import pytest

from pipeline.errors import RebuildNeeded
from spark.expressions.wide_items import MANY_SCALARS
from tests.spark.overriding import carry_out, hashed
from tests.spark.sample_items import item
from tests.spark.verifying import differences, verify

pytestmark = pytest.mark.spark


@pytest.fixture
def commented(shop):
    """A table of two items in which somebody has set, changed or emptied the comments of all columns."""
    source = shop()
    ship = {"M": {"Zip-Code": {"S": "1"}}}
    source.put(1, *(item(key, **{"e-mail": {"S": f"{key}@example.com"}, "ship": ship}) for key in "ab"))
    source.load(5)
    for column, comment in {"pk": "the key", "e_mail": "where to write to", "ship": "", "ship.zip_code": "zip"}.items():
        source.spark.sql(f"ALTER TABLE glue.shop.{source.name} ALTER COLUMN {column} COMMENT '{comment}'")
    return source


def test_comments_change_nothing_of_what_columns_hold(commented):
    source = commented
    source.put(6, item("b", **{"e-mail": {"S": "new"}, "ship": {"M": {"Zip-Code": {"S": "2"}}}}))
    report = source.merge(5, 20)
    assert (report["new_columns"], source.differences(20)) == ([], [])
    assert verify(source, 20)["counts"]["equal"] == 2
    source.load(25)
    assert source.differences(25) == []
    assert source.rows()["b"]["e_mail"] == "new"


def test_a_hash_that_is_set_after_a_comment_leaves_no_value_clear(commented):
    source = commented
    source.put(6, item("b", **{"e-mail": {"S": "new"}}))
    with pytest.raises(RebuildNeeded, match="e-mail"):
        carry_out(source, source.windows(5, 20), **{"e-mail": {"hash": True}})
    source.put(21, item("c"))
    carry_out(source, source.full(25), **{"e-mail": {"hash": True}})
    assert source.rows()["b"]["e_mail"] == hashed('{"S":"new"}')


def test_comments_that_are_names_of_other_attributes_are_no_exchange_of_columns(shop):
    source = shop()
    source.put(1, item("a", customer={"S": "c"}, name={"S": "n"}))
    source.load(5)
    table = f"glue.shop.{source.name}"
    source.spark.sql(f"ALTER TABLE {table} ALTER COLUMN customer COMMENT 'name'")
    source.spark.sql(f"ALTER TABLE {table} ALTER COLUMN name COMMENT 'full name'")
    for at in (6, 21):
        source.put(at, item("a", customer={"S": f"c{at}"}, name={"S": "n"}))
        source.merge(at - 1, at + 14)  # the first one commits with these comments, and the second one looks at it
        assert source.differences(at + 14) == []


def test_a_column_of_somebodys_own_that_is_called_like_an_attribute_takes_nothing_from_it(shop):
    source = shop()
    source.put(1, item("a", **{"Total": {"N": "1"}}), item("b"))
    source.load(5)
    for own in ("mine string COMMENT 'pk'", "`Total` string"):
        source.spark.sql(f"ALTER TABLE glue.shop.{source.name} ADD COLUMN {own}")
    source.put(6, item("a", **{"Total": {"N": "2.5"}}))
    source.merge(5, 20)
    assert source.differences(20) == []
    source.load(25)
    assert source.differences(25) == []


def test_columns_of_somebodys_own_that_hold_no_attribute_stay_empty_where_cells_are_packed(shop):
    source, many = shop(), {f"v{i}": {"S": "x"} for i in range(MANY_SCALARS + 1)}
    source.put(1, item("a", **many), item("b"))
    source.load(5)
    # Called like attributes that others hold; under a name of underscores alone none must be found either.
    for column in ("mine bigint COMMENT 'v1'", "yours string COMMENT 'v2'"):
        source.spark.sql(f"ALTER TABLE glue.shop.{source.name} ADD COLUMN {column}")
    source.put(6, item("b", **many, **{"__": {"S": "x"}, "_" * 5: {"S": "y"}}))
    source.merge(5, 20)
    for at in (20, 25):
        assert source.differences(at) == []
        assert [(row["mine"], row["yours"]) for row in source.rows().values()] == [(None, None)] * 2
        assert verify(source, at)["counts"]["equal"] == 2
        source.load(25)
    source.put(26, item("a", **many))
    source.merge(25, 40)
    assert source.differences(40) == []
    source.change("UPDATE TABLE SET yours = 'z', v3 = 'y' WHERE pk = 'a'")
    (wrong,) = differences(source, 40)["differences"]
    assert {value["path"]: value["table"] for value in wrong["values"]} == {"/": '"z"', "/v3": '"y"'}


def test_a_field_that_one_of_those_columns_gets_is_told_and_of_it_no_other_column_is_asked(shop):
    source = shop()
    source.put(1, item("a", v={"S": "x"}), item("b"))
    source.load(5)
    added = ("one string COMMENT 'v'", "two struct<x: string> COMMENT 'v'"), ("two.y string",), ("two.z string",)
    for at, columns in zip((5, 20, 35), added, strict=True):
        for column in columns:
            source.spark.sql(f"ALTER TABLE glue.shop.{source.name} ADD COLUMN {column}")
        source.put(at + 1, item("b", v={"S": str(at)}))
        report = source.load(50) if at == 35 else source.merge(at, at + 15)
        assert [one["column"] for one in report["new_columns"]] == [column.split()[0] for column in columns]
        assert source.differences(at + 15) == []
