"""The main path on the deployed state machine: bootstrap, increments, idle; every mail and every record accounted for."""

from __future__ import annotations

import json

import pytest

from local import reader, story

pytestmark = [pytest.mark.local_aws, pytest.mark.spark, pytest.mark.deployed]


def test_the_table_follows_the_source_to_idle_and_the_mail_accounts_for_every_record(world):
    first = world.bootstrap()
    assert world.differences() == []

    world.work(orders=60)
    world.pass_minutes(60)
    run = world.run()
    assert run["status"] == "SUCCEEDED", run.get("cause")
    assert json.loads(run["output"])["reason"] == "UpToDate"

    assert world.watermark() > first
    assert world.differences() == []
    (_, loaded), (start, _) = world.windows()
    assert start == loaded == first

    mail = world.aws.outbox()[-1]
    *_, sent, idle = story.sentences(world.deployed.history(run["executionArn"]))
    assert sent == f"Mail sent: {mail['Subject']}"
    assert idle.startswith(f"Idle. The table is at {world.watermark()}; nothing has closed since.")
    assert mail["To"] == "data-team@example.com"
    counts = {name: int(value) for name, value in _counts(world.snapshots()[-1])}
    accounted = ("inserted", "updated", "deleted", "already_there", "unknown_deletes", "transient", "folded")
    assert counts["read"] == sum(counts.get(name, 0) for name in accounted)
    assert f"{counts['inserted']} inserted" in mail.get_content()
    (_, report) = world.reports()
    assert {name: count for name, count in report["counts"].items() if name in counts} == counts
    (gift,) = [new for new in report["new_columns"] if new["path"] == "/gift"]
    assert f"  gift: struct, {gift['count']} values, such as that of {gift['example']}\n" in mail.get_content()
    orders = len(list(reader.scan_source(world.aws, "orders")))
    assert (counts["inserted"] > 0, 60 + counts["inserted"] - counts["deleted"]) == (True, orders)

    reports, snapshots = world.reports(), world.snapshots()
    assert world.tell_again() == "SUCCESS"
    assert (world.reports(), world.snapshots()) == (reports, snapshots)


def test_a_table_that_is_up_to_date_is_left_alone(world):
    world.bootstrap()
    snapshots, mails, exports = world.snapshots(), len(world.aws.outbox()), world.exports()

    assert world.succeed()["reason"] == "UpToDate"

    assert world.snapshots() == snapshots
    assert world.exports() == exports
    assert len(world.aws.outbox()) == mails


def _counts(summary):
    prefix = "tidemark.count."
    return [(name[len(prefix) :], value) for name, value in summary.items() if name.startswith(prefix)]
