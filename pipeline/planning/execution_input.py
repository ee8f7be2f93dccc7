"""What an execution is asked to do, read strictly: unknown fields and values are refused with the list of allowed ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipeline.errors import InputRefused
from pipeline.events import StateEvent
from pipeline.instants import parse_instant, parse_timestamp
from pipeline.modes import BACKFILL, MODES, UPDATE, WISHES
from pipeline.setting_checks import is_whole
from pipeline.settings import TICKS, is_table_name

_EXAMPLE_START = 'such as "from": "2026-11-01T00:00:00Z"'
_OF_THE_SCHEDULE = ("table", "scheduled_time", "tick_minutes")
_FIELDS = ("table", "mode", "from", "dry_run", "scheduled_time", "tick_minutes")


@dataclass(frozen=True)
class ExecutionInput:
    """What an execution is to do with `table`: bring it up to date, or serve a wish, which `mode` names.

    A backfill exports history from `start` again, a full export all anew. To verify is to compare the table with a full
    export at its watermark; nothing is changed. To maintain it is to put its files in order; no row is changed.
    `dry_run` asks for the plan only. What only the schedule fills in is no part of it (`tick_of`, `tick_minutes_of`): no plan
    depends on it.
    """

    table: str
    mode: str = UPDATE
    start: datetime | None = None
    dry_run: bool = False

    @classmethod
    def parse(cls, raw: Any, default_table: str) -> ExecutionInput:
        """Read an execution's input. `default_table` is the only table configured, or empty. Raises InputRefused."""
        if not isinstance(raw, Mapping):
            raise InputRefused(f'the input is {_as_json(raw)}; allowed is an object such as {{"table": "orders"}}')
        unknown = sorted(raw.keys() - _FIELDS)
        if unknown:
            raise InputRefused(
                f"the input has the unknown field {_as_json(unknown[0])}; allowed are {', '.join(_FIELDS)}"
            )
        wish = cls(
            table=_table(raw, default_table),
            mode=_one_of("mode", raw.get("mode", UPDATE), MODES),
            start=_start(raw.get("from")),
            dry_run=_one_of("dry_run", raw.get("dry_run", False), (True, False)),
        )
        if wish.mode == BACKFILL and wish.start is None:
            raise InputRefused(f'"from" is missing; "mode": "backfill" takes the instant to begin at, {_EXAMPLE_START}')
        if wish.mode != BACKFILL and wish.start is not None:
            raise InputRefused(
                f'"from" goes with "mode": "backfill" and with no other; the mode is {_as_json(wish.mode)}'
            )
        return wish


def tick_of(raw: Any) -> datetime | None:
    """The time that the schedule meant an execution for; None for one that a person has started.

    Only the schedule fills in ``scheduled_time``. It tells whom a failure concerns: the one who asked, always, or those who
    watch the schedule, once. An input that cannot be read at all is a person's; and so is one of the schedule's that somebody
    has taken and added to, for the schedule asks for nothing but an update.
    """
    if not isinstance(raw, Mapping) or raw.keys() - _OF_THE_SCHEDULE:
        return None
    try:
        return parse_instant(raw["scheduled_time"])
    except (KeyError, ValueError):
        return None


def meant_for(event: StateEvent) -> datetime:
    """When a run began for those who watch the schedule: its tick; of a person's run, its start. `event`: input, startedAt."""
    return tick_of(event["input"]) or parse_timestamp(event["startedAt"])


def tick_minutes_of(raw: Mapping[str, Any]) -> int:
    """The time between two ticks of the schedule that has started an execution; 0 where its input does not say it.

    What cannot be one somebody has written by hand: the sum of all tables would be wrong by it, and no metric holds any number.
    """
    minutes = raw.get("tick_minutes", 0)
    return int(minutes) if is_whole(minutes, TICKS[0], TICKS[-1]) else 0


def is_dry_run(raw: Any) -> bool:
    """Whether an input asks for the plan only."""
    return isinstance(raw, Mapping) and bool(raw.get("dry_run"))


def wish_text(raw: Any) -> str:
    """What an input asks for beside an update, as the JSON to ask for it again; "" for anything else.

    The schedule never asks for it a second time: until a run has claimed it, it is only in the input.
    """
    if not isinstance(raw, Mapping) or raw.get("mode") not in WISHES or is_dry_run(raw):
        return ""
    return json.dumps({name: raw[name] for name in _FIELDS if name in raw}, separators=(",", ":"))


def asking(table: str, mode: str, start: str = "") -> str:
    """The input that asks for more than an update of a table, as JSON. `start`: a backfill's; no other has one."""
    return json.dumps(
        {"table": table, "mode": mode, **({"from": start} if mode == BACKFILL else {})}, separators=(",", ":")
    )


def _table(raw: Mapping[str, Any], default_table: str) -> str:
    """Refuse here what can be no table's name: Parameter Store, which is asked next, would refuse it in other words."""
    if "table" not in raw and not default_table:
        raise InputRefused("table is missing; name one of the tables in the settings: more than one is configured")
    name = raw.get("table", default_table)
    if not isinstance(name, str) or not is_table_name(name):
        which = f"leave it out for {_as_json(default_table)}" if default_table else "name one of those in the settings"
        raise InputRefused(
            f"table is {_as_json(name)}; allowed is the name of a table, 3-255 of a-z, A-Z, 0-9, _, - and .; {which}"
        )
    return name


def _one_of(name: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    if not any(value is a or (isinstance(value, str) and value == a) for a in allowed):
        raise InputRefused(f"{name} is {_as_json(value)}; allowed are {', '.join(map(_as_json, allowed))}")
    return value


def _start(value: Any) -> datetime | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputRefused(f"from is {_as_json(value)}; allowed is an instant, {_EXAMPLE_START}")
    try:
        return parse_instant(value)
    except ValueError as wrong:
        raise InputRefused(f"from: {wrong}") from wrong


def _as_json(value: Any) -> str:
    """A value as its author may have written it."""
    return json.dumps(value, ensure_ascii=False)
