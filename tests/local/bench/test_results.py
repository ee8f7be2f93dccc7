"""The page of results: a row and a point for everything that was measured."""

from __future__ import annotations

from local.bench.results import Result, chart_of, line, write_page
from local.bench.work import OBVIOUS, TIDEMARK, Measured

RESULTS = [
    Result(
        way,
        items,
        index,
        5000 if index >= 0 else items,
        700 * items,
        Measured(seconds, 2_000_000, 3, 4_000_000, memory, items),
    )
    for way, seconds, memory in ((TIDEMARK, 10.0, 900_000_000), (OBVIOUS, 20.0, 0))
    for items in (1_000, 10_000)
    for index in (-1, 0)
]


def test_every_result_has_its_row_and_the_chart_lies_beside_the_page(tmp_path):
    page = tmp_path / "docs" / "benchmarks.md"
    write_page(page, RESULTS, "2 processors")
    rows = [row for row in page.read_text().splitlines() if row.startswith(("| load", "| merge"))]
    assert len(rows) == len(RESULTS)
    assert "| load 10,000 | 10,000 | tidemark | 10.0 | 0.7 | 2.0 | 3 | 4.0 | 900 |" in rows
    assert rows[-1].endswith("| unknown |")
    assert chart_of(page).read_bytes().startswith(b"\x89PNG")


def test_a_line_says_what_was_done_and_how_fast():
    assert line(RESULTS[1]).startswith("merge 5,000 into 1,000")
    assert "10.0 s" in line(RESULTS[1])
