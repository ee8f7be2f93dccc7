"""What the functions that send mail are handed, for the tests of the mails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.mails.failure import failure_mail
from pipeline.mails.failure_names import Failure
from pipeline.mails.frame import Mail
from pipeline.mails.told import Incident
from pipeline.planning.actions import Export, describe
from pipeline.planning.horizon import Horizon
from pipeline.planning.journal import RunPlan
from tests.pipeline.world import DEPLOYMENT, EXECUTION, at, plan

COUNTS = {"read": 15, "inserted": 5, "updated": 4, "deleted": 3, "already_there": 2, "unknown_deletes": 1}

#: What a plan tells of the world beside its action.
OUTLOOK = {
    "history": Horizon(at("12:00"), at("01/12:00"), at("13:00")).to_json(),
    "works": False,
    "rows": {},
    "digest": {},
    "news": [],
    "tick_minutes": 15,
    "success_mail": "every_run",
    "rebuilds": False,
    "at_work": "",
}


def done(
    found: RunPlan | None = None, job: str = "merge", counts: dict[str, int] = COUNTS, **given: Any
) -> dict[str, Any]:
    """What NotifySuccess is handed after a round: `given` goes into plan and report."""
    action = Export(found or plan("12:00 13:00"), 7, taken_over_from=given.get("taken_over_from", ""))
    made = {
        **describe(action),
        "planned_at": "2026-11-21T13:08:00.789Z",
        "table": given.get("table", "orders"),
        "iceberg_table": "orders",
        **OUTLOOK,
    }
    report = {
        "watermark": made["end"],
        "start": made["start"],
        "job_id": made["job_id"],
        "job": job,
        "counts": counts,
        "new_columns": given.get("new_columns", []),
        "changed_columns": given.get("changed_columns", []),
        "misfits": given.get("misfits", []),
        "continuity": given.get("continuity", ""),
        "report": "s3://a-bucket/runs/orders/job.json",
    }
    exports = [{**export, "arn": "…", "manifest": "…", "billed_bytes": 10_000_000} for export in made["exports"]]
    return {
        "input": {"table": "orders", "scheduled_time": "2026-11-21T13:00:00Z"},
        "execution": EXECUTION,
        "startedAt": "2026-11-21T13:05:00.123Z",
        "endedAt": "2026-11-21T13:12:30.456Z",
        "plan": made,
        "report": report,
        "exports": exports,
        "jobRun": given.get("job_run", {"id": "00job", "billed": {"VCPUHour": 1.0}}),
    }


#: The plan of a run that has claimed its work.
PLANNED = {
    "kind": "Export",
    "table": "orders",
    "job_id": "the-job",
    "start": "2026-11-20T00:00:00Z",
    "claim": 7,
    "attempt": 7,
}


def failed(
    error: str = "Gap",
    state: str = "RunSparkJob",
    *,
    horizon: Horizon | None = None,
    incident: Incident | None = None,
    asked: Mapping[str, Any] | None = None,
    planned: Mapping[str, Any] | None = None,
    **known: Any,
) -> Mail:
    """The mail about a failure of the table orders. `asked` goes into the run's input, `planned` is its plan.

    `known`: what more is known of the failure.
    """
    event = {"input": {"table": "orders", **(asked or {})}, "execution": EXECUTION, "plan": planned or {}}
    failure = Failure(state, error, "What happened there.", "What helps.", **known)
    return failure_mail(event, failure, DEPLOYMENT, horizon=horizon, incident=incident)
