"""The state machine's README says what the definition does: the same states, ways and variables."""

from __future__ import annotations

import re

import pytest

from pipeline.errors import error_names
from tests.statemachine.definition import ENDS, MACHINE, ROOT, STATES, variables_read, ways_out

README = (ROOT / "statemachine" / "README.md").read_text()
ROWS = {
    cells[0].strip("` "): [cell.strip() for cell in cells[1:]]
    for line in README.splitlines()
    if (cells := line.strip("|").split("|")) and line.startswith("| `")
}


def named(cell: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", cell))


def test_there_is_one_row_for_each_state_in_the_order_of_the_definition():
    assert list(ROWS) == list(STATES)


@pytest.mark.parametrize("name", STATES)
def test_a_row_names_the_variables_its_state_needs_and_assigns(name):
    assigned = {variable for _, variables in ways_out(STATES[name]) for variable in variables}
    assert named(ROWS[name][1]) == variables_read(STATES[name])
    if name not in {"Plan", "ChooseAction"}:  # their failure is in every task's Catch, and in the row of NotifyFailure
        assert named(ROWS[name][2]) == assigned - ({"failure"} if name != "NotifyFailure" else set())


def test_a_row_names_only_errors_and_states_that_exist():
    assert {error for row in ROWS.values() for error in named(row[3])} <= set(error_names()) | set(STATES)


def test_the_picture_shows_every_way_and_no_other():
    picture = README.split("```mermaid")[1].split("```")[0]
    shown = set(re.findall(r"^ +(\S+) --> (\w+|\[\*\])", picture, flags=re.MULTILINE))
    ways = {(name, target) for name, state in STATES.items() for target, _ in ways_out(state)}
    ends = {(name, "[*]") for name, state in STATES.items() if state["Type"] in ENDS}
    assert shown == ways | ends | {("[*]", MACHINE["StartAt"])}


def test_the_picture_shows_each_way_once():
    lines = [line.strip() for line in README.split("```mermaid")[1].split("```")[0].splitlines() if "-->" in line]
    assert len(lines) == len({line.split(":")[0] for line in lines})
