"""Faults on purpose: the n-th call of an operation goes wrong, so that recovery can be tested where it matters.

A fault is named, counts the calls it matches, and says which of them it strikes and how:

| kind | what happens |
|---|---|
| error | `code` is answered instead of the service |
| reply_lost | the service does its work, then `code` is answered |
| delay | the call is held up for `seconds` of virtual time; a function or a state whose time is over by then has timed out |
| killed | the caller dies: a function's process, a job's driver; of a state machine's own calls the execution is stopped |
| stopped | the caller dies, and the execution it works for is stopped with it |

The last three strike before the service has done its work or, with `when` "after", between its work and its answer. What is
struck is a call (`action` as in policies) or a state of a state machine (`action` "state:<name>", see `state_faults`).
"""

import dataclasses
import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock
from typing import Any

KINDS = ("error", "reply_lost", "delay", "killed", "stopped")
WHENS = ("before", "after")


class UnknownFault(ValueError):
    """The description of a fault does not fit; the message says what is allowed."""


@dataclass
class Fault:
    """One fault and what became of it."""

    name: str
    # As in policies: "dynamodb:ExportTableToPointInTime", "lambda:InvokeFunction", "emr-serverless:StartJobRun".
    action: str
    kind: str = "error"
    # Of delay, killed and stopped: before or after the service has done its work.
    when: str = "before"
    # The first call that fails, counted from 1, and how many do from there.
    on_call: int = 1
    times: int = 1
    # Only calls made under this role (its name) count; None for all.
    role: str | None = None
    # Only calls on a resource of this pattern count, as in policies; None for all.
    resource: str | None = None
    seconds: float = 0.0
    code: str = "InternalServerError"
    status: int = 500
    message: str = "A fault injected by the local AWS"
    calls: int = 0
    fired: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownFault(f"Fault {self.name}: kind is {self.kind!r}; there are: {', '.join(KINDS)}")
        if self.when not in WHENS:
            raise UnknownFault(f"Fault {self.name}: when is {self.when!r}; there are: {', '.join(WHENS)}")
        if self.when == "after" and self.kind in ("error", "reply_lost"):
            raise UnknownFault(f"Fault {self.name}: an error after the service's work is a reply_lost")
        if ":" not in self.action:
            raise UnknownFault(f"Fault {self.name}: action is {self.action!r}; it looks like ssm:PutParameter")
        if self.on_call < 1 or self.times < 1:
            raise UnknownFault(f"Fault {self.name}: on_call and times count from 1")

    @property
    def comes_after(self) -> bool:
        """Whether it strikes once the service has done its work."""
        return self.kind == "reply_lost" or self.when == "after"

    def is_about(self, action: str, role: str | None, resources: Iterable[str]) -> bool:
        """Whether it counts a call."""
        return (
            self.action == action
            and self.role in (None, role)
            and (self.resource is None or any(fnmatch.fnmatchcase(on, self.resource) for on in resources))
        )


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
        try:
            faults = [Fault(**one) for one in described]
        except TypeError as missing:
            raise UnknownFault(f"A fault has a name and an action; {missing}") from missing
        with self._lock:
            self._faults = faults

    def described(self) -> list[dict[str, Any]]:
        """Every fault with its counts: `calls` that matched and how many `fired`."""
        return [dataclasses.asdict(fault) for fault in self._faults]

    def hit(
        self, action: str, role: str | None, resources: Iterable[str] = (), *, when: str | None = None
    ) -> Fault | None:
        """Count a call, on these ARNs; the fault that strikes it, if one does. `when`: only those that strike then count."""
        resources = tuple(resources)
        struck = None
        with self._lock:
            for fault in self._faults:
                if not fault.is_about(action, role, resources) or when not in (None, fault.when):
                    continue
                fault.calls += 1
                if struck is None and fault.on_call <= fault.calls < fault.on_call + fault.times:
                    fault.fired += 1
                    struck = fault
        return struck


FAULTS = Faults()
