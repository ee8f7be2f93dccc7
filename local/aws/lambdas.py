"""Functions as on AWS: an error carries its class name, the runtime has only what Lambda's has, logs need rights.

Python functions run in processes of their own. MiniStack starts them with the launcher's site-packages, so that a
library missing from a bundle would never be missed; here they see the standard library, boto3 and the bundle, which is
unpacked once for all of them (`unpacked`).
"""

import importlib.util
import shlex
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from local.aws import unpacked
from local.aws.at_work import Work, at_work
from local.aws.hooks import HookMismatch, patch
from local.aws.roles import AccessDenied, check

# What Lambda's Python runtimes bring along: boto3 and what it needs.
RUNTIME_PACKAGES = ("boto3", "botocore", "s3transfer", "jmespath", "urllib3", "dateutil", "six")

# What MiniStack says of a worker whose process has ended.
_DIED = "Worker process died"
_ERROR_LINE = '"error": str(e), "trace": traceback.format_exc()}'
_NAMED_ERROR_LINE = '"error": str(e), "type": type(e).__name__, "trace": traceback.format_exc()}'


class _LastError(threading.local):
    """The failure the worker of this thread's invocation answered with."""

    name: str | None = None
    trace: str = ""


_last = _LastError()


def install(folder: Path) -> None:
    """Build the runtime under `folder` and hook the worker pool."""
    from ministack.core import lambda_runtime
    from ministack.services import lambda_svc

    if lambda_runtime._PYTHON_WORKER_SCRIPT.count(_ERROR_LINE) != 1:
        raise HookMismatch("MiniStack's Python worker reports errors in another way by now")
    lambda_runtime._PYTHON_WORKER_SCRIPT = lambda_runtime._PYTHON_WORKER_SCRIPT.replace(_ERROR_LINE, _NAMED_ERROR_LINE)
    unpacked.install(folder / "bundles")
    interpreter = build_runtime(folder)
    patch(lambda_runtime, "_detect_runtime_binary", _python_by(interpreter), takes=("runtime",))
    patch(
        lambda_runtime.Worker,
        "invoke",
        _noting_errors,
        takes=("self", "event", "request_id", "trace_id", "depth", "durable", "invoked_function_arn"),
    )
    patch(lambda_svc, "_execute_function_warm", _with_error_name, takes=("func", "event", "request_id"))
    patch(
        lambda_svc,
        "_emit_lambda_logs",
        _with_rights,
        takes=("func", "request_id", "log_text", "error", "duration_ms", "log_source"),
    )


def build_runtime(folder: Path) -> Path:
    """A Python that sees the standard library and RUNTIME_PACKAGES only; returns the command that starts it."""
    libraries = folder / "packages"
    libraries.mkdir(parents=True, exist_ok=True)
    for name in RUNTIME_PACKAGES:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            raise HookMismatch(f"{name} is not installed; Lambda's runtime has it")
        origin = Path(found.origin)
        source = origin.parent if origin.name == "__init__.py" else origin
        link = libraries / source.name
        link.unlink(missing_ok=True)
        link.symlink_to(source)
    command = folder / "python"
    # A folder's name may hold what a shell reads as its own, also between double quotes.
    here, python = shlex.quote(str(libraries.resolve())), shlex.quote(sys.executable)
    command.write_text(f'#!/bin/sh\nPYTHONPATH={here} exec {python} -S "$@"\n')
    command.chmod(0o755)
    return command.resolve()


def _python_by(interpreter: Path) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(detect: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(runtime: str) -> Any:
            binary, script = detect(runtime)
            return (str(interpreter) if binary == sys.executable else binary), script

        return wrapper

    return wrap


def _noting_errors(invoke: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(self: Any, event: Any, request_id: str, **more: Any) -> Any:
        from ministack.core import lambda_runtime

        def kill() -> None:
            if self._proc is not None:
                self._proc.kill()

        key = lambda_runtime.execution_credentials(self.config)["AWS_ACCESS_KEY_ID"]
        with at_work(key, kill, float(self.config.get("Timeout", 30))) as work:
            answer = invoke(self, event, request_id, **more)
        answer = _as_it_ended(answer, work, request_id)
        _last.name, _last.trace = answer.get("type"), answer.get("trace") or ""
        return answer

    return wrapper


def _as_it_ended(answer: dict[str, Any], work: Work, request_id: str) -> dict[str, Any]:
    """What Lambda answers for a process that has ended without an answer of its own."""
    if answer.get("error") != _DIED:
        return answer
    if work.timed_out:
        return {**answer, "error": f"Task timed out after {work.timeout_seconds:.2f} seconds"}
    reason = "Runtime exited with error: signal: killed" if work.killed else "Runtime exited without providing a reason"
    return {**answer, "error": f"RequestId: {request_id} Error: {reason}", "type": "Runtime.ExitError"}


def _with_error_name(execute: Callable[..., Any]) -> Callable[..., Any]:
    """A failed function's payload is {errorMessage, errorType, requestId, stackTrace}, as its caller sees it on AWS."""

    def wrapper(func: Any, event: Any, request_id: str) -> Any:
        _last.name = None
        answer = execute(func, event, request_id)
        if answer.get("error") and _last.name and isinstance(answer.get("body"), dict):
            answer["body"] |= {
                "errorType": _last.name,
                "requestId": request_id,
                "stackTrace": _last.trace.splitlines(),
            }
        return answer

    return wrapper


def _with_rights(emit: Callable[..., None]) -> Callable[..., None]:
    """Lambda writes logs and traces with the function's role; without the rights nothing is written, silently."""

    def wrapper(func: Any, request_id: str, log_text: str, error: bool, duration_ms: int, **more: Any) -> None:
        configuration = func.get("config") or func
        if _may_log(configuration):
            emit(func, request_id, log_text, error, duration_ms, **more)

    return wrapper


def _may_log(configuration: dict[str, Any]) -> bool:
    role = configuration.get("Role", "")
    region, account = configuration["FunctionArn"].split(":")[3:5]
    named = (configuration.get("LoggingConfig") or {}).get("LogGroup")
    group = named or f"/aws/lambda/{configuration['FunctionName']}"
    streams = f"arn:aws:logs:{region}:{account}:log-group:{group}:log-stream:*"
    if (configuration.get("TracingConfig") or {}).get("Mode") == "Active":
        for action in ("xray:PutTraceSegments", "xray:PutTelemetryRecords"):
            _allowed(role, action, "*")
    return all(_allowed(role, action, streams) for action in ("logs:CreateLogStream", "logs:PutLogEvents"))


def _allowed(role: str, action: str, resource: str) -> bool:
    try:
        check(role, action, resource)
    except AccessDenied:
        return False
    return True
