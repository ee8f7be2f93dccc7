"""The manual's table of what is tried again says what the definition does."""

from __future__ import annotations

import re

import pytest

from tests.documents import OPERATIONS, section
from tests.statemachine.definition import FUNCTIONS, TASKS

SECTION = section(OPERATIONS, "## What is tried again, and what heals")
ROWS = {
    cells[0].strip("` "): [cell.strip() for cell in cells[1:]]
    for line in SECTION.splitlines()
    if (cells := line.strip("|").split("|")) and line.startswith("| `")
}
OF_FUNCTIONS = re.findall(r"`([\w.]+)`", SECTION.split("A function's own:")[1].split(".\n")[0])


def test_there_is_one_row_for_each_task_in_the_order_of_the_definition():
    assert list(ROWS) == list(TASKS)


@pytest.mark.parametrize("name", TASKS)
def test_a_row_says_what_is_tried_again_how_often_how_long_and_what_comes_then(name):
    tried, times, waits, allowed, then = ROWS[name]
    (retry,), (catch,) = TASKS[name]["Retry"], TASKS[name]["Catch"]
    listed = re.findall(r"`([\w.]+)`", tried) + (OF_FUNCTIONS if name in FUNCTIONS else [])
    assert listed == retry["ErrorEquals"]
    assert int(times) == retry["MaxAttempts"]
    assert waits == f"{retry['IntervalSeconds']}, {retry['MaxDelaySeconds']}"
    assert (retry["BackoffRate"], retry["JitterStrategy"]) == (2, "FULL")
    assert int(allowed) == TASKS[name]["TimeoutSeconds"]
    assert then.strip("`") == catch["Next"]


def test_what_a_function_may_fail_with_in_the_end_is_among_the_names_that_a_mail_may_say():
    told = section(OPERATIONS, "## Names that are no error of ours")
    named = {
        name
        for line in told.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`([\w.]+)`", line.split("|")[1])
    }
    services = {name for name in OF_FUNCTIONS if not name.startswith("Lambda.")}
    assert services <= named, "the row of other names with `Lambda.` covers those of Lambda"
