"""When maintenance is due, what it keeps, what the planner makes of it, and what the mails say."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from pipeline.errors import error_names
from pipeline.instants import format_instant
from pipeline.mails.incidents import News, after_failure, after_look
from pipeline.mails.success import is_told_at_once, success_mail
from pipeline.mails.told import FailureKind, Told
from pipeline.modes import FULL, MAINTAIN, VERIFY
from pipeline.planning.actions import Export, Halt, Idle, describe
from pipeline.planning.execution_input import wish_text
from pipeline.planning.planner import next_action
from pipeline.planning.rules import Rules
from pipeline.prices import estimate
from pipeline.table.maintenance import COUNTED, is_due, lines, may_remove, oldest_kept
from pipeline.table.marker import JOB, JOB_ID, MAINTAINED, WATERMARK, Commit, Marker, TableState, read_table_state
from tests.pipeline.rounds import done, failed
from tests.pipeline.world import (
    ARN,
    DEPLOYMENT,
    HOUR,
    ME,
    SOURCE,
    at,
    claim,
    incident,
    plan,
    seen,
    table,
    takes_over,
    wish,
)

DAY = timedelta(days=1)
#: As maintenance is planned under claim 7.
FOUND = plan("12:00", MAINTAIN, attempt=7)


def loaded(first: str, watermark: str, maintained: str = "") -> TableState:
    """A table whose oldest commit stands at one instant and its newest at another."""
    markers = (Marker(at(end), at(first), "merge", "job", ARN, SOURCE.id, {}) for end in (watermark, first))
    commits = tuple(Commit(marker, marker.to_properties()) for marker in markers)
    return replace(table(watermark), commits=commits, maintained=at(maintained) if maintained else None)


def after(world, mode="update", every=DAY):
    """What a run does."""
    return next_action(world, wish(mode), Rules(HOUR, maintain_every=every))


@pytest.mark.parametrize(
    ("state", "due"),
    [
        (loaded("20/12:00", "12:00"), True),
        (loaded("20/12:01", "12:00"), False),
        (loaded("01/12:00", "12:00", maintained="20/12:00"), True),
        (loaded("01/12:00", "12:00", maintained="20/13:00"), False),
        pytest.param(loaded("01/12:00", "12:00", maintained="22/12:00"), False, id="rolled back since"),
        pytest.param(TableState(exists=False), False, id="no table"),
    ],
)
def test_it_is_due_when_a_day_of_history_has_come_in_since_it_was_begun_or_since_the_load(state, due):
    assert is_due(state, DAY) is due
    assert not is_due(state, timedelta())


def test_what_is_overdue_waits_for_no_more_windows():
    restorable = "09:00-13:00"
    assert after(seen(shows=loaded("19/12:01", "12:00"), restorable=restorable)).plan == plan("12:00 13:00")
    overdue = seen(shows=loaded("19/12:00", "12:00"), restorable=restorable)
    assert after(overdue).plan == plan("12:00", MAINTAIN, attempt=1)
    tried = seen(shows=overdue.table, restorable=restorable, claim=claim(FOUND, refused_with="JobFailed"))
    assert after(tried).plan == plan("12:00 13:00")


def test_the_schedule_maintains_a_table_when_nothing_has_closed():
    world = seen(shows=loaded("20/12:00", "12:00"), restorable="09:00-12:30")
    action = after(world)
    assert action == Export(plan("12:00", MAINTAIN, attempt=1), 1)
    assert (describe(action)["kind"], describe(action)["exports"]) == ("Maintain", [])
    merged = replace(world, claim=claim(plan("11:00 12:00")))
    assert after(merged) == Export(plan("12:00", MAINTAIN, attempt=8), 8), "what has just been merged is no maintenance"
    assert after(seen(shows=world.table)).plan == plan("12:00 13:00")
    assert after(world, every=timedelta()).reason == "UpToDate"
    assert after(seen(shows=world.table, restorable="09:00-12:30", recorded="")).kind == "Record"


@pytest.mark.parametrize(
    "left",
    [
        pytest.param(claim(FOUND, reported=True), id="done"),
        pytest.param(claim(FOUND, number=8), id="taken over once already, and its job died without a word again"),
        *(pytest.param(claim(FOUND, refused_with=name), id=name) for name in sorted(error_names())),
    ],
)
def test_it_is_tried_once_at_a_watermark_and_never_in_the_way_of_the_schedule(left):
    state = loaded("20/12:00", "12:00")
    assert after(seen(shows=state, restorable="09:00-12:30", claim=left)).reason == "UpToDate"
    assert after(seen(shows=state, restorable="09:00-13:00", claim=left)).plan == plan("12:00 13:00")
    rolled_back = seen(shows=loaded("20/11:00", "11:00"), restorable="09:00-11:30", claim=left)
    assert after(rolled_back).plan == plan("11:00", MAINTAIN, attempt=left.number + 1)


@pytest.mark.parametrize("mode", ["update", MAINTAIN])
def test_one_whose_run_died_is_finished_by_the_next(mode):
    world = seen("12:00", "09:00-15:00", claim=claim(FOUND))
    assert after(world, mode) == takes_over(world)


def test_a_full_export_does_not_wait_for_it():
    world = seen("12:00", "09:00-15:00", claim=claim(FOUND))
    assert next_action(world, wish(FULL), Rules(HOUR)) == Export(plan("15:00", FULL, 8), 8)


def test_a_person_may_ask_for_it_at_any_time_each_time_anew():
    asked = after(seen("12:00", "09:00-15:00", claim=claim(FOUND, reported=True)), MAINTAIN)
    assert asked == Export(plan("12:00", MAINTAIN, attempt=8), 8)
    assert after(seen(claim=claim(FOUND, owner=ME)), MAINTAIN) == Export(FOUND, 7, adopted=True)
    fulfilled = after(seen(claim=claim(FOUND, owner=ME, reported=True)), MAINTAIN)
    assert (type(fulfilled), fulfilled.reason) == (Idle, "WishFulfilled")
    refused = after(seen("", "09:00-13:00"), MAINTAIN)
    assert isinstance(refused, Halt)
    assert (refused.error, refused.message) == ("InputRefused", "there is no table yet to maintain")
    assert wish_text({"table": "orders", "mode": "maintain"}) == '{"table":"orders","mode":"maintain"}'


def test_it_exports_nothing_and_costs_no_export():
    assert (FOUND.requests, FOUND.is_full, FOUND.end) == ((), False, at("12:00"))
    assert estimate(FOUND, 10**12).usd == 0
    assert FOUND.job_id != plan("12:00", VERIFY, attempt=7).job_id


def snapshots(*watermarks: str, job: str = "merge"):
    """The metadata of a table with a commit for each, oldest first, a second apart."""
    marked = {"tidemark.start": format_instant(at("01/00:00")), "tidemark.source-arn": ARN}
    marked |= {"tidemark.source-id": SOURCE.id, JOB: job}
    commits = [
        {
            "snapshot-id": number,
            "parent-snapshot-id": number - 1 if number > 1 else None,
            "timestamp-ms": number * 1000,
            "summary": {**marked, JOB_ID: f"{job}-{number}", WATERMARK: format_instant(at(text))} if text else {},
        }
        for number, text in enumerate(watermarks, 1)
    ]
    return {"snapshots": commits, "current-snapshot-id": len(commits), "properties": {}}


@pytest.mark.parametrize(
    ("watermarks", "kept_from"),
    [
        (("10/12:00", "13/12:00", "14/11:00", "14/13:00", "21/12:00"), 3),
        (("10/12:00", "14/12:00", "14/12:00", "21/12:00"), 3),
        pytest.param(("10/12:00", "", "21/12:00"), 1, id="what is unmarked in between goes with what is before it"),
        pytest.param(("15/12:00", "21/12:00"), None, id="all are younger"),
    ],
)
def test_every_instant_of_a_week_can_still_be_looked_at(watermarks, kept_from):
    found = oldest_kept(snapshots(*watermarks), at("12:00"), timedelta(days=7))
    assert found == (kept_from and kept_from * 1000)


def test_when_it_was_begun_stands_in_a_property_of_the_table():
    metadata = snapshots("20/12:00", "12:00")
    assert read_table_state(metadata).maintained is None
    metadata["properties"][MAINTAINED] = "2026-11-21T12:00:00Z"
    assert read_table_state(metadata).maintained == at("12:00")


COUNTS = dict(zip(COUNTED, (120, 16, 34_500_000, 96, 24, 150, 2), strict=True))


def test_what_was_done_is_told_in_words():
    assert lines(COUNTS) == [
        "Files written together: 120 became 16 (34.5 MB); 96 delete files went.",
        "Snapshots that expired: 24, with 150 files.",
        "Orphan files, of jobs that died: 2.",
    ]


def test_where_somebody_has_set_that_all_is_kept_it_is_told_that_nothing_was_let_go():
    removed = ("snapshots_expired", "files_expired", "orphans_removed")
    assert lines({name: count for name, count in COUNTS.items() if name not in removed}) == [
        "Files written together: 120 became 16 (34.5 MB); 96 delete files went.",
        "No snapshots and orphan files were let go: the table's property gc.enabled is false.",
    ]


@pytest.mark.parametrize(
    ("properties", "may"),
    [({}, True), ({"gc.enabled": "TRUE"}, True), ({"gc.enabled": "false"}, False), ({"gc.enabled": "no"}, False)],
)
def test_what_is_no_true_keeps_all_as_iceberg_reads_it(properties, may):
    assert may_remove({"properties": properties}) is may


def test_the_mail_says_what_was_done():
    mail = success_mail(done(FOUND, "maintain", COUNTS), DEPLOYMENT)
    assert mail.subject == "[Tidemark] OK orders: maintained, at 2026-11-21T12:00:00Z"
    assert mail.text.startswith("Put the files of database.orders in order; every row is as it was.\n")
    assert all(line in mail.text for line in lines(COUNTS))


@pytest.mark.parametrize(
    ("success_mail_at", "by_person", "is_told"),
    [("every_run", False, True), ("daily", False, False), ("never", True, True)],
)
def test_what_the_schedule_maintains_is_told_as_its_other_work_is(success_mail_at, by_person, is_told):
    event = done(FOUND, "maintain", COUNTS)
    event["plan"] = {**event["plan"], "success_mail": success_mail_at}
    if by_person:
        event["input"] = {"table": "orders", "mode": "maintain"}
    assert is_told_at_once(event) is is_told


def test_the_mail_of_one_that_failed_says_that_every_row_is_as_it_was():
    mail = failed("JobFailed", planned={"kind": "Maintain", "table": "orders", "mode": "maintain"}, reported=True)
    text = mail.text
    assert text.startswith("JobFailed in RunSparkJob, while maintaining orders.\n")
    left = "This failure has left the table's rows and its watermark as they were"
    assert f"{left}; some of its files may be in order already." in text
    assert "The schedule goes on, and maintains the table again when that is due." in text
    assert "What to do: Nothing to do: the table is maintained again when that is due." in text
    assert mail.facts["command"].endswith(""" --input '{"table":"orders","mode":"maintain"}'""")


def _open(*kinds: FailureKind) -> Told:
    return Told(incident("09:00", "12:00", *kinds))


def test_an_incident_of_maintenance_alone_is_over_when_that_succeeds():
    failed = FailureKind("JobFailed", "RunSparkJob", MAINTAIN)
    own = FailureKind("JobFailed", "RunSparkJob", "update")
    of_maintenance, of_both, of_update = _open(failed), _open(failed, own), _open(own)
    assert after_look(of_maintenance, at("15:00"), works=True, horizon=None) == News(of_maintenance)
    over = after_look(of_maintenance, at("15:00"), works=False, horizon=None, maintained=True)
    assert over == News(Told(), over=of_maintenance.incident)
    maintained = after_look(of_both, at("15:00"), works=False, horizon=None, maintained=True)
    assert maintained == News(of_update, over=of_maintenance.incident)
    followed = after_look(of_both, at("15:00"), works=True, horizon=None)
    assert followed == News(of_maintenance, over=of_update.incident)
    assert after_failure(followed.told, failed, at("13:00"), None) == News(of_maintenance)
