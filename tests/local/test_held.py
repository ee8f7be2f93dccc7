"""A local table is changed by one command at a time."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from local.__main__ import main
from local.aws.pitr.offline import FullExport, Put, journal_of, write_exports
from local.failed import Failed
from local.local_table import LocalTable
from pipeline.identity import KeyAttribute, SourceTable

KEY = (KeyAttribute("pk", "S"),)
SOURCE = SourceTable("arn:aws:dynamodb:eu-west-1:111122223333:table/orders", "id-1", KEY)
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


def test_a_replay_leaves_a_table_to_the_command_that_is_changing_it(tmp_path, capsys):
    journal = journal_of(SOURCE, enabled_at=NOON, writes=[Put(NOON + timedelta(minutes=1), {"pk": {"S": "1"}})])
    write_exports(tmp_path / "exports", SOURCE, journal, [FullExport(NOON + timedelta(minutes=10))])
    table = LocalTable("shop", "orders", KEY, tmp_path / "warehouse")
    names = ["--table", "shop.orders", "--key", "pk:S", "--warehouse", str(table.warehouse)]
    with table.alone():
        before = sorted(table.warehouse.rglob("*"))
        assert main(["replay", str(tmp_path / "exports"), *names]) == 1
        assert sorted(table.warehouse.rglob("*")) == before
    said = f"Another command is changing {table.folder}: wait until it has ended, and start this one again.\n"
    assert capsys.readouterr().err == said


def test_a_table_is_free_again_once_the_command_has_ended_however_that_was(tmp_path):
    table, other = (LocalTable("shop", name, KEY, tmp_path) for name in ("orders", "carts"))
    with pytest.raises(KeyError), table.alone():
        raise KeyError
    with table.alone(), other.alone(), pytest.raises(Failed, match="Another command is changing"), table.alone():
        raise AssertionError("two are alone")


def test_where_nothing_can_be_held_it_is_said_where(tmp_path):
    table = LocalTable("shop", "orders", KEY, tmp_path)
    # As for another user's file, or where the disk of another machine takes no locks.
    place = tmp_path / ".held" / "shop" / "orders"
    place.mkdir(parents=True)
    with (
        pytest.raises(Failed, match=f"{re.escape(str(place))} cannot be .*: Is a directory; name another warehouse"),
        table.alone(),
    ):
        raise AssertionError("nothing is held")


def test_a_table_s_name_may_be_as_long_as_a_folder_s(tmp_path):
    table = LocalTable("n" * 255, "t" * 255, KEY, tmp_path)
    with table.alone(), pytest.raises(Failed, match="Another command is changing"), table.alone():
        raise AssertionError("two are alone")


def test_what_a_table_is_kept_for_oneself_by_is_not_written_to(tmp_path):
    """Whoever can put a link into a shared warehouse could have anything of somebody else's emptied."""
    (somebodys := tmp_path / "somebody's").write_text("dear to them")
    (place := tmp_path / ".held" / "shop").mkdir(parents=True)
    (place / "orders").symlink_to(somebodys)
    with LocalTable("shop", "orders", KEY, tmp_path).alone():
        assert somebodys.read_text() == "dear to them"
