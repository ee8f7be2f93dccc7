"""A world that answers the state machine's tasks by a script: what it plans, and what each task gives back."""

from __future__ import annotations

from typing import Any

from tests.statemachine.walk import Answer, TaskFailed

EXPORT = {"kind": "Export", "table": "orders", "job_id": "job-1"}
IDLE = {"kind": "Idle", "reason": "UpToDate"}
IDLE_WITH_NEWS = {**IDLE, "table": "orders", "news": ["IncidentOver", "Digest"]}
HALT = {"kind": "Halt", "table": "orders", "error": "PitrOff", "cause": "It is off.\nTo do: Turn it on."}
MAINTAIN = {"kind": "Maintain", "table": "orders", "job_id": "job-2", "exports": []}
RECORD = {"kind": "Record", "table": "orders", "watermark": "…"}
EXPORTS = [{"from": "…", "to": "…", "arn": "arn-of-the-export"}]
COMPLETE = [{**EXPORTS[0], "manifest": "s3://…"}]
JOB = {
    "application_id": "00app",
    "client_token": "job-1-0",
    "role_arn": "arn-of-the-role",
    "name": "job-1",
    "timeout_minutes": 720,
    "entry_point": "s3://…/main.py",
    "arguments": ["{}"],
    "spark_submit_parameters": "--conf a=b",
    "application_configuration": [],
    "log_uri": "s3://…/logs/",
}
JOB_RUN = {"JobRunId": "00job", "TotalExecutionDurationSeconds": 60, "BilledResourceUtilization": {"VCPUHour": 1.0}}
ROUND = [
    *["StartExports", "WaitForExports", "CheckExports", "ChooseReadiness"],
    *["PrepareJob", "RunSparkJob", "RecordWatermark", "NotifySuccess", "Plan", "ChooseAction"],
]
UP_TO_THE_JOB = ["Plan", "ChooseAction", *ROUND[: ROUND.index("RunSparkJob") + 1]]


def answers(*plans: dict[str, Any] | TaskFailed, looks: int = 1, job_run: Any = None, **failing: TaskFailed) -> Answer:
    """Answers of a world that plans these actions in turn, whose exports are complete at the last of `looks`."""
    planned, ready = iter(plans), iter([*[False] * (looks - 1), True] * len(plans))
    payloads = {
        "Plan": lambda: next(planned),
        "StartExports": lambda: {"exports": EXPORTS, "wait_seconds": 30},
        "CheckExports": lambda: {"exports": COMPLETE, "ready": next(ready), "wait_seconds": 45},
        "PrepareJob": lambda: JOB,
        "RecordWatermark": lambda: {"watermark": "…"},
        "NotifyNews": lambda: {"subjects": ["…"]},
        "NotifySuccess": lambda: {"subjects": ["…"]},
        "NotifyFailure": lambda: {"state": "…", "error": "NamedByTheMail", "cause": "Told by the mail."},
    }

    def answer(state: str, arguments: Any) -> Any:
        if state in failing:
            raise failing[state]
        if state == "RunSparkJob":
            return job_run or JOB_RUN
        payload = payloads[state]()
        if isinstance(payload, TaskFailed):
            raise payload
        if state == "CheckExports":
            payload["checks"] = arguments["Payload"]["checks"] + 1
        return {"Payload": payload}

    return answer
