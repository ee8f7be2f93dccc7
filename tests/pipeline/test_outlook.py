"""What the states that mail make of what a plan has told them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from pipeline.mails.digest import Digest
from pipeline.mails.failure_names import Failure
from pipeline.mails.outlook import after_failed_tick, after_idle, after_round, outlook
from pipeline.mails.told import FailureKind, Told
from pipeline.modes import FULL, MAINTAIN
from pipeline.planning.actions import describe
from pipeline.planning.planner import next_action
from pipeline.planning.rules import Rules
from pipeline.settings import TableSettings
from pipeline.table.marker import Commit, Marker
from tests.pipeline.rounds import OUTLOOK, done, failed
from tests.pipeline.world import ARN, ME, OTHER, at, claim, full, incident, plan, seen, table, update, wish

TOO_SHORT, OFF = FailureKind("RecoveryTooShort", "Plan"), FailureKind("PitrOff", "Plan")
IDLE = {
    "input": {"table": "orders", "scheduled_time": "2026-11-21T13:00:00Z"},
    "plan": {**OUTLOOK, "works": True, "maintained": False, "maintains": True},
}


def told(*kinds: FailureKind) -> Told:
    return Told(incident("12:15", "12:00", *kinds))


def test_a_round_ends_what_failed_but_not_that_the_source_keeps_too_little_history():
    news = after_round(told(OFF, TOO_SHORT), done(plan("12:00 13:00")))
    assert (news.over, news.told) == (incident("12:15", "12:00", OFF), told(TOO_SHORT))
    assert after_round(told(TOO_SHORT), done(plan("12:00 13:00"))).names == []


def test_that_it_keeps_enough_a_table_shows_that_is_up_to_date():
    assert after_idle(told(TOO_SHORT), IDLE, None).over == incident("12:15", "12:00", TOO_SHORT)


def test_history_that_is_lost_is_made_good_by_the_full_export_and_not_by_the_parameter_before_it():
    """Who has rolled the table back to before its history types the command of the mail, and the run begins with a Record."""
    lost, corrected = told(FailureKind("HistoryLost", "Plan")), done()
    world = seen("08:00", recorded="12:00")
    assert full(world).kind == "Record"
    corrected["plan"] = {**OUTLOOK, **describe(full(world)), "table": "orders"}
    assert after_round(lost, corrected).names == []
    assert after_round(lost, done(plan("13:00", FULL), job="load")).over == lost.incident


def test_days_that_were_summed_up_meanwhile_are_not_summed_up_again():
    day = Digest(at("20/00:00"), at("21/00:00"), {"merge": 1}, {})
    assert after_idle(Told(), IDLE, day).digest == day
    assert after_idle(replace(Told(), digested=day.end), IDLE, day).names == []


def looked(world, rebuilds=False):
    """What a scheduled run tells of a world, and its news once more when they are mailed."""
    settings = TableSettings("orders", "orders", on_lost_history="rebuild" if rebuilds else "halt")
    told = outlook(wish(), world, update(world), settings, Told(), at("14:00"))
    assert told["news"] == after_idle(Told(), {**IDLE, "plan": told}, None).names
    return told


ANEW = plan("13:00", FULL)


@pytest.mark.parametrize("control", ["RUN", "PAUSE"])
def test_while_a_full_export_makes_lost_history_good_nobody_is_told_to_ask_for_another(control):
    at_work = claim(ANEW, owner=OTHER, owner_runs=True)
    assert looked(seen("12:00", "12:30-14:00", claim=at_work, control=control))["news"] == []


@pytest.mark.parametrize(
    "world",
    [
        pytest.param(seen("12:00", "12:30-14:00", claim=claim(plan("12:00 13:00"), owner_runs=True)), id="an update"),
        pytest.param(seen("12:00", "12:30-14:00", claim=claim(ANEW), control="PAUSE"), id="its run has died"),
        pytest.param(seen("12:00", "12:30-14:00", claim=claim(ANEW, owner=ME), control="PAUSE"), id="nobody goes on"),
        pytest.param(
            seen(
                shows=table("12:00", done=(ANEW,)),
                restorable="12:30-14:00",
                claim=claim(ANEW, owner_runs=True),
            ),
            id="it was lost once more",
        ),
        pytest.param(seen("12:00", "12:00:00.001-14:00", control="PAUSE"), id="by a thousandth of a second"),
    ],
)
def test_else_lost_history_is_warned_of(world):
    assert looked(world)["news"] == ["HistoryShort"]


def test_a_full_export_at_work_hides_no_history_that_runs_out():
    world = seen("12:00", "20/12:30-22/08:00", claim=claim(ANEW, owner_runs=True))
    world = replace(world, source=replace(world.source, recovery_days=1))
    assert looked(world)["news"] == ["HistoryShort"]


def test_the_mails_know_whether_the_table_rebuilds_itself():
    world = seen("12:00", "09:00-12:30")
    assert (looked(world)["rebuilds"], looked(world, rebuilds=True)["rebuilds"]) == (False, True)


@pytest.mark.parametrize("error", ["DataFileMissing", "OverrideContradicted"])
def test_a_full_export_that_a_person_has_tried_again_is_not_said_to_be_given_up_where_the_table_needs_it(error):
    """What its job had refused for good is tried anew by then, for as long as it takes."""
    refused = replace(claim(plan("13:00", FULL, 7), refused_with=error), tries=3)
    world = seen("12:00", "12:30-14:00", claim=refused)
    settings = TableSettings("orders", "orders", on_lost_history="rebuild")
    assert not outlook(wish(), world, update(world), settings, Told(), at("14:00"))["rebuilds"]
    asked = outlook(wish(FULL), world, full(world), settings, Told(), at("14:00"))
    planned = {**describe(full(world)), **asked, "table": "orders"}
    assert "given up" not in failed("JobFailed", asked={"mode": FULL}, planned=planned).text


def test_what_a_run_tells_in_the_place_of_another_is_news_though_its_end_is_recorded():
    halt = {"kind": "Halt", "table": "orders", "mode": "verify", "ends": "verify-1", "asked": ""}
    known = replace(told(FailureKind("VerificationFailed", "Plan", "verify")), ended="verify-1")
    failure = Failure("Plan", "VerificationFailed", "They differ.", "Read them.")
    news = after_failed_tick(known, {**IDLE, "plan": halt}, failure, None)
    assert (news.names, news.told.ended) == (["Failed"], "verify-1")


def test_a_parameter_that_cannot_be_corrected_makes_nobody_forget_whose_end_was_told():
    record = {"kind": "Record", "table": "orders", "mode": "", "fulfils": False}
    known = replace(Told(), ended="verify-1")
    failure = Failure("RecordWatermark", "PermissionMissing", "It was denied.", "Allow it.")
    news = after_failed_tick(known, {**IDLE, "plan": record}, failure, None)
    assert (news.names, news.told.ended) == (["Failed"], "verify-1")


@pytest.mark.parametrize("dry_run", [False, True])
def test_days_are_summed_up_before_maintenance_lets_their_commits_go(dry_run):
    markers = (
        Marker(at(f"21/{hour}:00"), at(f"21/{hour - 1}:00"), "merge", f"job-{hour}", ARN, "id", {"read": 1})
        for hour in (14, 13, 12)
    )
    commits = tuple(Commit(marker, marker.to_properties()) for marker in markers)
    shows = replace(table("30/00:00"), commits=commits, maintained=at("21/00:00"))
    world = seen(shows=shows, restorable="20/00:00-30/00:10")
    asked, settings = replace(wish(), dry_run=dry_run), TableSettings("orders", "orders", success_mail="daily")
    action = next_action(world, asked, Rules(timedelta(hours=1), maintain_every=timedelta(days=1)))
    assert describe(action)["mode"] == "maintain"
    told = Told(digested=at("21/00:00"), incident=incident("21/12:15", "12:00", OFF), level=50)
    plan = outlook(asked, world, action, settings, told, at("30/00:15"))
    assert plan["digest"]["jobs"] == {"merge": 3}
    assert plan["news"] == ([] if dry_run else ["Digest"]), "the rest is told when it is done"
    event = {**IDLE, "plan": {**describe(action), **plan}}
    assert after_idle(told, event, Digest.from_json(plan["digest"])).names == ["Digest"]
    assert outlook(asked, world, action, settings, replace(told, digested=at("30/00:00")), at("30/00:15"))["news"] == []


@pytest.mark.parametrize(("maintain_days", "names"), [(1, []), (0, ["IncidentClosed"])])
def test_what_failed_in_maintenance_is_closed_by_a_table_that_is_up_to_date_where_the_schedule_maintains_no_more(
    maintain_days, names
):
    known, world = told(FailureKind("JobFailed", "RunSparkJob", MAINTAIN)), seen("13:00", "20/00:00-13:30")
    settings = TableSettings("orders", "orders", maintain_days=maintain_days)
    looked_at = outlook(wish(), world, update(world), settings, known, at("14:00"))
    assert (looked_at["works"], looked_at["news"]) == (True, names)
    assert after_idle(known, {**IDLE, "plan": looked_at}, None).names == names
