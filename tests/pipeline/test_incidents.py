"""One mail per incident: what each kind of tick tells, and what holds for any sequence of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.mails.digest import Digest
from pipeline.mails.incidents import News, after_failure, after_look, all_clear_later, ending, round_works
from pipeline.mails.told import MOST_REMEMBERED, FailureKind, Told
from pipeline.table.continuity import Rows
from tests.pipeline.world import QUARTER_HOUR, at, behind, incident

OFF, GONE = FailureKind("PitrOff", "Plan"), FailureKind("TableNotFound", "Plan")
JOB, BACKFILL = FailureKind("JobFailed", "RunSparkJob", "update"), FailureKind("JobFailed", "RunSparkJob", "backfill")
SINCE, LATER = at("12:15"), at("14:00")
OPEN = Told(incident("12:15", "12:00", OFF))
OVER = News(Told(), over=OPEN.incident)


NEAR = behind(1)


def told(*kinds: FailureKind, level: int = 0) -> Told:
    return Told(incident("12:15", "12:00", *kinds) if kinds else None, level)


@pytest.mark.parametrize(
    ("before", "kind", "is_told", "after"),
    [
        pytest.param(Told(), OFF, True, told(OFF), id="the first failure opens the incident"),
        pytest.param(told(OFF), OFF, False, told(OFF), id="the same again is silence"),
        pytest.param(told(OFF), GONE, True, told(OFF, GONE), id="another error is a change"),
        pytest.param(
            told(OFF), replace(OFF, state="StartExports"), True, told(OFF, replace(OFF, state="StartExports")),
            id="the same error in another state is a change",
        ),
        pytest.param(told(JOB), BACKFILL, True, told(JOB, BACKFILL), id="the same error of other work is a change"),
        pytest.param(told(OFF, GONE), OFF, False, told(OFF, GONE), id="to and fro between two that are told is silence"),
    ],
)  # fmt: skip
def test_a_failure_is_mailed_unless_the_same_was_in_this_incident(before, kind, is_told, after):
    assert after_failure(before, kind, SINCE, NEAR) == News(after, failed=is_told)


def test_each_wish_that_is_given_up_is_told_once_also_within_one_incident():
    halt = FailureKind("WishGivenUp", "Plan")
    first = after_failure(told(JOB), halt, SINCE, NEAR, "backfill-1")
    assert first == News(replace(told(JOB, halt), ended="backfill-1"), failed=True)
    assert not after_failure(first.told, halt, SINCE, NEAR, "backfill-1").failed
    second = after_failure(first.told, halt, SINCE, NEAR, "full-2")
    assert second == News(replace(told(JOB, halt), ended="full-2"), failed=True)
    assert Told.from_text(second.told.to_text()) == second.told
    assert after_failure(second.told, JOB, SINCE, NEAR) == News(second.told)


@pytest.mark.parametrize(("used", "warning"), [(80, 75), (101, 0)])
def test_with_a_wish_that_is_given_up_because_history_is_lost_no_warning_of_the_same_comes(used, warning):
    news = after_failure(Told(), FailureKind("WishGivenUp", "Plan"), SINCE, behind(used), "backfill-1")
    assert (news.warning, news.told.level) == (warning, warning or 100)


@pytest.mark.parametrize(
    ("kind", "cannot"),
    [
        (FailureKind("PermissionMissing", "RecordWatermark"), True),
        (FailureKind("PermissionMissing", "RecordWatermark", "update"), False),
        (FailureKind("PermissionMissing", "Plan"), False),
    ],
)
def test_that_only_the_parameter_could_not_be_corrected_is_remembered_until_something_works(kind, cannot):
    failed = after_failure(told(JOB), kind, SINCE, NEAR).told
    assert failed.cannot_record is cannot
    assert not after_look(failed, LATER, works=True, horizon=NEAR).told.cannot_record


def test_an_incident_keeps_the_tick_and_the_watermark_it_began_at():
    later = after_failure(OPEN, GONE, at("13:00"), behind(40)).told.incident
    assert (later.first.since, later.first.watermark) == (SINCE, at("12:00"))


def test_an_incident_without_a_table_has_no_watermark():
    assert after_failure(Told(), OFF, SINCE, None).told.incident.first.watermark is None


@pytest.mark.parametrize(
    ("before", "works", "news"),
    [
        pytest.param(OPEN, True, News(Told(), over=OPEN.incident), id="a run that works ends the incident"),
        pytest.param(OPEN, False, News(OPEN), id="paused, or another run at work: nothing is known"),
        pytest.param(Told(), True, News(Told()), id="nothing had failed"),
        pytest.param(Told(), False, News(Told()), id="nothing at all"),
    ],
)
def test_only_a_run_that_works_ends_an_incident(before, works, news):
    assert after_look(before, LATER, works=works, horizon=NEAR) == news


@pytest.mark.parametrize(
    ("level", "percent", "warning", "safe_again", "after"),
    [
        pytest.param(0, 49, 0, False, 0, id="no need to worry"),
        pytest.param(0, 50, 50, False, 50, id="half"),
        pytest.param(50, 74, 0, False, 50, id="told already"),
        pytest.param(50, 75, 75, False, 75, id="the next level"),
        pytest.param(0, 95, 90, False, 90, id="a jump is one mail"),
        pytest.param(90, 60, 0, False, 90, id="nearer but not caught up: the warning still holds"),
        pytest.param(75, 10, 0, True, 0, id="caught up"),
        pytest.param(90, 101, 100, False, 100, id="lost while nobody could fail of it"),
    ],
)
@pytest.mark.parametrize("looks", [True, False], ids=["looking", "failing"])
def test_the_horizon_is_warned_of_once_a_level(looks, level, percent, warning, safe_again, after):
    before = told(OFF, level=level)
    news = (
        after_look(before, LATER, works=False, horizon=behind(percent))
        if looks
        else after_failure(before, OFF, SINCE, behind(percent))
    )
    assert (news.warning, news.safe_again, news.told.level) == (warning, safe_again, after)


def test_a_failure_that_says_that_history_is_lost_needs_no_warning_of_it():
    news = after_failure(told(level=90), FailureKind("HistoryLost", "Plan"), SINCE, behind(101))
    assert (news.names, news.told.level) == (["Failed"], 100)


def test_where_the_horizon_is_not_known_the_level_stays():
    assert after_look(told(level=75), LATER, works=False, horizon=None) == News(told(level=75))


def test_everything_at_once_is_told_at_once():
    digest = Digest(at("20/00:00"), at("21/00:00"), {"merge": 24}, {"read": 5})
    news = after_look(replace(OPEN, level=50), LATER, works=True, horizon=NEAR, digest=digest)
    assert news.names == ["IncidentOver", "HistorySafe", "Digest"]
    assert news.told == Told(digested=at("21/00:00"))


@pytest.mark.parametrize(
    ("end", "ticks"), [("12:15", 1), ("12:20", 1), ("12:30", 1), ("12:31", 2), ("12:45", 2), ("22/12:15", 96)]
)
def test_an_incident_costs_the_ticks_before_the_one_that_works(end, ticks):
    assert OPEN.incident.ticks_until(at(end), QUARTER_HOUR) == ticks


@pytest.mark.parametrize(("mode", "works"), [("", False), ("update", True), ("full", True), ("backfill", False)])
def test_a_round_over_old_ground_or_of_a_parameter_alone_ends_no_incident(mode, works):
    assert round_works(mode) is works


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", '{"level":"x","digested":""}', '{"incident":1}', '{"level":Infinity}', "[" * 4_096],
    ids=range(9),
)
def test_a_parameter_that_cannot_be_read_counts_as_nothing_told(text):
    assert Told.from_text(text) == Told()


def test_a_failure_after_an_all_clear_whose_record_is_missing_is_another_incident():
    announced = Told.from_text(ending(OPEN, OVER).to_text())
    assert announced.incident.ending
    assert after_failure(announced, OFF, at("14:00"), NEAR) == News(Told(incident("14:00", "12:00", OFF)), failed=True)


def test_an_all_clear_that_is_announced_and_not_recorded_is_told_again():
    assert after_look(ending(OPEN, OVER), LATER, works=True, horizon=NEAR).over == ending(OPEN, OVER).incident


WISHED = FailureKind("VerificationFailed", "RunSparkJob", "verify")


@pytest.mark.parametrize(
    "wished", [WISHED, FailureKind("Gap", "RunSparkJob", "backfill"), FailureKind("WishGivenUp", "Plan")]
)
def test_that_the_table_is_followed_is_no_all_clear_for_what_a_person_wished(wished):
    open_ = Told(incident("12:15", "", wished))
    assert after_failure(open_, wished, at("14:00"), None) == News(open_)
    closed = after_look(open_, LATER, works=True, horizon=None)
    assert closed == News(Told(), closed=True)
    assert closed.names == ["IncidentClosed"], "else nobody would record it, and the same would be silent"
    assert after_failure(closed.told, wished, at("14:00"), None).failed


def test_an_all_clear_does_not_speak_of_what_a_person_wished_and_the_schedule_had_failed_at_before():
    open_ = after_failure(Told(incident("11:00", "10:00", WISHED)), JOB, SINCE, behind(0)).told
    assert after_look(open_, LATER, works=True, horizon=None) == News(Told(), over=incident("12:15", "12:00", JOB))


FULL = FailureKind("JobFailed", "RunSparkJob", "full")


@pytest.mark.parametrize(
    ("trusted", "is_over"),
    [
        pytest.param("", False, id="nothing is known of the rows"),
        pytest.param("11:00", False, id="the table is the one that it was to replace"),
        pytest.param("12:00", False, id="which had got no further"),
        pytest.param("13:00", True, id="it was made anew since, by whichever run"),
    ],
)
def test_a_full_export_is_over_only_where_one_was_carried_out(trusted, is_over):
    open_, rows = Told(incident("12:15", "12:00", FULL)), Rows(trusted=at(trusted) if trusted else None)
    news = after_look(open_, LATER, works=True, horizon=None, rows=rows)
    assert (news.over, news.closed) == (open_.incident if is_over else None, not is_over)
    assert news.told.incident is None


def test_a_full_export_of_a_table_that_was_not_there_is_over_once_it_is():
    open_ = Told(incident("12:15", "", FULL))
    assert after_look(open_, LATER, works=True, horizon=None, rows=Rows(trusted=at("12:00"))).over == open_.incident


def test_a_full_export_that_is_given_up_is_closed():
    given_up = Told(incident("12:15", "", FULL, FailureKind("WishGivenUp", "Plan")), ended="full-1")
    assert after_look(given_up, LATER, works=True, horizon=None).names == ["IncidentClosed"]


@pytest.mark.parametrize(("began", "is_over"), [("09:00", False), ("12:14", False), ("12:15", True), ("12:30", True)])
def test_a_run_that_has_worked_since_before_a_failure_does_not_end_it(began, is_over):
    news = after_look(OPEN, at(began), works=True, horizon=NEAR)
    assert news == (OVER if is_over else News(OPEN))


def test_of_an_incident_only_what_failed_before_the_run_began_is_over():
    both = after_failure(OPEN, JOB, at("14:30"), behind(1)).told
    news = after_look(both, LATER, works=True, horizon=NEAR)
    assert (news.over, news.told.incident.kinds) == (OPEN.incident, (JOB,))


def test_what_holds_a_table_up_is_neither_a_wish_nor_maintenance():
    others = [WISHED, FailureKind("WishGivenUp", "Plan"), FailureKind("JobFailed", "RunSparkJob", "maintain")]
    assert incident("12:15", "", OFF, JOB, *others).hindrance == JOB
    assert incident("12:15", "", *others).hindrance == others[-1]


def test_more_failures_than_are_remembered_leave_the_first_which_tells_since_when():
    found = Told()
    for n in range(MOST_REMEMBERED + 5):
        found = after_failure(found, FailureKind(f"Error{n}", "Plan"), SINCE + n * QUARTER_HOUR, NEAR).told
    assert len(found.incident.kinds) == MOST_REMEMBERED
    assert (found.incident.first.kind.error, found.incident.first.since) == ("Error0", SINCE)
    assert found.incident.kinds[-1].error == f"Error{MOST_REMEMBERED + 4}"


def test_an_all_clear_that_cannot_be_announced_waits_for_the_next_look():
    later = all_clear_later(after_look(OPEN, LATER, works=True, horizon=NEAR), OPEN)
    assert later == News(OPEN)
    assert ending(Told(), News(Told())) == Told()
