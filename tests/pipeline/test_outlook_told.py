"""What a plan tells of a world, value by value, and what the mails after a round make of that."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from pipeline.events import PlanEvent
from pipeline.mails.digest import Digest
from pipeline.mails.failure_names import Failure
from pipeline.mails.outlook import after_failed_tick, after_idle, after_round, outlook
from pipeline.mails.told import FailureKind, Told
from pipeline.modes import FULL, MAINTAIN, VERIFY
from pipeline.planning.actions import MAINTAINS, Action
from pipeline.planning.horizon import Horizon
from pipeline.planning.observation import Observation
from pipeline.settings import TableSettings
from pipeline.table.continuity import Doubt, Rows
from pipeline.table.marker import Commit, Marker, TableState
from tests.pipeline.rounds import OUTLOOK, done
from tests.pipeline.world import ARN, OTHER, at, behind, claim, full, incident, plan, seen, table, update, wish

NOTHING_TOLD = Told()
IDLE = {"input": {"table": "orders", "scheduled_time": "2026-11-21T13:00:00Z"}, "plan": OUTLOOK}


def looked(world: Observation, action: Action | None = None, told: Told = NOTHING_TOLD, **said: object) -> PlanEvent:
    """What is told of a world by the run that does what follows from it, or something else; `said` by the settings."""
    settings = TableSettings("orders", "orders", **said)
    return outlook(wish(), world, action or update(world), settings, told, at("14:00"))


def committed(job: str, end: str, added: int = 1) -> Commit:
    """A commit of a job that was to insert one row; `added` is what Iceberg has counted."""
    counts = {"read": 1, "inserted": 1, "updated": 0, "deleted": 0}
    marker = Marker(at(end), at(end) - timedelta(hours=1), job, f"{job}-{end}", ARN, "id-of-orders", counts)
    return Commit(marker, {**marker.to_properties(), "operation": "append", "added-records": str(added)})


def showing(*commits: Commit) -> TableState:
    """A table of these commits, newest first."""
    return replace(table("13:00"), commits=commits)


def test_what_the_settings_say_is_told():
    told = looked(seen("13:00", "20/00:00-13:30"), success_mail="daily", tick_minutes=5, maintain_days=0)
    assert (told["success_mail"], told["tick_minutes"], told["maintains"]) == ("daily", 5, False)
    assert looked(seen("13:00", "20/00:00-13:30"))["maintains"] is True


def test_where_work_will_leave_the_table_is_told_by_its_end():
    history = "20/00:00-13:30"
    assert (
        looked(seen("11:00", history))["history_after"] == Horizon(at("13:00"), at("20/00:00"), at("13:30")).to_json()
    )
    assert looked(seen("13:00", history))["history_after"] == {}


def test_what_the_table_s_commits_say_of_its_rows_is_told_and_news_where_there_is_no_work():
    loaded, doubtful = committed("load", "12:00"), committed("merge", "13:00", added=2)
    assert (
        looked(seen(shows=showing(loaded), restorable="20/00:00-13:30"))["rows"] == Rows(trusted=at("12:00")).to_json()
    )
    world = seen(shows=showing(doubtful, loaded), restorable="20/00:00-13:30")
    told = looked(world)
    assert (Rows.from_json(told["rows"]).doubt.job_id, told["news"]) == ("merge-13:00", ["RowsDoubted"])
    assert after_idle(Told(), {**IDLE, "plan": told}, None).names == ["RowsDoubted"]


@pytest.mark.parametrize(
    ("mail", "other", "control", "news"),
    [
        pytest.param("daily", None, "RUN", ["Digest"], id="up to date"),
        pytest.param("daily", plan("22/00:00 22/01:00"), "RUN", ["Digest"], id="another run is always at work"),
        pytest.param("every_run", None, "RUN", [], id="each run is mailed"),
        pytest.param("daily", None, "PAUSE", [], id="paused"),
    ],
)
def test_days_are_summed_up_by_runs_without_work_of_their_own(mail, other, control, news):
    commits = (committed("merge", "22/00:00"), committed("merge", "21/13:00"), committed("load", "20/23:00"))
    shows = replace(table("22/00:00"), commits=commits)
    latest, at_work = ("22/01:30", claim(other, owner_runs=True)) if other else ("22/00:00", None)
    world = seen(shows=shows, restorable=f"20/00:00-{latest}", claim=at_work, control=control)
    assert looked(world, told=Told(digested=at("21/00:00")), success_mail=mail)["news"] == news


def test_a_run_at_work_is_told_of_only_where_it_is_why_there_is_nothing_to_do():
    at_work = claim(plan("12:00 13:00"), owner_runs=True)
    assert looked(seen("12:00", "20/00:00-14:00", claim=at_work))["at_work"] == OTHER
    assert looked(seen("12:00", "20/00:00-14:00", claim=at_work, control="PAUSE"))["at_work"] == ""
    assert not looked(seen("12:00", "", claim=at_work))["pitr_off"], "that run fails for it"


def test_a_table_does_not_rebuild_itself_where_that_would_be_lost_again():
    lost, rebuilds = seen("20/12:00", "20/13:00-12:00"), {"on_lost_history": "rebuild"}
    assert looked(lost, **rebuilds)["rebuilds"]
    a_day = replace(lost, source=replace(lost.source, recovery_days=1))
    assert looked(a_day, **rebuilds)["rebuilds"]
    assert not looked(a_day, **rebuilds, window_minutes=1440)["rebuilds"], "no window of a day can be exported in time"
    anew = plan("20/12:00", FULL)
    marker = Marker(at("20/12:00"), at("20/12:00"), "load", anew.job_id, ARN, "id-of-orders", {})
    shows = TableState(exists=True, marker=marker, job_ids=frozenset({anew.job_id}))
    late = replace(a_day, table=replace(shows, committed_at=at("21/12:00")), claim=claim(anew, 0))
    assert not looked(late, **rebuilds)["rebuilds"], "its load took a day"
    in_time = replace(a_day, table=replace(shows, committed_at=at("20/14:00")), claim=claim(anew, 0))
    assert looked(in_time, **rebuilds)["rebuilds"]


def test_a_full_export_that_was_refused_for_good_rebuilds_nothing_while_windows_are_merged():
    refused = replace(claim(plan("12:00", FULL, 7), refused_with="KeyDoesNotFit"), tries=3)
    world = replace(seen("11:00", "20/13:00-12:00", claim=refused), told_end=refused.plan.job_id)
    assert not looked(world, on_lost_history="rebuild")["rebuilds"]
    assert looked(replace(world, claim=None), on_lost_history="rebuild")["rebuilds"]


@pytest.mark.parametrize(("control", "is_off"), [("RUN", False), ("PAUSE", True)])
def test_a_table_that_is_not_there_yet_has_no_history(control, is_off):
    first = claim(plan("13:00", FULL), owner_runs=True)
    told = looked(seen("", "" if is_off else "20/00:00-14:00", claim=first, control=control))
    assert (told["history"], told["pitr_off"], told["news"]) == ({}, is_off, [])


@pytest.mark.parametrize("watermark", ["13:00", "14:00", "15:00"])
def test_all_history_of_a_paused_table_has_gone_with_its_recovery(watermark):
    told = looked(seen(watermark, "", control="PAUSE"))
    assert (told["pitr_off"], Horizon.from_json(told["history"]).is_lost) == (True, True)
    assert told["news"] == ["HistoryShort"]


def test_a_table_that_is_not_paused_fails_without_recovery_and_one_that_is_paused_may_have_it():
    halted, paused = looked(seen("13:00", "")), looked(seen("13:00", "20/00:00-13:30", control="PAUSE"))
    assert [(told["pitr_off"], bool(told["history"])) for told in (halted, paused)] == [(False, False), (False, True)]


def test_a_run_with_work_leaves_the_news_to_its_end():
    known = Told(level=50)
    assert looked(seen("13:00", "20/00:00-13:30"), told=known)["news"] == ["HistorySafe"]
    assert looked(seen("12:00", "20/00:00-13:30"), told=known)["news"] == []
    two_days_old = replace(table("22/12:00"), commits=(committed("merge", "22/00:00"), committed("load", "20/23:00")))
    world = seen(shows=two_days_old, restorable="20/00:00-22/13:30")
    told = looked(world, told=Told(digested=at("21/00:00")), success_mail="daily")
    assert (told["digest"], told["news"]) == ({}, [])


def test_maintenance_ends_what_had_failed_in_it_when_it_is_carried_out_and_when_that_is_found():
    failed = Told(incident("12:15", "12:00", FailureKind("JobFailed", "RunSparkJob", MAINTAIN)))
    assert after_round(failed, done(plan("13:00", MAINTAIN), job="maintain")).over == failed.incident
    assert after_round(failed, done(plan("12:00 13:00"))).over is None
    world = seen("13:00", "20/00:00-13:30", claim=claim(plan("13:00", MAINTAIN), reported=True))
    assert looked(world, told=failed)["news"] == ["IncidentOver"]


@pytest.mark.parametrize(("mode", "bounds", "is_told"), [(VERIFY, "13:00", True), ("update", "12:00 13:00", False)])
def test_the_end_of_what_a_person_has_asked_for_is_remembered_as_told(mode, bounds, is_told):
    event = done(plan(bounds, mode), job="verify" if is_told else "merge")
    known = replace(Told(), ended="another")
    assert after_round(known, event).told.ended == (event["plan"]["job_id"] if is_told else "another")


def test_the_end_of_a_verification_that_has_failed_is_remembered_as_told():
    planned = {"kind": "Export", "table": "orders", "mode": VERIFY, "job_id": "verify-1", "claim": 7, "attempt": 7}
    failure = Failure("ReadReport", "VerificationFailed", "They differ.", "Read them.", reported=True)
    news = after_failed_tick(Told(), {**IDLE, "plan": planned}, failure, None)
    assert (news.names, news.told.ended) == (["Failed"], "verify-1")
    assert after_failed_tick(news.told, {**IDLE, "plan": planned}, failure, None).names == []


def test_of_a_round_s_rows_its_report_tells_and_else_the_table_what_a_run_has_left_that_died():
    doubt = Doubt(at("12:00"), "merge-12", "1 had no row.")
    merged, loaded = done(plan("12:00 13:00")), done(plan("13:00", FULL), job="load")
    for event in (merged, loaded):
        event["plan"]["rows"] = Rows(doubt=doubt).to_json()
    assert after_round(Told(), merged).doubt == doubt
    assert after_round(Told(), loaded).told.trusted == at("13:00")
    merged["report"]["continuity"] = "2 had no row."
    assert after_round(Told(), merged).doubt == Doubt(at("13:00"), merged["report"]["job_id"], "2 had no row.")


def test_a_round_that_has_caught_up_ends_the_warning():
    event = done(plan("12:00 13:00"))
    event["plan"]["history_after"] = Horizon(at("13:00"), at("20/00:00"), at("13:30")).to_json()
    assert after_round(Told(level=50), event).names == ["HistorySafe"]
    event["plan"]["history_after"] = event["plan"]["history"] = behind(60).to_json()
    assert after_round(Told(level=50), event).names == []


def test_days_that_are_summed_up_before_maintenance_are_told_as_such():
    day = Digest(at("20/00:00"), at("21/00:00"), {"merge": 1}, {})
    event = {**IDLE, "plan": {**OUTLOOK, "kind": MAINTAINS}}
    news = after_idle(Told(), event, day)
    assert (news.names, news.told.digested) == (["Digest"], day.end)


def test_the_history_after_a_full_export_is_that_of_its_new_source():
    world = seen("", "20/00:00-13:30")
    assert looked(world, full(world))["history"] == {}
    assert looked(world, full(world))["history_after"]["earliest"] == "2026-11-20T00:00:00Z"
