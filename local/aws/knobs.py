"""What a test or the demo may turn while the local AWS runs, in one place: `POST /_local/knobs`."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any


class UnknownKnob(ValueError):
    """There is no knob of that name, or its value has the wrong type; the message lists what there is."""


@dataclass
class Knobs:
    """Every setting with its default; `turn` is the only way to change one."""

    # How long an export takes by the virtual clock.
    export_seconds: float = 0.0
    # How far the latest restorable time trails the present; AWS says about five minutes.
    restorable_lag_seconds: float = 300.0
    # The next export fails with this FailureCode after it was accepted; used up by that export.
    export_failure_code: str | None = None
    # Named peculiarities of export files, such as those AWS is allowed to produce and seldom does.
    oddities: list[str] = field(default_factory=list)
    # Whether due schedules fire within ten seconds of themselves, or only on `tick`.
    schedules_fire_by_themselves: bool = True
    # What takes the place of Spark, as "module:function"; it is called in the launcher with the entry point's arguments and
    # the job's credentials, and returns an exit code. None for Spark itself.
    job_stand_in: str | None = None
    # Seconds of Wait and Retry in Step Functions are multiplied by this; 0 waits for nothing.
    wait_scale: float = 1.0

    def turn(self, changes: dict[str, Any]) -> dict[str, Any]:
        """Set the knobs named in `changes`, all or none; returns every knob as it now is."""
        known = dataclasses.asdict(Knobs())
        for name, value in changes.items():
            if name not in known:
                raise UnknownKnob(f"There is no knob {name}; there are: {', '.join(sorted(known))}")
            if not _fits(known[name], value):
                raise UnknownKnob(f"Knob {name} does not take {value!r}; its default is {known[name]!r}")
        for name, value in changes.items():
            setattr(self, name, value)
        return dataclasses.asdict(self)

    def reset(self) -> None:
        """Every knob back to its default."""
        self.turn(dataclasses.asdict(Knobs()))


def _fits(default: object, value: object) -> bool:
    """Whether `value` has the type of the knob's default; a knob that defaults to None takes text."""
    if isinstance(default, float):
        return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    if default is None:
        return value is None or isinstance(value, str)
    return isinstance(value, type(default))


KNOBS = Knobs()
