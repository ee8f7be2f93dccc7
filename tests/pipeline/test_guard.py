"""Whether an order may be carried out: a table of states and orders."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from pipeline.errors import Gap, KeyMismatch, OtherTable, OtherTableId, Overlap, TableGone, WatermarkMissing
from pipeline.identity import KeyAttribute, SourceTable
from pipeline.job_order import JobOrder
from pipeline.mails.failure import failure_mail
from pipeline.mails.failure_names import Failure
from pipeline.modes import BACKFILL, MAINTAIN, UPDATE, VERIFY
from pipeline.planning.actions import Export
from pipeline.planning.planner import next_action
from pipeline.planning.rules import Rules
from pipeline.table.guard import check_follows, check_key, compared_snapshot, is_done
from pipeline.table.marker import NO_TABLE, Marker, TableState
from tests.pipeline.rounds import done
from tests.pipeline.world import ARN, DEPLOYMENT, HOUR, at, claim, plan, seen, wish


def minute(count: int) -> datetime:
    """So many minutes after noon."""
    return at("12:00") + timedelta(minutes=count)


SOURCE = SourceTable(ARN, "id-1", (KeyAttribute("pk", "S"),))
MARKER = Marker(minute(60), minute(40), "merge", "merge-1", ARN, "id-1", {})
AT_SIXTY = TableState(exists=True, marker=MARKER, job_ids=frozenset({"load-0", "merge-1"}))


def order(job: str, start: int, end: int, job_id: str = "new", source: SourceTable = SOURCE) -> JobOrder:
    exports = () if job == MAINTAIN else ("s3://b/x",)
    return JobOrder(job, job_id, "glue.db.t", source, exports, minute(start), minute(end), 4, "s3://b/r")


@pytest.mark.parametrize(
    ("state", "wanted", "done"),
    [
        pytest.param(AT_SIXTY, order("merge", 60, 80), False, id="the next window"),
        pytest.param(AT_SIXTY, order("merge", 40, 60, "merge-1"), True, id="the same job again"),
        pytest.param(AT_SIXTY, order("load", 0, 0, "load-0"), True, id="an older job again"),
        pytest.param(AT_SIXTY, order("merge", 40, 60), True, id="the same window under another id"),
        pytest.param(AT_SIXTY, order("backfill", 10, 60), False, id="a backfill up to the watermark"),
        pytest.param(AT_SIXTY, order("backfill", 40, 60), False, id="a backfill of what was merged last"),
        pytest.param(AT_SIXTY, order("load", 90, 90), False, id="a rebuild"),
        pytest.param(NO_TABLE, order("load", 90, 90), False, id="a first load"),
    ],
)
def test_an_order_is_done_or_may_be_carried_out(state, wanted, done):
    assert is_done(state, wanted) is done


def test_rows_are_looked_for_by_the_key_that_the_table_tells():
    told = {"properties": {"tidemark.key": '["pk"]'}}
    check_key(told, order(VERIFY, 60, 60))
    other = replace(SOURCE, key=(*SOURCE.key, KeyAttribute("sk", "N")))
    with pytest.raises(KeyMismatch, match=r"the rows of .* are not found by the key pk:S, sk:N"):
        check_key(told, order(VERIFY, 60, 60, source=other))


@pytest.mark.parametrize(
    ("state", "wanted", "error"),
    [
        pytest.param(AT_SIXTY, order("merge", 80, 100), Gap, id="a window too late"),
        pytest.param(AT_SIXTY, order("merge", 45, 80), Overlap, id="a window that starts too early"),
        pytest.param(AT_SIXTY, order("merge", 20, 40), Overlap, id="a window long past"),
        pytest.param(AT_SIXTY, order("merge", 20, 60), Overlap, id="a window that only ends as the last one did"),
        pytest.param(AT_SIXTY, order("backfill", 10, 40), Overlap, id="a backfill that stops short"),
        pytest.param(AT_SIXTY, order("backfill", 10, 80), Gap, id="a backfill beyond the watermark"),
        pytest.param(AT_SIXTY, order("merge", 60, 80, source=replace(SOURCE, arn=ARN + "2")), OtherTable, id="arn"),
        pytest.param(AT_SIXTY, order("merge", 60, 80, source=replace(SOURCE, id="id-2")), OtherTableId, id="id"),
        pytest.param(
            AT_SIXTY, order("merge", 40, 60, source=replace(SOURCE, id="id-2")), OtherTableId, id="another's window"
        ),
        pytest.param(NO_TABLE, order("merge", 60, 80), TableGone, id="no table"),
        pytest.param(TableState(exists=True), order("merge", 60, 80), WatermarkMissing, id="no watermark"),
    ],
)
def test_an_order_that_does_not_fit_is_refused(state, wanted, error):
    with pytest.raises(error):
        is_done(state, wanted)


@pytest.mark.parametrize(
    ("state", "wanted", "error"),
    [
        pytest.param(AT_SIXTY, order(MAINTAIN, 80, 80), Gap, id="a table that was rolled back since"),
        pytest.param(AT_SIXTY, order(MAINTAIN, 40, 40), Overlap, id="one that others have brought forward since"),
        pytest.param(AT_SIXTY, order(MAINTAIN, 60, 60, source=replace(SOURCE, id="id-2")), OtherTableId, id="another"),
        pytest.param(NO_TABLE, order(MAINTAIN, 60, 60), TableGone, id="no table"),
    ],
)
def test_only_the_table_that_was_meant_is_maintained(state, wanted, error):
    check_follows(AT_SIXTY, order(MAINTAIN, 60, 60))
    with pytest.raises(error):
        check_follows(state, wanted)


def test_a_verification_looks_at_the_newest_snapshot_that_shows_the_table_at_its_instant_or_refuses():
    summaries = [replace(MARKER, watermark=minute(40)).to_properties(), MARKER.to_properties(), {}]
    snapshots = [
        {"snapshot-id": id_, "parent-snapshot-id": id_ - 1, "summary": said} for id_, said in enumerate(summaries, 1)
    ]
    metadata = {"snapshots": snapshots, "current-snapshot-id": 3}
    shown = [compared_snapshot(metadata, order(VERIFY, at_, at_)) for at_ in (60, 40)]
    assert shown == [3, 1]
    for wanted, error in (
        (order(VERIFY, 50, 50), Overlap),
        (order(VERIFY, 80, 80), Gap),
        (order(VERIFY, 60, 60, source=replace(SOURCE, id="id-2")), OtherTableId),
    ):
        with pytest.raises(error):
            compared_snapshot(metadata, wanted)


@pytest.mark.parametrize("rebuilds", [False, True])
@pytest.mark.parametrize("wished", [plan("12:00 13:00"), plan("12:00 13:00", BACKFILL, 7), plan("13:00", MAINTAIN, 7)])
def test_a_table_that_was_dropped_since_it_was_planned_costs_nobody_a_full_export_by_hand(wished, rebuilds):
    """As two of the mails advise to do: the next run makes it anew, and the mail of the job that met no table says so."""
    mail, anew = dropped_for(wished, rebuilds)
    assert mail.facts["heals_by_itself"]
    assert "does by itself: The next run makes the table anew from a full export by itself." in mail.text
    assert ("It then shows what the backfill was to bring.\n" in mail.text) is (wished.mode == BACKFILL)
    assert "What to do: Nothing to do: the next scheduled run makes the table anew from a full export.\n" in mail.text
    assert "There is no table any more; this run has brought nothing into it.\n" in mail.text
    assert mail.facts["command"].endswith("""--input '{"table":"orders"}'""")
    assert "a person must act" not in mail.text
    assert (anew.plan.mode, anew.plan.is_full) == (UPDATE, True)


def test_a_verification_of_a_table_that_was_dropped_is_to_be_asked_for_once_there_is_one():
    mail, anew = dropped_for(plan("13:00", VERIFY, 7), rebuilds=False)
    assert "does by itself: The next run makes the table anew from a full export by itself.\n" in mail.text
    assert "What to do: Ask for it again once the table is up to date.\n" in mail.text
    assert mail.facts["command"].endswith("""--input '{"table":"orders","mode":"verify"}'""")
    assert (anew.plan.mode, anew.plan.is_full) == (UPDATE, True)


def dropped_for(planned, rebuilds):
    """The mail of a run whose job has met no table, and what the next one does, which finds it told."""
    with pytest.raises(TableGone, match="does not exist any more") as refused:
        is_done(NO_TABLE, order(planned.job, 0, 60))
    refusal = refused.value
    failure = Failure("RunSparkJob", refusal.name, refusal.message, refusal.remedy, reported=True)
    mail = failure_mail(done(planned), failure, DEPLOYMENT)
    world = seen("", claim=claim(planned, refused_with=refusal.name))
    action = next_action(replace(world, told_end=mail.facts["wish_ended"]), wish(), Rules(HOUR, rebuilds=rebuilds))
    assert isinstance(action, Export), "one mail is enough"
    return mail, action
