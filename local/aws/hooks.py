"""The only ways into MiniStack: replace one of its functions, or add a service to it.

Every hook states what it expects to find, and fails loudly when an upgrade of MiniStack has moved it:
a hook that silently no longer applies would make the local AWS more lenient than AWS, and nobody would notice.
"""

import functools
import importlib
import importlib.metadata
import inspect
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

PINNED_VERSION = "1.5.33"


class HookMismatch(RuntimeError):
    """MiniStack is not what a hook was written for; read its changes and adapt the hook."""


def require_version() -> None:
    """Refuse any MiniStack but the pinned one: the hooks reach into its private functions."""
    found = importlib.metadata.version("ministack")
    if found != PINNED_VERSION:
        raise HookMismatch(f"ministack is {found}; the hooks are written for {PINNED_VERSION}")


def patch(
    module: ModuleType | object,
    name: str,
    wrap: Callable[[Callable[..., Any]], Callable[..., Any]],
    *,
    takes: Sequence[str],
) -> None:
    """Replace `module.name` by `wrap(original)`.

    `takes` are the parameter names of the original, in order. Patches stack: the replacement carries the original's
    signature. Works on classes too. Raises HookMismatch when the attribute is missing or its parameters differ.
    """
    where = f"{getattr(module, '__name__', module)}.{name}"
    original = getattr(module, name, None)
    if not callable(original):
        raise HookMismatch(f"{where} is not there or cannot be called")
    found = list(inspect.signature(original).parameters)
    if found != list(takes):
        raise HookMismatch(f"{where} takes ({', '.join(found)}); the hook expects ({', '.join(takes)})")
    setattr(module, name, functools.update_wrapper(wrap(original), original))


def register_service(name: str, module_name: str, module: ModuleType, iam_namespace: str) -> None:
    """Make `module` answer for the AWS service `name` (its signing name, which is its botocore name as well).

    The module offers `async handle_request(method, path, headers, body, query) -> (status, headers, bytes)`,
    `reset()`, `get_state()` and `load_persisted_state(state)`. IAM actions are named after `iam_namespace`,
    the operation is found by botocore's routes.
    """
    app = importlib.import_module("ministack.app")
    router = importlib.import_module("ministack.core.router")
    iam_actions = importlib.import_module("ministack.core.iam_actions")
    if name in app.SERVICE_REGISTRY:
        raise HookMismatch(f"MiniStack has a service {name} of its own by now")
    sys.modules[f"ministack.services.{module_name}"] = module
    app._loaded_modules[module_name] = module
    app.SERVICE_REGISTRY[name] = {"module": module_name}
    app.SERVICE_HANDLERS[name] = app._lazy_handler(module_name)
    app._state_map[module_name] = module_name
    router.SERVICE_PATTERNS[name] = {"host_patterns": [rf"{name}\."]}
    iam_actions.SERVICE_TO_IAM_NAMESPACE[name] = iam_namespace
    iam_actions._BOTOCORE_SERVICE_MAP[name] = [name]
