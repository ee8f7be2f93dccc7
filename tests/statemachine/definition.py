"""The state machine's definition as these tests look at it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PATH = ROOT / "statemachine" / "continuous_export.asl.json"
MACHINE: dict[str, Any] = json.loads(PATH.read_text())
STATES: dict[str, dict[str, Any]] = MACHINE["States"]
TASKS = {name: state for name, state in STATES.items() if state["Type"] == "Task"}
FUNCTIONS = {name: state for name, state in TASKS.items() if state["Resource"] == "${LambdaInvoke}"}
ENDS = {"Succeed", "Fail"}


def ways_out(state: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every next state and the variables assigned on the way there."""
    own = state.get("Assign", {})
    if "Next" in state:
        yield state["Next"], own
    if "Default" in state:
        yield state["Default"], own
    for way in [*state.get("Choices", []), *state.get("Catch", [])]:
        yield way["Next"], way.get("Assign", {})


def texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for part in value.values() for text in texts(part))
    elif isinstance(value, list):
        yield from (text for part in value for text in texts(part))


def expressions(value: Any) -> Iterator[str]:
    """Every JSONata expression in a JSON value, without its marks."""
    yield from (text[2:-2].strip() for text in texts(value) if text.startswith("{%"))


def variables_read(value: Any) -> set[str]:
    """The state machine's variables that the expressions of a JSON value read."""
    found: set[str] = set()
    for text in expressions(value):
        bound = set(re.findall(r"\$(\w+)\s*:=", text))
        found |= set(re.findall(r"\$(\w+)\b(?!\s*\()", text)) - bound - {"states"}
    return found
