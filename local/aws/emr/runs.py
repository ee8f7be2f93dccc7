"""The life of a job run: its place in the queue, its role's session, its driver, its logs, its end.

One thread per job run. Timeouts follow the virtual clock; what a run has used is measured in real time, because that
is how long its process took.
"""

import contextvars
import importlib
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from local.aws.at_work import at_work
from local.aws.clock import CLOCK
from local.aws.emr import PRINCIPAL, workers
from local.aws.emr.applications import ENDED, runs_under_way, set_state
from local.aws.emr.artifacts import Artifacts, ArtifactUnavailable
from local.aws.emr.control import Control, JobCancelled, JobFailed
from local.aws.emr.drivers import DRIVERS, DriverFailed
from local.aws.emr.logs import Logs, last_exceptions
from local.aws.emr.machine import DriverKind, Machine, secrets_file
from local.aws.emr.secrets_manager import SecretUnavailable, write_secrets
from local.aws.emr.spark import SparkJob
from local.aws.emr.store import STORE, Record
from local.aws.knobs import KNOBS
from local.aws.roles import AccessDenied, check_trust, role_session
from local.java import JarsMissing

_POLL_SECONDS = 0.1
_GONE_WITHIN_SECONDS = 5.0
_FAILED = "Job failed, please check complete logs in configured logging destination."


_controls: dict[str, Control] = {}


def begin(run_id: str) -> None:
    """Start the thread of a job run that was just accepted."""
    control = Control()
    _controls[run_id] = control
    target = contextvars.copy_context().run
    control.thread = threading.Thread(target=target, args=(_live, run_id, control), name=f"emr-{run_id}", daemon=True)
    control.thread.start()


def cancel(run_id: str, reason: str, grace_seconds: float = 0.0) -> None:
    """Have a job run end as CANCELLED; returns at once. One that has ended stays as it is."""
    control = _controls.get(run_id)
    with STORE.changed:
        run = STORE.job_runs.get(run_id)
        if control and run and run["state"] not in ENDED and not control.reason:
            control.reason, control.grace_seconds = reason, grace_seconds
            set_state(run, "CANCELLING", reason)


def stop_all() -> None:
    """End every job run at once, and wait until the processes are gone."""
    under_way = list(_controls.items())
    for run_id, control in under_way:
        control.abandoned = True
        cancel(run_id, "Job run was cancelled because the local AWS was reset")
    until = time.monotonic() + _GONE_WITHIN_SECONDS
    for _, control in under_way:
        if control.thread is not None and control.thread is not threading.current_thread():
            control.thread.join(max(0.0, until - time.monotonic()))


def job_of(run: Mapping[str, Any], application: Record) -> SparkJob:
    """The Spark job of a job run, or of a request for one. Raises JobUnreadable."""
    override = run.get("configurationOverrides", {}).get("applicationConfiguration", [])
    return SparkJob.parse(run["jobDriver"]["sparkSubmit"], application.get("runtimeConfiguration", []), override)


def _live(run_id: str, control: Control) -> None:
    run = STORE.job_runs[run_id]
    try:
        _wait_for_a_place(run, control)
        set_state(run, "PENDING")
        application = STORE.applications[run["applicationId"]]
        _require_trust(run["executionRole"], application["arn"])
        job = job_of(run, application)
        workers.require_room(job, application)
        control.stop_if_asked()
        set_state(run, "SCHEDULED")
        with tempfile.TemporaryDirectory(prefix=f"emr-{run_id}-", ignore_cleanup_errors=True) as folder:
            _carry_out(run, job, Path(folder), control)
        set_state(run, "SUCCESS")
    except JobCancelled as cancelled:
        set_state(run, "CANCELLED", str(cancelled))
    except (JobFailed, JarsMissing, workers.NoRoom) as failed:
        set_state(run, "FAILED", str(failed))
    finally:
        if run["state"] not in ENDED:
            # An error of ours: its traceback is in the launcher's log, and whoever waits must not wait for ever.
            set_state(run, "FAILED", "The local AWS failed to carry out the job run; see its log")
        _controls.pop(run_id, None)


def _wait_for_a_place(run: Record, control: Control) -> None:
    """First come, first served: a job run goes on when fewer than the limit before it have not ended."""
    submitted = time.monotonic()
    with STORE.changed:
        queue = STORE.applications[run["applicationId"]]["schedulerConfiguration"]
        until = run["createdAt"] + 60 * queue["queueTimeoutMinutes"]
        while _ahead_of(run) >= queue["maxConcurrentRuns"]:
            if run["state"] == "SUBMITTED":
                set_state(run, "QUEUED")
            STORE.changed.wait(_POLL_SECONDS)
            control.stop_if_asked()
            if CLOCK.time() > until:
                raise JobCancelled("Job run was cancelled because it was in the queue for longer than the timeout")
        run["queuedDurationMilliseconds"] = int(1000 * (time.monotonic() - submitted))
        control.stop_if_asked()


def _ahead_of(run: Record) -> int:
    under_way = [one["jobRunId"] for one in runs_under_way(run["applicationId"])]
    return under_way.index(run["jobRunId"])


def _require_trust(role_arn: str, application_arn: str) -> None:
    try:
        check_trust(role_arn, PRINCIPAL, application_arn)
    except AccessDenied as denied:
        raise JobFailed(
            f"Could not assume runtime role {role_arn} because it does not exist or isn't set up with the required "
            "trust relationship"
        ) from denied


def _carry_out(run: Record, job: SparkJob, folder: Path, control: Control) -> None:
    """Run the job's process to its end under its role. Raises JobFailed, JobCancelled."""
    credentials = role_session(run["executionRole"], f"emr-serverless-{run['jobRunId']}")
    application_arn = STORE.applications[run["applicationId"]]["arn"]
    run["startedAt"] = CLOCK.time()
    control.deadline = run["startedAt"] + 60 * run["executionTimeoutMinutes"]
    logs = Logs(folder / "stdout", folder / "stderr")
    started = time.monotonic()
    try:
        local = job.with_files(Artifacts(folder / "artifacts", credentials).fetch)
        write_secrets(job.conf, application_arn, credentials, secrets_file(folder))
        if KNOBS.job_stand_in:
            set_state(run, "RUNNING")
            exit_code = _stand_in(KNOBS.job_stand_in)(job.arguments, credentials)
        else:
            exit_code = _by_spark(run, local, folder, control, credentials, logs)
    except ArtifactUnavailable as unavailable:
        raise JobFailed(f"{_FAILED} ExitCode: 1. Last few exceptions: {unavailable}") from unavailable
    except (SecretUnavailable, DriverFailed) as unavailable:
        raise JobFailed(f"{_FAILED} ExitCode: 1. {unavailable}") from unavailable
    finally:
        run["endedAt"] = CLOCK.time()
        workers.note_usage(run, job, time.monotonic() - started)
        if not control.abandoned:
            logs.deliver(run, credentials)
    if exit_code:
        raise JobFailed(f"{_FAILED} ExitCode: {exit_code}. Last few exceptions: {last_exceptions(logs)}")


def _by_spark(
    run: Record, job: SparkJob, folder: Path, control: Control, credentials: dict[str, str], logs: Logs
) -> int:
    machine = Machine.here()
    with DRIVERS.lent(machine, DriverKind.of(job), control) as driver:
        set_state(run, "RUNNING")
        with at_work(credentials["AWS_ACCESS_KEY_ID"], driver.kill):
            return driver.submit(machine.arguments(job, folder), credentials, logs, control)


def _stand_in(name: str) -> Callable[[Sequence[str], Mapping[str, str]], int]:
    """The function that a test has named to take Spark's place."""
    module, _, function = name.partition(":")
    found: Callable[[Sequence[str], Mapping[str, str]], int] = getattr(importlib.import_module(module), function)
    return found
