"""Our own door into the local AWS: `POST /_local/<verb>` with a JSON object, answered with JSON.

| verb | takes | answers |
|---|---|---|
| health | | {"ready": true} |
| clock | {"advance": seconds} or {"set": epoch} or nothing | {"now": epoch} |
| tick | | {} once every due schedule has fired |
| snapshot, restore | {"name": text} | {} |
| accesslog | | [{role, action, resource, allowed}] |
| knobs | {name: value}, see `knobs.py` | every knob |
| faults | {"faults": [...]}, see `faults.py`, or nothing | [{..., calls, fired}] |
| auth | {"on": bool} | {"on": bool} |
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from local.aws import roles, snapshots
from local.aws.clock import CLOCK
from local.aws.faults import FAULTS
from local.aws.knobs import KNOBS
from local.aws.schedules import DISPATCHER

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

PREFIX = "/_local/"

_snapshots: dict[str, dict[str, Any]] = {}


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one request below PREFIX. Verbs run in a thread of their own: they may wait for the event loop."""
    body = b""
    while True:
        part = await receive()
        body += part.get("body", b"")
        if not part.get("more_body"):
            break
    status, result = await asyncio.to_thread(_run, scope["method"], scope["path"].removeprefix(PREFIX), body)
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(result).encode()})


def _run(method: str, verb: str, body: bytes) -> tuple[int, Any]:
    if method != "POST" or verb not in _VERBS:
        return 404, {"error": f"There is no {method} {verb}; POST one of: {', '.join(_VERBS)}"}
    try:
        given = json.loads(body or b"{}")
        if not isinstance(given, dict):
            raise ValueError(f"{verb} takes a JSON object, not {given!r}")
        return 200, _VERBS[verb](given)
    except (ValueError, LookupError) as refused:
        return 400, {"error": str(refused)}


def _clock(given: dict[str, Any]) -> Any:
    if "advance" in given:
        CLOCK.advance(float(given["advance"]))
    if "set" in given:
        CLOCK.set(float(given["set"]))
    return {"now": CLOCK.time()}


def _tick(_: dict[str, Any]) -> Any:
    DISPATCHER.tick()
    return {}


def _take(given: dict[str, Any]) -> Any:
    _snapshots[given["name"]] = snapshots.take()
    return {}


def _put_back(given: dict[str, Any]) -> Any:
    if given["name"] not in _snapshots:
        raise LookupError(f"There is no snapshot {given['name']!r} to restore")
    snapshots.put_back(_snapshots[given["name"]])
    return {}


def _faults(given: dict[str, Any]) -> Any:
    if "faults" in given:
        FAULTS.set(given["faults"])
    return FAULTS.described()


def _auth(given: dict[str, Any]) -> Any:
    from ministack import app
    from ministack.core import lambda_runtime

    app.AUTH = bool(given["on"])
    # Workers hold the credentials they were started with.
    lambda_runtime.reset()
    return {"on": app.AUTH}


_VERBS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "health": lambda _: {"ready": True},
    "clock": _clock,
    "tick": _tick,
    "snapshot": _take,
    "restore": _put_back,
    "accesslog": lambda _: list(roles.ACCESS_LOG),
    "knobs": KNOBS.turn,
    "faults": _faults,
    "auth": _auth,
}
