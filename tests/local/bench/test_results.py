"""The page of results: a row and a point for everything that was measured, and what it comes to."""

from __future__ import annotations

from datetime import date

import pytest

from local.bench.pieces import LOAD, MERGE, MORE, NARROW, WIDE, WINDOWS, Piece
from local.bench.ratios import Result, ratios
from local.bench.results import Setting, chart_of, line, write_page
from local.bench.work import BOUND, LOCAL_JAVA, OBVIOUS, PLAIN_JAVA, TIDEMARK, Measured, median_of, total_of


def result(kind: str, items: int, way: str, seconds: float, written: int = 1_000_000, raw_bytes: int = 10**9) -> Result:
    """A result that took so long at work, 6 seconds more as a job, half of it warm."""
    measured = Measured(seconds + 6, seconds, seconds / 2, written, 3, 4_000_000, 900_000_000)
    return Result(Piece(kind, items, 5_000, raw_bytes, (), ()), way, measured)


RESULTS = [
    result(LOAD, 1_000_000, TIDEMARK, 26),
    result(LOAD, 1_000_000, BOUND, 20),
    result(LOAD, 1_000_000, OBVIOUS, 39),
    result(MERGE, 1_000_000, TIDEMARK, 4),
    result(MERGE, 1_000_000, BOUND, 3),
    result(MERGE, 1_000_000, OBVIOUS, 12, 90_000_000),
    result(MORE, 1_000_000, TIDEMARK, 6),
    result(WINDOWS, 1_000_000, TIDEMARK, 5),
    result(MERGE, 4_000_000, TIDEMARK, 6),
    result(NARROW, 10, TIDEMARK, 2),
    result(WIDE, 10, TIDEMARK, 8, raw_bytes=2 * 10**9),
]


def test_every_result_has_its_row_and_the_chart_lies_beside_the_page(tmp_path):
    page = tmp_path / "docs" / "benchmarks.md"
    write_page(page, RESULTS, Setting(LOCAL_JAVA, "2 processors", date(2026, 11, 26)))
    rows = page.read_text().split("## Results")[1].splitlines()
    assert len([row for row in rows if row.startswith(("| load", "| merge"))]) == len(RESULTS)
    assert "| load 1,000,000 | the bound | 26.0 | 20.0 | 10.0 | 50.0 | 1.0 | 3 | 4.0 | 900 |" in rows
    assert '`make bench ITEMS="1000000"` on 2026-11-26, on 2 processors.' in page.read_text()
    assert "| load of 1,000,000: tidemark / the bound, whole job | 1.23 | at most 1.3 | yes |" in page.read_text()
    assert (
        "| merge into 1,000,000: the obvious way / tidemark, cold job | 1.80 | at least 2.5 | no |" in page.read_text()
    )
    assert chart_of(page).read_bytes().startswith(b"\x89PNG")


def test_the_page_says_which_java_the_jobs_ran_on(tmp_path):
    pages = {java: tmp_path / f"{java}.md" for java in (LOCAL_JAVA, PLAIN_JAVA)}
    for java, page in pages.items():
        write_page(page, RESULTS, Setting(java, "2 processors", date(2026, 11, 26)))
    here, plain = (page.read_text() for page in pages.values())
    assert '`make bench ITEMS="1000000" BENCH_JAVA=plain` on' in plain
    assert "no archive of its classes is laid ready" in plain
    assert "no archive of its classes" not in here
    assert "All find Java's archive of classes laid ready" in here


@pytest.mark.parametrize(
    ("title", "found", "aim"),
    [
        ("load of 1,000,000: tidemark / the bound, at work", 1.3, ""),
        ("load of 1,000,000: the obvious way / tidemark, whole jobs", 45 / 32, "at least 1"),
        ("load of 1,000,000: the obvious way / tidemark, at work", 1.5, ""),
        ("merge into 1,000,000: the obvious way / tidemark, cold job", 1.8, "at least 2.5"),
        ("merge into 1,000,000: the obvious way / tidemark, warm session", 3, "at least 5"),
        ("merge into 1,000,000: the obvious way / tidemark, bytes written", 90, "at least 50"),
        ("merge into 1,000,000: the obvious way / the bound, cold job", 2, ""),
        ("merge into 1,000,000: the obvious way / the bound, warm session", 4, ""),
        ("merge into 4,000,000 / into 1,000,000", 1.5, "at most 2"),
        ("merge into 1,000,000: 10 times the changes / once", 1.5, "at most 2.5"),
        ("merge into 1,000,000: the same in many windows / once", 1.25, "at most 1.5"),
        ("load by the byte: many attributes / few", 2, "at most 3"),
    ],
)
def test_a_ratio_says_what_was_found_and_what_it_ought_to_be(title, found, aim):
    (ratio,) = (ratio for ratio in ratios(RESULTS) if ratio.title == title)
    assert (ratio.found, ratio.aim) == (pytest.approx(found), aim)


def test_a_ratio_of_what_was_not_measured_is_left_out():
    assert ratios(RESULTS[:2]) == []


def test_a_line_says_what_was_done_and_how_fast():
    assert line(RESULTS[3]).startswith("merge 5,000 into 1,000,000")
    assert "at work     4.0 s" in line(RESULTS[3])


def test_of_several_jobs_seconds_and_bytes_add_up_and_the_most_memory_counts():
    jobs = [Measured(3.0, 2.0, 0.0, 10, 1, 100, 7), Measured(5.0, 4.0, 0.0, 20, 2, 200, 6)]
    assert total_of(jobs) == Measured(8.0, 6.0, 0.0, 30, 3, 300, 7)


def test_of_several_turns_the_median_of_each_number_counts():
    slow, quick, between = (
        Measured(seconds + 2, seconds, 1.0, size, 3, 4, 5) for seconds, size in ((9.0, 10), (2.0, 30), (4.0, 20))
    )
    assert median_of([slow, quick, between]) == Measured(6.0, 4.0, 1.0, 20, 3, 4, 5)
