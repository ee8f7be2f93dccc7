"""What holds for any sequence of ticks, whatever fails in them: one mail for one incident, one warning for one level."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.mails.incidents import News, after_failure, after_look
from pipeline.mails.told import MOST_REMEMBERED, FailureKind, Told
from pipeline.modes import MAINTAIN
from pipeline.planning.horizon import Horizon
from tests.pipeline.world import QUARTER_HOUR, at, behind, incident

OFF, GONE = FailureKind("PitrOff", "Plan"), FailureKind("TableNotFound", "Plan")
SINCE, NEAR = at("12:15"), behind(1)

KINDS = st.builds(
    FailureKind,
    st.sampled_from(["PitrOff", "JobFailed", "HistoryLost", "E" * 150, "États.Ünusual"]),
    st.sampled_from(["Plan", "RunSparkJob", "RecordWatermark"]),
    st.sampled_from(["", "update", "full"]),
)
horizons = st.none() | st.floats(0, 120).map(behind)
#: A tick fails, works, or knows nothing of the table.
ticks = st.lists(st.tuples(KINDS | st.booleans(), horizons), max_size=60)


def lived(ticks: list[tuple[FailureKind | bool, Horizon | None]]) -> list[tuple[FailureKind | bool, Told, News]]:
    """Every tick with what was told before it, and its news; what is told goes through the parameter's text."""
    before, history = Told(), []
    for n, (tick, horizon) in enumerate(ticks):
        news = (
            after_look(before, SINCE + n * QUARTER_HOUR, works=tick, horizon=horizon)
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
        heard = isinstance(tick, FailureKind) and tick.error == "HistoryLost"
        assert (news.told != before) == bool(news.names) or heard


@given(ticks)
def test_every_incident_begins_with_a_mail_and_ends_with_one_all_clear_or_is_closed_for_a_full_export(ticks):
    is_open = False
    for tick, _, news in lived(ticks):
        if isinstance(tick, FailureKind):
            assert news.failed or is_open
            is_open = True
        assert (bool(news.over) or news.closed) == (tick is True and is_open)
        is_open = is_open and tick is not True


@given(ticks)
def test_no_failure_is_told_twice_in_one_incident_that_remembers_it(ticks):
    said: list[FailureKind] = []
    for tick, _, news in lived(ticks):
        if news.failed and isinstance(tick, FailureKind):
            assert tick not in said[1 - MOST_REMEMBERED :]
            said.append(tick)
        said = [] if tick is True else said


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


def test_where_the_schedule_maintains_no_more_what_failed_in_it_is_closed_without_an_all_clear_and_told_when_it_fails_again():
    failed, own = (FailureKind("JobFailed", "RunSparkJob", mode) for mode in (MAINTAIN, "update"))
    of_both, of_maintenance, of_update = (
        Told(incident("09:00", "12:00", *of)) for of in ([failed, own], [failed], [own])
    )
    off = {"horizon": None, "maintains": False}
    assert after_look(of_maintenance, at("15:00"), works=False, **off) == News(of_maintenance)
    closed = after_look(of_maintenance, at("15:00"), works=True, **off)
    assert closed == News(Told(), closed=True)
    assert after_failure(closed.told, failed, at("16:00"), None).failed
    assert after_look(of_both, at("15:00"), works=True, **off) == News(Told(), over=of_update.incident)
    last = after_look(of_maintenance, at("15:00"), works=True, maintained=True, **off)
    assert last == News(Told(), over=of_maintenance.incident)
