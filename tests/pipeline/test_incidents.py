"""One mail per incident: what each kind of tick tells, and what holds for any sequence of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.mails.digest import Digest
from pipeline.mails.incidents import News, after_failure, after_look, all_clear_later, ending, round_works
from pipeline.mails.told import MOST_REMEMBERED, Incident, Kind, Told
from pipeline.planning.horizon import Horizon
from tests.pipeline.world import QUARTER_HOUR, at

OFF, GONE = Kind("PitrOff", "Plan"), Kind("TableNotFound", "Plan")
JOB, BACKFILL = Kind("JobFailed", "RunSparkJob", "update"), Kind("JobFailed", "RunSparkJob", "backfill")
SINCE = at("12:15")
OPEN = Told(Incident(SINCE, at("12:00"), (OFF,)))
OVER = News(Told(), over=OPEN.incident)


def behind(percent: float) -> Horizon:
    """A watermark at 12:00 that so much of a recovery period of ten days has passed since."""
    watermark = at("12:00")
    latest = watermark + timedelta(days=10) * percent / 100
    return Horizon(watermark, latest - timedelta(days=10), latest, 10)


NEAR = behind(1)


def told(*kinds: Kind, level: int = 0) -> Told:
    return Told(Incident(SINCE, at("12:00"), kinds) if kinds else None, level)


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
def test_a_failure_of_the_schedule(before, kind, is_told, after):
    assert after_failure(before, kind, SINCE, NEAR) == News(after, failed=is_told)


def test_each_wish_that_is_given_up_is_told_once_also_within_one_incident():
    halt = Kind("WishGivenUp", "Plan")
    first = after_failure(told(JOB), halt, SINCE, NEAR, "backfill-1")
    assert first == News(replace(told(JOB, halt), given_up="backfill-1"), failed=True)
    assert not after_failure(first.told, halt, SINCE, NEAR, "backfill-1").failed
    second = after_failure(first.told, halt, SINCE, NEAR, "full-2")
    assert second == News(replace(told(JOB, halt), given_up="full-2"), failed=True)
    assert Told.from_text(second.told.to_text()) == second.told
    assert after_failure(second.told, JOB, SINCE, NEAR) == News(second.told)


def test_an_incident_keeps_the_tick_and_the_watermark_it_began_at():
    later = after_failure(OPEN, GONE, at("13:00"), behind(40)).told.incident
    assert (later.since, later.watermark) == (SINCE, at("12:00"))


def test_an_incident_without_a_table_has_no_watermark():
    assert after_failure(Told(), OFF, SINCE, None).told.incident.watermark is None


@pytest.mark.parametrize(
    ("before", "works", "news"),
    [
        pytest.param(OPEN, True, News(Told(), over=OPEN.incident), id="a run that works ends the incident"),
        pytest.param(OPEN, False, News(OPEN), id="paused, or another run at work: nothing is known"),
        pytest.param(Told(), True, News(Told()), id="nothing had failed"),
        pytest.param(Told(), False, News(Told()), id="nothing at all"),
    ],
)
def test_a_look(before, works, news):
    assert after_look(before, works=works, horizon=NEAR) == news


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
        after_look(before, works=False, horizon=behind(percent))
        if looks
        else after_failure(before, OFF, SINCE, behind(percent))
    )
    assert (news.warning, news.safe_again, news.told.level) == (warning, safe_again, after)


def test_a_failure_that_says_that_history_is_lost_needs_no_warning_of_it():
    news = after_failure(told(level=90), Kind("HistoryLost", "Plan"), SINCE, behind(101))
    assert (news.names, news.told.level) == (["Failed"], 100)


def test_where_the_horizon_is_not_known_the_level_stays():
    assert after_look(told(level=75), works=False, horizon=None) == News(told(level=75))


def test_everything_at_once_is_told_at_once():
    digest = Digest(at("20/00:00"), at("21/00:00"), {"merge": 24}, {"read": 5})
    news = after_look(replace(OPEN, level=50), works=True, horizon=NEAR, digest=digest)
    assert news.names == ["IncidentOver", "HistorySafe", "Digest"]
    assert news.told == Told(digested=at("21/00:00"))


@pytest.mark.parametrize(
    ("end", "ticks"), [("12:15", 1), ("12:20", 1), ("12:30", 1), ("12:31", 2), ("12:45", 2), ("22/12:15", 96)]
)
def test_an_incident_costs_the_ticks_before_the_one_that_works(end, ticks):
    assert OPEN.incident.ticks_until(at(end), QUARTER_HOUR) == ticks


@pytest.mark.parametrize(("mode", "works"), [("", True), ("update", True), ("full", True), ("backfill", False)])
def test_a_round_over_old_ground_ends_no_incident(mode, works):
    assert round_works(mode) is works


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"level":"x","digested":""}', '{"incident":1}'])
def test_a_parameter_that_cannot_be_read_counts_as_nothing_told(text):
    assert Told.from_text(text) == Told()


KINDS = st.builds(
    Kind,
    st.sampled_from(["PitrOff", "JobFailed", "HistoryLost", "E" * 150, "États.Ünusual"]),
    st.sampled_from(["Plan", "RunSparkJob", "RecordWatermark"]),
    st.sampled_from(["", "update", "full"]),
)
horizons = st.none() | st.floats(0, 120).map(behind)
#: A tick fails, works, or knows nothing of the table.
ticks = st.lists(st.tuples(KINDS | st.booleans(), horizons), max_size=60)


def lived(ticks: list[tuple[Kind | bool, Horizon | None]]) -> list[tuple[Kind | bool, Told, News]]:
    """Every tick with what was told before it, and its news; what is told goes through the parameter's text."""
    before, history = Told(), []
    for n, (tick, horizon) in enumerate(ticks):
        news = (
            after_look(before, works=tick, horizon=horizon)
            if isinstance(tick, bool)
            else after_failure(before, tick, SINCE + n * QUARTER_HOUR, horizon)
        )
        history.append((tick, before, news))
        before = Told.from_text(news.told.to_text())
        assert before == news.told
        assert len(news.told.to_text()) <= 4096
    return history


@given(ticks)
def test_the_parameter_is_written_only_with_a_mail(ticks):
    for tick, before, news in lived(ticks):
        heard = isinstance(tick, Kind) and tick.error == "HistoryLost"
        assert (news.told != before) == bool(news.names) or heard


@given(ticks)
def test_every_incident_begins_with_a_mail_and_ends_with_one_all_clear(ticks):
    is_open = False
    for tick, _, news in lived(ticks):
        if isinstance(tick, Kind):
            assert news.failed or is_open
            is_open = True
        assert bool(news.over) == (tick is True and is_open)
        is_open = is_open and not news.over


@given(ticks)
def test_no_failure_is_told_twice_in_one_incident_that_remembers_it(ticks):
    said: list[Kind] = []
    for tick, _, news in lived(ticks):
        if news.failed and isinstance(tick, Kind):
            assert tick not in said[-MOST_REMEMBERED:]
            said.append(tick)
        said = [] if news.over else said


@given(ticks)
def test_a_warning_is_mailed_once_a_level_until_the_table_has_caught_up(ticks):
    highest = 0
    for _, _, news in lived(ticks):
        assert not news.warning or news.warning > highest
        assert not (news.warning and news.safe_again)
        highest = 0 if news.safe_again else max(highest, news.warning)


def test_two_failures_that_take_turns_for_a_week_write_twice():
    writes = [news.told != before for _, before, news in lived([(OFF, NEAR), (GONE, NEAR)] * 336)]
    assert sum(writes) == 2


def test_a_failure_after_an_all_clear_whose_record_is_missing_is_another_incident():
    announced = Told.from_text(ending(OPEN, OVER).to_text())
    assert announced.incident.ending
    assert after_failure(announced, OFF, at("14:00"), NEAR) == News(
        Told(Incident(at("14:00"), at("12:00"), (OFF,))), failed=True
    )


def test_an_all_clear_that_is_announced_and_not_recorded_is_told_again():
    assert after_look(ending(OPEN, OVER), works=True, horizon=NEAR).over == ending(OPEN, OVER).incident


OWN, WISHED = Kind("JobFailed", "RunSparkJob", "update"), Kind("VerificationFailed", "RunSparkJob", "verify")


@pytest.mark.parametrize("wished", [WISHED, Kind("Gap", "RunSparkJob", "backfill"), Kind("WishGivenUp", "Plan")])
def test_that_the_table_is_followed_is_no_all_clear_for_what_a_person_wished(wished):
    open_ = Told(Incident(SINCE, None, (wished,)))
    assert after_failure(open_, wished, at("14:00"), None) == News(open_)
    closed = after_look(open_, works=True, horizon=None)
    assert closed == News(Told())
    assert after_failure(closed.told, wished, at("14:00"), None).failed


def test_an_all_clear_for_the_schedule_tells_all_that_had_failed():
    incident = Incident(SINCE, None, (WISHED, OWN))
    assert after_look(Told(incident), works=True, horizon=None) == News(Told(), over=incident)


def test_an_all_clear_that_cannot_be_announced_waits_for_the_next_look():
    later = all_clear_later(after_look(OPEN, works=True, horizon=NEAR), OPEN)
    assert later == News(OPEN)
    assert ending(Told(), News(Told())) == Told()
