"""Faults on purpose: the n-th call of an operation fails, so that recovery can be tested where it matters.

A fault is named, counts the calls it matches, and says which of them fail and how:
`error` answers instead of the service, `reply_lost` lets the service do its work and then answers 500.
"""

import dataclasses
from dataclasses import dataclass
from threading import Lock
from typing import Any

KINDS = ("error", "reply_lost")


class UnknownFault(ValueError):
    """The description of a fault does not fit; the message says what is allowed."""


@dataclass
class Fault:
    """One fault and what became of it."""

    name: str
    # As in policies: "dynamodb:ExportTableToPointInTime", "lambda:InvokeFunction", "emr-serverless:StartJobRun".
    action: str
    kind: str = "error"
    # The first call that fails, counted from 1, and how many do from there.
    on_call: int = 1
    times: int = 1
    # Only calls made under this role (its name) count; None for all.
    role: str | None = None
    code: str = "InternalServerError"
    status: int = 500
    message: str = "A fault injected by the local AWS"
    calls: int = 0
    fired: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownFault(f"Fault {self.name}: kind is {self.kind!r}; there are: {', '.join(KINDS)}")
        if ":" not in self.action:
            raise UnknownFault(f"Fault {self.name}: action is {self.action!r}; it looks like ssm:PutParameter")
        if self.on_call < 1 or self.times < 1:
            raise UnknownFault(f"Fault {self.name}: on_call and times count from 1")


class Faults:
    """All faults in force, in the order given."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._lock = Lock()

    def __bool__(self) -> bool:
        return bool(self._faults)

    def set(self, described: list[dict[str, Any]]) -> None:
        """Replace all faults by those described (fields of Fault); an empty list ends them. Raises UnknownFault."""
        known = {field.name for field in dataclasses.fields(Fault)} - {"calls", "fired"}
        for one in described:
            if unknown := set(one) - known:
                raise UnknownFault(f"A fault has no {', '.join(sorted(unknown))}; it has {', '.join(sorted(known))}")
        faults = [Fault(**one) for one in described]
        with self._lock:
            self._faults = faults

    def described(self) -> list[dict[str, Any]]:
        """Every fault with its counts: `calls` that matched and how many `fired`."""
        return [dataclasses.asdict(fault) for fault in self._faults]

    def hit(self, action: str, role: str | None) -> Fault | None:
        """Count a call; the fault that strikes it, if one does."""
        struck = None
        with self._lock:
            for fault in self._faults:
                if fault.action != action or fault.role not in (None, role):
                    continue
                fault.calls += 1
                if struck is None and fault.on_call <= fault.calls < fault.on_call + fault.times:
                    fault.fired += 1
                    struck = fault
        return struck


FAULTS = Faults()
