"""What a job found that deserves a second look: misfits, new and changed columns, lost attributes, doubted rows. Pure.

What is handed on from a report, and the lines that tell it to people, in mails and after a replay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pipeline.wording import cut, number_of, on_one_line

#: The most misfits, and columns of each kind, that are told of; what has more of them is handed on with one more.
_MOST_TOLD = 20
#: Characters. What a state hands on may have 256 KiB in all, and a character may be written as six of them; the report in
#: the bucket has everything.
_LONGEST_SENTENCE, _LONGEST_NAME = 500, 120
_MISFIT, _COLUMN = ("path", "type", "count", "example"), ("column", "path", "type", "count", "example")
_REMOVED = ("path", "count", "example")
_CHANGED = ("column", "path", "before", "after", "count", "example")
#: What each has that can be told; of the others some may be missing.
_LEAST = {_MISFIT: _MISFIT[:3], _COLUMN: _COLUMN[:3], _REMOVED: _REMOVED[:2], _CHANGED: _CHANGED[:3]}
#: What a report lists, and what of each is told.
_LISTED = {
    "new_columns": _COLUMN,
    "changed_columns": _CHANGED,
    "misfits": _MISFIT,
    "removed_attributes": _REMOVED,
}
_MORE = "  and more, which the report lists"
_MORE_MISFITS = "  and more: the report lists fifty, the column _misfits has all"


def drift_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """What is handed on of a job's report; nothing found, if there is no report.

    Somebody may have edited it, and what reads it must not stumble over that: what cannot be told is left out.
    """
    continuity = report.get("continuity", "")
    return {
        **{listed: _cut(_told(report, listed)) for listed in _LISTED},
        "continuity": continuity[:_LONGEST_SENTENCE] if isinstance(continuity, str) else "",
    }


def summed(reports: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What is handed on of several jobs' reports, newest first: what is counted of one place together, each column once.

    Cut only then: long paths that begin alike are one when they are cut, and what is rare in each report may be much in all.
    """
    misfits: dict[tuple[str, str], dict[str, Any]] = {}
    removed: dict[tuple[str, str], dict[str, Any]] = {}
    new: dict[tuple[str, str], Mapping[str, Any]] = {}
    changed: dict[tuple[str, str], Mapping[str, Any]] = {}
    for report in reports:
        for counted, listed in ((misfits, "misfits"), (removed, "removed_attributes")):
            for one in _told(report, listed):
                kept = counted.setdefault((one["path"], one.get("type", "")), {**one, "count": 0})
                kept["count"] += one["count"]
        for columns, listed in ((new, "new_columns"), (changed, "changed_columns")):
            for one in _told(report, listed):
                columns.setdefault((one["column"], one["path"]), one)
    return drift_of(
        {
            "misfits": _most_first(misfits.values()),
            "new_columns": list(new.values()),
            "changed_columns": list(changed.values()),
            "removed_attributes": _most_first(removed.values()),
        }
    )


def _most_first(counted: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(counted, key=lambda one: -int(one["count"]))


def told_drift(found: Mapping[str, Any], misfits: int) -> list[str]:
    """Lines for people, none where nothing was found. `found`: as `drift_of` gives it. `misfits`: how many there are."""
    lines = []
    if misfits:
        said = number_of(misfits, "value fits no column and is", "values fit no column and are")
        lines.append(f"{said} kept in _misfits{':' if found['misfits'] else '.'}")
        lines += _listed(list(map(_misfit, found["misfits"])), _MORE_MISFITS)
    if found["new_columns"]:
        lines += ["New columns:", *_listed(list(map(_new_column, found["new_columns"])))]
    if found["changed_columns"]:
        lines += ["Changed columns:", *_listed(list(map(_changed_column, found["changed_columns"])))]
    if found.get("removed_attributes"):
        lines += ["Attributes that items no longer have:", *_listed(list(map(_removed, found["removed_attributes"])))]
    if found["continuity"]:
        lines.append(f"Warning: {found['continuity']}")
    return lines


def _told(report: Mapping[str, Any], listed: str) -> list[dict[str, Any]]:
    """What a report lists and can be told, with what is told of each."""
    names, found = _LISTED[listed], report.get(listed)
    told = [one for one in found if _can_be_told(one, names)] if isinstance(found, list) else []
    return [{name: one[name] for name in names if name in one} for one in told]


def _cut(told: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The first, each in short."""
    return [{name: _short(value) for name, value in one.items()} for one in told[: _MOST_TOLD + 1]]


def _can_be_told(one: Any, names: tuple[str, ...]) -> bool:
    """Whether it has the least there is to tell, in numbers and words."""
    kinds = ((name, int if name == "count" else str) for name in _LEAST[names])
    return isinstance(one, Mapping) and all(isinstance(one.get(name), kind) for name, kind in kinds)


def _short(value: Any) -> Any:
    return cut(value, _LONGEST_NAME) if isinstance(value, str) else value


def _listed(lines: Sequence[str], more: str = _MORE) -> list[str]:
    return [f"  {line}" for line in lines[:_MOST_TOLD]] + ([more] if len(lines) > _MOST_TOLD else [])


def _misfit(one: Mapping[str, Any]) -> str:
    return f"{on_one_line(one['path'])}: {one['count']} of type {one['type']}{_such(one)}"


def _removed(one: Mapping[str, Any]) -> str:
    return f"{on_one_line(one['path'])}: {number_of(one['count'], 'item')}{_such(one)}"


def _new_column(one: Mapping[str, Any]) -> str:
    return f"{_column(one)}: {one['type']}{_values(one)}"


def _changed_column(one: Mapping[str, Any]) -> str:
    now = f"{one['after']} now{_values(one)}" if "after" in one else "there no more"
    return f"{_column(one)}: {one['before']} before, {now}"


def _values(one: Mapping[str, Any]) -> str:
    """How many values a column holds, where they were counted, and the key of an item that has one."""
    values = f", {number_of(one['count'], 'value')}" if "count" in one else ""
    return f"{values}{_such(one)}"


def _column(one: Mapping[str, Any]) -> str:
    """A column, and its attribute's path where that is another name."""
    is_named_alike = one["path"] == _short(f"/{one['column']}")
    return one["column"] if is_named_alike else f"{one['column']} ({on_one_line(one['path'])})"


def _such(one: Mapping[str, Any]) -> str:
    """The key of an item that has such a value, where one is known."""
    return f", such as that of {on_one_line(one['example'])}" if one.get("example") else ""
