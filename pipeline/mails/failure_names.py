"""What a failure is called: from the error and cause that Step Functions hands on, to a name with a section in the manual."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.errors import (
    LONGEST_TEXT,
    REMEDY_MARK,
    AwsUnavailable,
    JobFailed,
    JobNotStarted,
    JobRefused,
    PermissionMissing,
    PipelineError,
    error_names,
)
from pipeline.events import PlanEvent
from pipeline.mails.told import LONGEST_NAME, FailureKind

_EMR, _LAMBDA = "EMRServerless", "Lambda"
#: What the state machine has tried again for as long as it does.
_TRANSIENT = (
    "InternalServerException",
    "ThrottlingException",
    "ServiceQuotaExceededException",
    "ConflictException",
    "SdkClientException",
)
#: What a request is refused as that is wrong itself. StartJobRun's model names no more than these and some of the above: any
#: other refusal may come under the name of the service, in one spelling or another, and only its words tell.
_WRONG = ("ValidationException", "ResourceNotFoundException")
_DENIED = re.compile(r"not authorized|access ?denied", re.IGNORECASE)
_BUSY = re.compile(r"rate exceeded|throttl|too many requests|status code: (429|5\d\d)", re.IGNORECASE)


@dataclass(frozen=True)
class Failure:
    """A failed state, the error's name, what happened, and what to do.

    `result`: the job's finding in three words. `job_run`: the id of the job run that has failed. `reported`: the job has
    left a report that says so.
    """

    state: str
    error: str
    message: str
    remedy: str
    result: str = ""
    job_run: str = ""
    reported: bool = False

    @property
    def error_class(self) -> type[PipelineError]:
        """The error's class; PipelineError itself for a name that is not the product's (a bug, a service's own error)."""
        return _class_of(self.error)

    def told_as(self, plan: PlanEvent) -> FailureKind:
        """What tells it from other failures: of the same one again nothing is told. `plan`: the run's, or {}."""
        return FailureKind(self.error, self.state, plan.get("mode", ""))

    @classmethod
    def from_state(cls, raw: Mapping[str, Any]) -> Failure:
        """Read the state machine's ``failure`` variable: state, error, cause."""
        error = str(raw["error"])
        if raw["state"] == "RunSparkJob":
            message, job_run = _job_message(str(raw["cause"]))
            error_class = _class_without_job(error, message)
            return cls(
                raw["state"], error_class.__name__, f"{error}: {message}", error_class.default_remedy, job_run=job_run
            )
        text = _lambda_message(str(raw["cause"]))
        if _is_not_called(error, text):
            message = f"{error}: {text}"[:LONGEST_TEXT]
            return cls(raw["state"], PermissionMissing.__name__, message, PermissionMissing.default_remedy)
        message, _, remedy = text.partition(REMEDY_MARK)
        remedy = remedy[:LONGEST_TEXT] or _class_of(error).default_remedy
        return cls(raw["state"], error, message[:LONGEST_TEXT], remedy)

    @property
    def heals_by_itself(self) -> bool:
        """Whether the next scheduled run tries again by itself; not where Plan tells that a job refuses each time."""
        return self.error_class.heals_by_itself and not (
            self.state == "Plan" and issubclass(self.error_class, JobRefused)
        )

    def explained_by(self, report: Mapping[str, Any], client_token: str = "") -> Failure:
        """Take the name that the Spark job itself gave, if it left a report of its refusal.

        `client_token` names the job run that has failed: what an earlier one of the same work has left explains nothing.
        """
        if not report.get("error") or report.get("client_token", "") != client_token:
            return self
        # Somebody may have edited it, and who is to mail must not stumble over that.
        error, result = (str(report.get(part, ""))[:LONGEST_NAME] for part in ("error", "result"))
        default = _class_of(error).default_remedy
        message, remedy = (
            str(text)[:LONGEST_TEXT] for text in (report.get("message", ""), report.get("remedy", default))
        )
        return Failure(self.state, error, message, remedy, result, self.job_run, True)


def _class_of(error: str) -> type[PipelineError]:
    """The class of an error's name; PipelineError itself for a name that is not the product's."""
    return error_names().get(error, PipelineError)


def _class_without_job(error: str, message: str) -> type[PipelineError]:
    """What it is called that a job run has not ended well, or that EMR Serverless has not begun one, from its own words."""
    service, _, name = error.partition(".")
    if service != _EMR:
        return JobFailed
    if name in _TRANSIENT:
        return AwsUnavailable
    if name in _WRONG:
        return JobNotStarted
    if name == "AccessDeniedException" or _DENIED.search(message):
        return PermissionMissing
    return AwsUnavailable if _BUSY.search(message) else JobNotStarted


def _is_not_called(error: str, message: str) -> bool:
    """Whether Lambda calls a function no more, however often it is asked: it is gone, or the machine may not call it."""
    service, _, name = error.partition(".")
    return service == _LAMBDA and (name == "ResourceNotFoundException" or _DENIED.search(message) is not None)


def _lambda_message(cause: str) -> str:
    """The message inside a function's error object; anything else as it stands."""
    try:
        raw = json.loads(cause)
    except ValueError:
        return cause
    return str(raw.get("errorMessage", cause)) if isinstance(raw, dict) else cause


def _job_message(cause: str) -> tuple[str, str]:
    """The details inside a job run, or the cause as it stands, and the job run's id where it is told.

    The job run is the whole cause, or its ``JobRun``, as in a state's result.
    """
    try:
        raw = json.loads(cause)
    except ValueError:
        raw = None
    told = raw if isinstance(raw, dict) else {}
    told = told["JobRun"] if isinstance(told.get("JobRun"), dict) else told
    return str(told.get("StateDetails") or cause)[:LONGEST_TEXT], str(told.get("JobRunId") or "")
