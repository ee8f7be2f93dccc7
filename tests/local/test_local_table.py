"""What a table in a folder is held to before any job begins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from local.__main__ import main
from local.failed import Failed
from local.local_table import LocalTable
from pipeline.identity import KeyAttribute

KEY = (KeyAttribute("pk", "S"),)


def with_metadata(table: LocalTable, location: str) -> LocalTable:
    """The table, with a metadata file that says where it lies."""
    (folder := table.folder / "metadata").mkdir(parents=True)
    (folder / "v1.metadata.json").write_text(json.dumps({"location": location, "properties": {}}))
    return table


@pytest.mark.parametrize("location", ["file:///elsewhere/shop/orders", "file:/elsewhere/shop/orders", "s3://b/orders"])
@pytest.mark.parametrize("asked", [lambda t: t.state, lambda t: t.marker, LocalTable.check_key])
def test_a_table_that_lies_elsewhere_by_its_own_word_is_refused(tmp_path, location, asked):
    """A job on a copy would write to the folder of the first, and remove what that one needs."""
    table = with_metadata(LocalTable("shop", "orders", KEY, tmp_path), location)
    with pytest.raises(Failed, match="orders is a copy, or was moved: the table's files are those of "):
        asked(table)


def test_maintain_touches_nothing_of_the_table_that_it_is_a_copy_of(tmp_path, capsys):
    table = with_metadata(LocalTable("shop", "orders", KEY, tmp_path / "copy"), f"file://{tmp_path}/first/shop/orders")
    before = sorted(tmp_path.rglob("*"))
    assert main(["maintain", "--table", "shop.orders", "--warehouse", str(table.warehouse)]) == 1
    assert f"those of {tmp_path}/first/shop/orders, " in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_table_that_was_moved_and_is_still_found_by_its_name_is_in_its_place(tmp_path: Path):
    table = with_metadata(LocalTable("shop", "orders", KEY, tmp_path / "now"), f"file://{tmp_path}/before/shop/orders")
    (tmp_path / "before").symlink_to(tmp_path / "now")
    for way in ("now", "before"):
        assert LocalTable("shop", "orders", KEY, tmp_path / way).state.exists
    assert table.state.marker is None


def test_no_two_tables_have_their_reports_in_one_place(tmp_path):
    """Two may follow one source, with other columns or by a wrong key: the report of one's load was that of the other's."""
    tables = [LocalTable(*names, KEY, tmp_path) for names in (("shop", "orders"), ("shop", "carts"), ("old", "orders"))]
    assert len({table.report("replay-load-1") for table in tables}) == 3
