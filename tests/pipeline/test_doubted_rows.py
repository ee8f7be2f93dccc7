"""Rows that were not what the changes say: told once, over when the table was verified or made anew."""

from __future__ import annotations

from pipeline.horizon import Horizon
from pipeline.incidents import Kind, News, Told, after_failure, after_look, after_round
from tests.pipeline.world import at


def test_rows_that_were_not_what_changes_say_are_told_once_until_the_table_was_verified_or_made_anew():
    told, said = Told(digested=at("14:00")), []
    for job, continuity in [
        ("merge", ""),
        ("merge", "1 had no row"),
        ("merge", "2 had no row"),
        ("backfill", ""),
        ("verify", ""),
        ("verify", ""),
        ("merge", "1 had no row"),
        ("load", ""),
        ("merge", ""),
    ]:
        news = after_round(News(told), {"job": job, "continuity": continuity})
        said.append(news.names)
        assert (news.told != told) == bool(news.names)
        told = Told.from_text(news.told.to_text())
        assert told == news.told
    assert said == [[], ["RowsDoubted"], [], [], ["RowsTrusted"], [], ["RowsDoubted"], ["RowsTrusted"], []]
    assert told == Told(digested=at("14:00"))


def test_a_doubt_outlives_failures_and_looks():
    doubted, horizon = Told(doubted=True), Horizon(at("12:00"), at("01/12:00"), at("13:00"))
    assert after_failure(doubted, Kind("PitrOff", "Plan"), at("12:15"), horizon).told.doubted
    assert after_look(doubted, works=True, horizon=horizon).told == doubted
