"""The process of the local AWS: `python -m local.aws.launch --home DIR --port N`.

Sets the environment MiniStack reads on import, installs our hooks in order, and serves on the loopback until SIGTERM.
Everything lives in memory and below the home folder; a new start begins with an empty account.
"""

import argparse
import asyncio
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from local.aws import hooks
from local.aws.account import ACCOUNT, REGION
from local.aws.home import EMPTIED
from local.surroundings import LOOPBACK

# Of the environment the launcher was started with, only this reaches Lambda functions and Spark jobs.
_KEPT = ("PATH", "HOME", "LANG", "JAVA_HOME", "SPARK_LOCAL_IP", "TIDEMARK_SPARK_JARS", "USER")


def environment(home: Path, port: int, *, enforce_iam: bool) -> dict[str, str]:
    """The whole environment of the process; MiniStack and every process it starts read it."""
    return {
        **{name: os.environ[name] for name in _KEPT if name in os.environ},
        "TZ": "UTC",
        "TMPDIR": str(home / "tmp"),
        "BIND_HOST": LOOPBACK,
        "MINISTACK_HOST": LOOPBACK,
        "GATEWAY_PORT": str(port),
        "MINISTACK_REGION": REGION,
        "MINISTACK_ACCOUNT_ID": ACCOUNT,
        "AUTH": str(enforce_iam).lower(),
        "STATE_DIR": str(home / "state"),
        "S3_DATA_DIR": str(home / "s3"),
        "PERSIST_STATE": "0",
        "S3_PERSIST": "0",
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        # No Docker is used; a socket that is not there keeps MiniStack from looking for containers.
        "DOCKER_HOST": f"unix://{home / 'no-docker'}",
        "LOG_LEVEL": "WARNING",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_ENDPOINT_URL": f"http://{LOOPBACK}:{port}",
        "AWS_EC2_METADATA_DISABLED": "true",
        # There is no X-Ray daemon to send to.
        "POWERTOOLS_TRACE_DISABLED": "true",
    }


def prepare(home: Path) -> None:
    """Make the home's folders, empty ones for what a previous process left behind."""
    for name in EMPTIED:
        shutil.rmtree(home / name, ignore_errors=True)
        (home / name).mkdir(parents=True)
    (home / "logs").mkdir(exist_ok=True)


def install_hooks(home: Path) -> None:
    """All hooks, in order: what is installed later sees a call first."""
    hooks.require_version()
    from local.aws import (
        arns,
        cloudformation,
        emr,
        encryption,
        front_door,
        lambdas,
        mail,
        metrics,
        missing_databases,
        missing_objects,
        parameter_store,
        pitr,
        roles,
        schedules,
        snapshots,
        state_faults,
        state_limits,
        state_roles,
        states,
        topics,
    )

    for first in (roles, arns, metrics, parameter_store):
        first.install()
    lambdas.install(home / "lambda-runtime")
    pitr.install()
    emr.install()
    for strict in (encryption, missing_databases, missing_objects, topics, cloudformation, schedules, front_door):
        strict.install()
    state_faults.install()
    # Outermost the check whether an execution still runs, so that nothing is asked for one that does not.
    for engine in (state_roles, state_limits, states):
        engine.install()
    mail.install(home / "outbox")
    for name, module in (("mail", mail), ("schedules", schedules), ("pitr", pitr)):
        snapshots.keep(name, module)


async def serve(port: int, *, leashed: bool) -> None:
    """Answer until SIGTERM, SIGINT or, when leashed, the end of standard input; then end what was started."""
    from hypercorn.asyncio import serve as hypercorn_serve
    from hypercorn.config import Config
    from ministack import app
    from ministack.core import hypercorn_compat, lambda_runtime

    from local.aws import admin, states
    from local.aws.callers import CALLER, caller_of_request
    from local.aws.emr.drivers import DRIVERS

    async def door(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            if scope["path"].startswith(admin.PREFIX):
                await admin.answer(scope, receive, send)
                return
            # Policies that deny plain HTTP must not hit us: the real endpoint speaks TLS.
            scope = {**scope, "headers": [*scope["headers"], (b"x-forwarded-proto", b"https")]}
            CALLER.set(caller_of_request(scope["headers"]))
        await app.app(scope, receive, send)

    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    if leashed:
        # Nobody writes: it becomes readable when the process that holds the other end is gone.
        loop.add_reader(0, ended.set)
    hypercorn_compat.install()
    config = Config()
    config.bind = [f"{LOOPBACK}:{port}"]
    config.keep_alive_timeout = 75
    config.graceful_timeout = 1
    config.loglevel = "WARNING"
    await hypercorn_serve(door, config, shutdown_trigger=ended.wait)
    await asyncio.to_thread(states.stop_all, 1.0)
    await asyncio.to_thread(app._get_module("emr_serverless").reset)
    await asyncio.to_thread(DRIVERS.end_all)
    await asyncio.to_thread(lambda_runtime.reset)


def main() -> None:
    """Parse the command line and serve."""
    parser = argparse.ArgumentParser(description="The local AWS")
    parser.add_argument("--home", type=Path, required=True, help="folder for everything this process writes")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--no-iam", action="store_true", help="evaluate no policies")
    parser.add_argument("--leash", action="store_true", help="end with the process that holds standard input")
    given = parser.parse_args()
    home: Path = given.home.resolve()
    prepare(home)
    set_to = environment(home, given.port, enforce_iam=not given.no_iam)
    os.environ.clear()
    os.environ.update(set_to)
    install_hooks(home)
    code = 0
    try:
        asyncio.run(serve(given.port, leashed=given.leash))
    except OSError as failure:
        sys.stderr.write(f"The local AWS cannot serve: {failure}\n")
        code = 1
    # Threads of pools that wait for a function or a job would hold the process for as long as those take.
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
