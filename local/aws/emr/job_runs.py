"""Job runs as the API knows them: asked for once per token, described, listed, cancelled.

Limits: "StartJobRun" of the API reference, and the release notes of emr-7.11 for the execution timeout.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from local.aws.clock import CLOCK
from local.aws.emr import PRINCIPAL, runs
from local.aws.emr.applications import ENDED, application_named, require_started
from local.aws.emr.errors import (
    AccessDeniedException,
    NotEmulated,
    ResourceNotFoundException,
    ValidationException,
)
from local.aws.emr.paging import page_of
from local.aws.emr.spark import JobUnreadable
from local.aws.emr.store import STORE, Record, arn_of, new_id
from local.aws.roles import AccessDenied, check_caller

_DEFAULT_TIMEOUT_MINUTES = 720
_LONGEST_TIMEOUT_MINUTES = 10_080
_NOTHING_USED = {"vCPUHour": 0.0, "memoryGBHour": 0.0, "storageGBHour": 0.0}
_SUMMARY = (
    *("applicationId", "name", "mode", "arn", "createdBy", "createdAt", "updatedAt", "executionRole", "state"),
    *("stateDetails", "releaseLabel", "attempt", "attemptCreatedAt", "attemptUpdatedAt"),
)


def start_job_run(asked: Mapping[str, Any]) -> Record:
    """StartJobRun. The same token is the same job run for ever, also once it has failed."""
    _may_pass(str(asked["executionRoleArn"]))
    with STORE.changed:
        application_id = asked["applicationId"]
        application_named(application_id)
        token = (application_id, str(asked["clientToken"]))
        if token not in STORE.tokens:
            run = _new_run(asked, require_started(application_id))
            STORE.job_runs[run["jobRunId"]] = run
            STORE.tokens[token] = run["jobRunId"]
            runs.begin(run["jobRunId"])
        run = STORE.job_runs[STORE.tokens[token]]
        return {name: run[name] for name in ("applicationId", "jobRunId", "arn")}


def get_job_run(asked: Mapping[str, Any]) -> Record:
    """GetJobRun."""
    if str(asked.get("attempt", 1)) != "1":
        raise ResourceNotFoundException(f"Job run {asked['jobRunId']} has no attempt {asked['attempt']}")
    with STORE.changed:
        return {"jobRun": {"stateDetails": "", **_named(asked)}}


def list_job_runs(asked: Mapping[str, Any]) -> Record:
    """ListJobRuns: newest first, by state, instant of creation and mode."""
    states = asked.get("states", [])
    after, before = (_instant(asked, name) for name in ("createdAtAfter", "createdAtBefore"))
    with STORE.changed:
        try:
            application_named(asked["applicationId"])
        except ResourceNotFoundException as unknown:
            # The operation's model has no ResourceNotFoundException.
            raise ValidationException(str(unknown)) from unknown
        found = [
            {"id": run["jobRunId"], "stateDetails": "", **{name: run[name] for name in _SUMMARY if name in run}}
            for run in reversed(STORE.job_runs.values())
            if run["applicationId"] == asked["applicationId"]
            and (not states or run["state"] in states)
            and (after is None or run["createdAt"] >= after)
            and (before is None or run["createdAt"] <= before)
            and run["mode"] == asked.get("mode", run["mode"])
        ]
        return page_of(found, list(reversed(STORE.job_runs)), asked, "jobRuns")


def cancel_job_run(asked: Mapping[str, Any]) -> Record:
    """CancelJobRun: answers at once, the job run is CANCELLED when its process is gone."""
    try:
        grace_seconds = float(asked.get("shutdownGracePeriodInSeconds", 0))
    except ValueError as unreadable:
        raise ValidationException("shutdownGracePeriodInSeconds is not a whole number") from unreadable
    with STORE.changed:
        run = _named(asked)
        if run["state"] in ENDED:
            raise ValidationException(f"Job run {run['jobRunId']} cannot be cancelled: it is {run['state']}")
        runs.cancel(run["jobRunId"], "Job run was cancelled by CancelJobRun", grace_seconds)
        return {name: run[name] for name in ("applicationId", "jobRunId")}


def list_job_run_attempts(asked: Mapping[str, Any]) -> Record:
    """ListJobRunAttempts: there is never more than one."""
    with STORE.changed:
        run = _named(asked)
        names = [name for name in _SUMMARY if not name.startswith("attempt") and name in run]
        attempt = {"id": run["jobRunId"], "attempt": 1, "jobCreatedAt": run["createdAt"], "stateDetails": ""}
        return {"jobRunAttempts": [{**attempt, **{name: run[name] for name in names}}]}


def _named(asked: Mapping[str, Any]) -> Record:
    run = STORE.job_runs.get(asked["jobRunId"])
    if run is None or run["applicationId"] != asked["applicationId"]:
        raise ResourceNotFoundException(f"JobRun {asked['jobRunId']} does not exist")
    return run


def _may_pass(role_arn: str) -> None:
    """Whoever starts a job hands it a role, which is an action of its own."""
    try:
        check_caller("iam:PassRole", role_arn, {"iam:PassedToService": PRINCIPAL})
    except AccessDenied as denied:
        raise AccessDeniedException(str(denied)) from denied


def _new_run(asked: Mapping[str, Any], application: Record) -> Record:
    _refuse_what_is_missing_here(asked)
    try:
        runs.job_of(asked, application)
    except JobUnreadable as unreadable:
        raise ValidationException(str(unreadable)) from unreadable
    now, run_id = CLOCK.time(), new_id()
    given = {name: asked[name] for name in ("name", "jobDriver", "configurationOverrides") if name in asked}
    return {
        **given,
        "applicationId": application["applicationId"],
        "jobRunId": run_id,
        "arn": arn_of(application["applicationId"], run_id),
        "createdBy": _caller_arn(),
        "createdAt": now,
        "updatedAt": now,
        "executionRole": asked["executionRoleArn"],
        "state": "SUBMITTED",
        "releaseLabel": application["releaseLabel"],
        "tags": dict(asked.get("tags", {})),
        "mode": "BATCH",
        "executionTimeoutMinutes": _timeout_minutes(asked),
        "attempt": 1,
        "attemptCreatedAt": now,
        "attemptUpdatedAt": now,
        "retryPolicy": {"maxAttempts": 1},
        "totalExecutionDurationSeconds": 0,
        "totalResourceUtilization": dict(_NOTHING_USED),
        "billedResourceUtilization": dict(_NOTHING_USED),
    }


def _refuse_what_is_missing_here(asked: Mapping[str, Any]) -> None:
    """Refuse what AWS could run and this cannot."""
    if asked.get("mode", "BATCH") != "BATCH":
        raise NotEmulated("streaming jobs")
    if asked.get("executionIamPolicy"):
        raise NotEmulated("session policies of jobs (executionIamPolicy)")
    if int(asked.get("retryPolicy", {}).get("maxAttempts", 1)) != 1:
        raise NotEmulated("further attempts at a job (retryPolicy.maxAttempts)")
    driver = asked.get("jobDriver", {})
    if "hive" in driver:
        raise NotEmulated("Hive jobs")
    if "sparkSubmit" not in driver:
        raise ValidationException("jobDriver is missing; it names what to run")


def _timeout_minutes(asked: Mapping[str, Any]) -> int:
    minutes = int(asked.get("executionTimeoutMinutes", _DEFAULT_TIMEOUT_MINUTES))
    if not 1 <= minutes <= _LONGEST_TIMEOUT_MINUTES:
        raise ValidationException(
            f"executionTimeoutMinutes is {minutes}; a batch job takes 1 to {_LONGEST_TIMEOUT_MINUTES} minutes"
        )
    return minutes


def _instant(asked: Mapping[str, Any], name: str) -> float | None:
    """A query's instant: ISO 8601 as the SDKs write it, or seconds since the epoch."""
    text = asked.get(name)
    if text is None:
        return None
    try:
        return float(text) if str(text).replace(".", "", 1).isdecimal() else datetime.fromisoformat(text).timestamp()
    except ValueError as unreadable:
        raise ValidationException(f"{name} is {text}; it is an instant such as 2026-11-21T00:00:00Z") from unreadable


def _caller_arn() -> str:
    from ministack.core.responses import get_account_id
    from ministack.services import sts

    from local.aws.callers import CALLER

    session = sts._sessions.get(CALLER.get().access_key) or {}
    return str(session.get("Arn") or f"arn:aws:iam::{get_account_id()}:root")
