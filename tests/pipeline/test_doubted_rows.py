"""Rows that were not what the changes say: told once, over when the table was verified or made anew."""

from __future__ import annotations

from pipeline.horizon import Horizon
from pipeline.incidents import Kind, News, Told, after_failure, after_look, after_round, all_clear_later, ending
from pipeline.instants import format_instant
from tests.pipeline.world import at


def report(job: str, continuity: str, watermark: str = "13:00") -> dict[str, str]:
    """What is handed on of a job's report."""
    return {"job": job, "continuity": continuity, "watermark": format_instant(at(watermark))}


def test_rows_that_were_not_what_changes_say_are_told_once_until_the_table_was_verified_or_made_anew():
    told, said = Told(digested=at("14:00")), []
    rounds = [
        ("merge", ""),
        ("merge", "1 had no row"),
        ("merge", "2 had no row"),
        ("backfill", ""),
        ("verify", ""),
        ("verify", ""),
        ("merge", "1 had no row"),
        ("load", ""),
        ("merge", ""),
    ]
    for hour, (job, continuity) in enumerate(rounds, 10):
        news = after_round(News(told), report(job, continuity, f"{hour}:00"))
        said.append(news.names)
        assert (news.told != told) == bool(news.names)
        told = Told.from_text(news.told.to_text())
        assert told == news.told
    assert said == [[], ["RowsDoubted"], [], [], ["RowsTrusted"], [], ["RowsDoubted"], ["RowsTrusted"], []]
    assert told == Told(digested=at("14:00"), trusted=at("17:00"))


def test_a_doubt_outlives_failures_and_looks():
    doubted, horizon = Told(doubted=True), Horizon(at("12:00"), at("01/12:00"), at("13:00"))
    assert after_failure(doubted, Kind("PitrOff", "Plan"), at("12:15"), horizon).told.doubted
    assert after_look(doubted, works=True, horizon=horizon).told == doubted


def test_a_doubt_that_was_settled_is_not_told_again_where_an_old_report_is_handed_on():
    settled = after_round(News(Told(doubted=True)), report("verify", "")).told
    assert after_round(News(settled), report("merge", "1 had no row")).names == []
    assert after_round(News(settled), report("merge", "1 had no row", "14:00")).names == ["RowsDoubted"]


def test_that_a_doubt_is_settled_is_recorded_before_it_is_mailed_or_waits():
    before = Told(doubted=True)
    news = after_round(News(before), report("verify", ""))
    assert ending(before, news) == news.told == Told(trusted=at("13:00"))
    assert all_clear_later(news, before) == News(before)
    doubt = after_round(News(Told()), report("merge", "1 had no row"))
    assert (ending(Told(), doubt), all_clear_later(doubt, Told())) == (Told(), doubt)
