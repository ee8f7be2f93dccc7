"""The whole account, kept and put back: every service's state, object bodies, journals, mails, clock and knobs.

Running executions and jobs are not part of it: they are stopped first, and what a snapshot caught in the middle ends
as failed when it is put back. The access log stays as it is, it is the union over a whole test run.
"""

import copy
from dataclasses import asdict
from types import ModuleType
from typing import Any

from local.aws import states
from local.aws.clock import CLOCK
from local.aws.faults import FAULTS
from local.aws.knobs import KNOBS
from local.aws.warm_functions import kept_warm

# Our own modules that keep state: reset, get_state, load_persisted_state.
_keepers: dict[str, ModuleType] = {}


def keep(name: str, module: ModuleType) -> None:
    """Make a module's state part of every snapshot (services registered with MiniStack are so already)."""
    _keepers[name] = module


def take() -> dict[str, Any]:
    """Everything there is, deep-copied."""
    from ministack import app
    from ministack.services import s3

    return {
        "services": {key: copy.deepcopy(state()) for key, state in app._build_persistence_save_dict().items()},
        "s3": copy.deepcopy({name: store for name, store in vars(s3).items() if _is_store(store)}),
        "ours": {name: copy.deepcopy(module.get_state()) for name, module in _keepers.items()},
        "now": CLOCK.time(),
        "knobs": asdict(KNOBS),
    }


def put_back(snapshot: dict[str, Any]) -> None:
    """Make everything as it was; the snapshot can be put back again. Functions that stay the same stay warm."""
    states.stop_all()
    with kept_warm():
        _put_back(snapshot)


def _put_back(snapshot: dict[str, Any]) -> None:
    from ministack import app
    from ministack.services import s3

    app._reset_all_state()
    for module in _keepers.values():
        module.reset()
    kept = copy.deepcopy(snapshot)
    # First the clock: a journal that is put back looks at it.
    CLOCK.go_back_to(kept["now"])
    for key, state in kept["services"].items():
        if state:
            app._get_module(app._state_map[key]).load_persisted_state(state)
    for name, store in kept["s3"].items():
        getattr(s3, name)._data.clear()
        getattr(s3, name)._data.update(store._data)
    for name, state in kept["ours"].items():
        _keepers[name].load_persisted_state(state)
    KNOBS.turn(kept["knobs"])
    FAULTS.set([])


def _is_store(value: object) -> bool:
    from ministack.core.responses import AccountRegionScopedDict, AccountScopedDict

    return isinstance(value, AccountScopedDict | AccountRegionScopedDict)
