"""Variables: every state finds the ones it reads, whichever way led there. An unset one would fail it at run time."""

from __future__ import annotations

import re

import jsonata
import pytest

from pipeline.events import PlanEvent, StateEvent
from tests.statemachine.definition import FUNCTIONS, MACHINE, STATES, expressions, texts, variables_read, ways_out


def known_on_entry() -> dict[str, set[str]]:
    """The variables that are set on every way that leads to a state."""
    known: dict[str, set[str]] = {MACHINE["StartAt"]: set()}
    waiting = [MACHINE["StartAt"]]
    while waiting:
        name = waiting.pop()
        for target, assigned in ways_out(STATES[name]):
            arriving = known[name] | set(assigned)
            agreed = known[target] & arriving if target in known else arriving
            if agreed != known.get(target):
                known[target] = agreed
                waiting.append(target)
    return known


@pytest.mark.parametrize("name", STATES)
def test_every_variable_that_a_state_reads_is_set_on_every_way_there(name):
    assert variables_read(STATES[name]) - known_on_entry()[name] == set()


def test_every_variable_that_is_set_is_read_somewhere():
    assigned = {variable for state in STATES.values() for _, variables in ways_out(state) for variable in variables}
    assert assigned == set().union(*map(variables_read, STATES.values()))


def test_the_functions_are_given_what_events_have_and_nothing_else():
    assert {key for state in FUNCTIONS.values() for key in state["Arguments"]["Payload"]} == set(
        StateEvent.__annotations__
    )


def test_of_a_plan_the_states_read_what_plans_have():
    read = {key for text in expressions(STATES) for key in re.findall(r"\$plan\.(\w+)", text)}
    assert {"kind", "cause"} <= read <= set(PlanEvent.__annotations__)


def test_there_is_something_to_check():
    assert known_on_entry()["NotifySuccess"] >= {"plan", "report", "exports", "jobRun"}
    assert variables_read(STATES["CheckExports"]) == {"exports", "checks"}


@pytest.mark.parametrize("expression", sorted(set(expressions(STATES))))
def test_every_expression_is_jsonata(expression):
    assert jsonata.Jsonata(expression)


def test_an_expression_is_a_whole_text():
    assert all(text.startswith("{%") and text.endswith("%}") for text in _with_marks())


def _with_marks() -> list[str]:
    return [text for text in texts(STATES) if "{%" in text or "%}" in text]
