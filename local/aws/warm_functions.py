"""Functions stay warm when the account is put back: an idle process goes on serving if its function is still the same.

A cold start costs a second of a processor, and each test of a deployment would pay it for every function anew. On AWS
too, a process outlives whatever happens around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def kept_warm() -> Iterator[None]:
    """Around a restore: spare the idle processes, and give each back to its function, or end it where that has changed."""
    from ministack.core import lambda_runtime

    spared = _idle_workers()
    try:
        yield
        configurations = _configurations()
        for key, worker in list(spared):
            if worker.config == configurations.get(key):
                # What the session of its role may do is asked of the state that has been put back.
                lambda_runtime.execution_credentials(worker.config)
                with lambda_runtime._lock:
                    lambda_runtime._workers.setdefault(key, []).append(worker)
                spared.remove((key, worker))
    finally:
        lambda_runtime.kill_workers([worker for _, worker in spared])


def _idle_workers() -> list[tuple[str, Any]]:
    """Every process that no invocation uses, taken out of MiniStack's hands, with the key of its pool."""
    from ministack.core import lambda_runtime

    taken = []
    with lambda_runtime._lock:
        for key, workers in lambda_runtime._workers.items():
            taken += [(key, worker) for worker in workers if not worker.in_use]
            workers[:] = [worker for worker in workers if worker.in_use]
    return taken


def _configurations() -> dict[str, Any]:
    """The configuration of every function there is, by the key of its pool."""
    from ministack.core.lambda_runtime import _worker_key
    from ministack.services import lambda_svc

    found = (function["config"] for function in lambda_svc._functions._data.values())
    return {_worker_key(config["FunctionName"], config, config["Version"]): config for config in found}
