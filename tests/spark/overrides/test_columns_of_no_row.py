"""Columns that a job has made ready, and no row has come to, hold nothing that a new setting could be held against."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from pipeline.columns.in_table.table_columns import Columns, current_schema
from spark.iceberg.table import Table
from tests.spark.overriding import carry_out, hashed
from tests.spark.sample_items import N, S, item
from tests.spark.shop import Killed
from tests.spark.verifying import verify_order

pytestmark = pytest.mark.spark


def test_a_hash_on_a_new_attribute_is_taken_again_where_no_row_has_come_to_its_column(shop):
    source, said = shop(), {"phone": {"hash": True}}
    source.put(1, item("a", v=N))
    source.load(5)
    loaded = source.metadata["current-snapshot-id"]
    source.put(6, item("b", phone=S))
    order = source.windows(5, 25)
    evolve = Table.evolve

    def killed_when_it_has(table: Table, columns: Columns) -> None:
        evolve(table, columns)
        raise Killed

    with patch.object(Table, "evolve", killed_when_it_has), pytest.raises(Killed):
        carry_out(source, order, **said)
    assert "phone" in [field["name"] for field in current_schema(source.metadata)["fields"]]
    assert carry_out(source, verify_order(source, 5), **said)["result"] == "0 differences"
    assert carry_out(source, order, **said)["counts"]["inserted"] == 1
    source.roll_back(loaded)
    assert carry_out(source, source.windows(5, 25), **said)["counts"]["inserted"] == 1
    assert source.rows()["b"]["phone"] == hashed('{"S":"x"}')
