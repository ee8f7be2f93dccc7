"""The points at which everything is made to go wrong, generated: every call that a role is granted, and every state.

A call is what `infra/grants.py` lets a role do, because a role has nothing that its code does not use (`test_least_privilege`).
A state is one of the definition's. So a new call, a new state, a new function has its points without anybody's thinking of
it; what a point needs beside (how a run gets there) is in `situations.py`, and a point without it fails a test.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from infra import grants
from infra.paths import ROOT

DEFINITION: dict[str, Any] = json.loads((ROOT / "statemachine" / "continuous_export.asl.json").read_text())
STATES: dict[str, dict[str, Any]] = DEFINITION["States"]
JOB, MACHINE, SCHEDULE = "JobRole", "StateMachine", "SchedulerRole"

# What is done to a point.
REFUSED, REPLY_LOST, KILLED, STOPPED = "refused", "reply lost", "killed", "stopped"
NOT_ENTERED, NOT_RECORDED, FAILS, TOO_LATE = "stopped before", "stopped after", "fails", "too late"

#: Every resource in the words of a policy's pattern: what the faults are aimed with.
PLACES = grants.Places(
    arn=lambda service, rest: f"arn:aws:{service}:*:*:{rest}",
    tables=("arn:aws:dynamodb:*:*:table/orders",),
    bucket="arn:aws:s3:::tidemark-*",
    topic="arn:aws:sns:*:*:*",
    topic_key="arn:aws:kms:*:*:key/*",
    database="tidemark",
    application="arn:aws:emr-serverless:*:*:/applications/*",
    state_machine_name="Tidemark",
    parameters="/tidemark/Tidemark",
    assets=("arn:aws:s3:::cdk-*/*.zip", "arn:aws:s3:::cdk-*/*.py"),
    columns_files="arn:aws:s3:::cdk-*/*.json",
    secrets=("arn:aws:secretsmanager:*:*:secret:*",),
)

#: Granted, and no call of its own, or one that is struck elsewhere: (role or "*", action, its resource or "*") to the reason.
NO_POINT = {
    ("*", "kms:GenerateDataKey", "*"): "made by SNS for who publishes",
    ("*", "kms:Decrypt", "*"): "made by SNS for who publishes",
    ("*", "glue:GetTable", "catalog"): "a call for a table is evaluated on its catalog too",
    ("*", "glue:GetTable", "database/tidemark"): "a call for a table is evaluated on its database too",
    (JOB, "glue:CreateTable", "catalog"): "a call for a table is evaluated on its catalog too",
    (JOB, "glue:CreateTable", "database/tidemark"): "a call for a table is evaluated on its database too",
    (JOB, "glue:UpdateTable", "catalog"): "a call for a table is evaluated on its catalog too",
    (JOB, "glue:UpdateTable", "database/tidemark"): "a call for a table is evaluated on its database too",
    ("*", "glue:GetDatabase", "catalog"): "a call for a database is evaluated on its catalog too",
    ("RecordWatermark", "glue:GetDatabase", "database/tidemark"): "only where the table is gone by then",
    ("Plan", "ssm:GetParametersByPath", ""): "only for a table without parameters, which is refused",
    ("Plan", "emr-serverless:GetJobRun", "*"): "only in a dry run, which does nothing",
    ("NotifyNews", "s3:GetObject", "*"): "only for a daily digest, which the incidents' tests send",
    ("NotifyNews", "s3:ListBucket", "*"): "evaluated by S3 to answer that a file is not there",
    ("Plan", "s3:ListBucket", "*"): "evaluated by S3 to answer that a file is not there",
    ("RecordWatermark", "s3:ListBucket", "*"): "evaluated by S3 to answer that a file is not there",
    ("NotifyFailure", "s3:ListBucket", "*"): "evaluated by S3 to answer that a file is not there",
    ("*", "ssm:GetParameters", "last-export-time"): "read in one call with told",
    ("*", "ssm:GetParameters", "settings"): "read in one call with told",
    ("*", "ssm:GetParameters", "control"): "read in one call with told",
    ("StartExports", "s3:PutObject", "*"): "made by DynamoDB for who asks for an export; exports fail by a knob",
    ("StartExports", "s3:PutObjectAcl", "*"): "made by DynamoDB for who asks for an export",
    ("StartExports", "s3:AbortMultipartUpload", "*"): "made by DynamoDB for who asks for an export",
    (JOB, "s3:AbortMultipartUpload", "*"): "only when an upload of more than one part fails halfway",
    (JOB, "s3:DeleteObject", "*"): "by maintenance, which has tests of its own, and of metadata a hundred commits old",
    (JOB, "s3:GetObject", "*.zip"): "made by EMR Serverless before the job begins",
    (JOB, "s3:GetObject", "*.py"): "made by EMR Serverless before the job begins",
    (
        JOB,
        "s3:GetObject",
        "runs/*",
    ): "only by a job whose work another has done meanwhile, which the main path's tests tell",
    (JOB, "s3:PutObject", "logs/*"): "made by EMR Serverless when the job has ended",
    (JOB, "secretsmanager:*", "*"): "made by EMR Serverless before the job begins; only where a table hashes",
    (MACHINE, "lambda:InvokeFunction", "*"): "struck as the states that make it",
    (MACHINE, "emr-serverless:StartJobRun", "*"): "struck as the state that makes it",
    (MACHINE, "emr-serverless:GetJobRun", "*"): "made by Step Functions while RunSparkJob waits",
    (MACHINE, "emr-serverless:CancelJobRun", "*"): "made by Step Functions when RunSparkJob is stopped",
    (MACHINE, "iam:PassRole", "*"): "evaluated with StartJobRun",
    (MACHINE, "events:PutTargets", "*"): "made by Step Functions to learn of the job's end",
    (MACHINE, "events:PutRule", "*"): "made by Step Functions to learn of the job's end",
    (MACHINE, "events:DescribeRule", "*"): "made by Step Functions to learn of the job's end",
    ("*", "logs:*", "*"): "made by Lambda and Step Functions to write logs",
    ("*", "xray:*", "*"): "made by Lambda and Step Functions to trace",
    (SCHEDULE, "sqs:SendMessage", "*"): "made when StartExecution is refused, which is a point",
}


@dataclass(frozen=True)
class Call:
    """What a role may do to what; `what` is the resource as a person would name it."""

    role: str
    action: str
    resource: str

    @property
    def what(self) -> str:
        """The part of the resource that tells it from others of its service."""
        service, rest = self.action.split(":")[0], self.resource.split(":", 5)[5]
        if service == "s3":
            return rest.partition("/")[2]
        if service == "ssm":
            return rest.partition("/tidemark/Tidemark")[2].removeprefix("/*/").removeprefix("/")
        return rest if service == "glue" else ""

    @property
    def writes(self) -> bool:
        """Whether it leaves anything behind."""
        return not self.action.split(":")[1].startswith(("Get", "List", "Describe"))

    @property
    def reason_for_no_point(self) -> tuple[str, str, str] | None:
        """The entry of NO_POINT that speaks of it."""
        every = f"{self.action.split(':')[0]}:*"
        named = ((self.role, "*"), (self.action, every), (self.what, "*"))
        found = ((r, a, w) for r in named[0] for a in named[1] for w in named[2])
        return next((key for key in found if key in NO_POINT), None)


@dataclass(frozen=True)
class Point:
    """One thing to go wrong: what is done to the `nth` such call of a role in a run, or to a state."""

    where: str
    action: str
    what: str
    resource: str | None
    done: str
    nth: int = 1

    @property
    def name(self) -> str:
        """How a person calls it, and a test."""
        nth = f"call {self.nth}" if self.nth > 1 else ""
        return " ".join(filter(None, (self.where, self.action, nth, self.what, self.done)))

    @property
    def is_state(self) -> bool:
        """Whether a state is struck rather than a call."""
        return self.action == ""

    @property
    def leaves_something(self) -> bool:
        """Whether the run dies between a side effect and its record."""
        return self.done == STOPPED or (self.where == JOB and self.done == KILLED and self.writes)

    @property
    def writes(self) -> bool:
        """Whether the call leaves anything behind."""
        return not self.is_state and Call(self.where, self.action, self.resource or "").writes


def granted_calls() -> list[Call]:
    """Every action of every role of the stack on each of its resources."""
    telemetry = grants.telemetry("arn:aws:logs:*:*:log-group:*")
    rights = {
        **{state: [*ours, *telemetry] for state, ours in grants.function_rights(PLACES).items()},
        JOB: grants.job_rights(PLACES),
        MACHINE: grants.state_machine_rights(PLACES, ("arn:aws:lambda:*:*:function:*",), "arn:aws:iam::*:role/*"),
        SCHEDULE: grants.scheduler_rights("arn:aws:states:*:*:stateMachine:*", "arn:aws:sqs:*:*:*"),
    }
    found = {
        Call(role, action, resource if resource != "*" else "arn:aws:*:*:*:*"): None
        for role, ours in rights.items()
        for right in ours
        for action in right.actions
        for resource in right.resources
    }
    return list(found)


def points() -> list[Point]:
    """Every point there is, in the order of a run as far as there is one."""
    calls = [point for call in granted_calls() if not call.reason_for_no_point for point in _of_call(call)]
    return [*_of_states(), *calls]


def _of_call(call: Call) -> Iterator[Point]:
    done = [REFUSED, KILLED]
    if call.writes:
        # A function's state is tried again; a job, once dead, ends its run as a stop does.
        done = [REFUSED, REPLY_LOST, KILLED] if call.role == JOB else [REFUSED, REPLY_LOST, KILLED, STOPPED]
    if call.role == SCHEDULE:
        done = [REFUSED, REPLY_LOST]
    for one in done:
        for nth in range(1, MOST_TIMES.get((call.role, call.action), 1) + 1):
            yield Point(call.role, call.action, call.what, call.resource, one, nth)


def _of_states() -> Iterator[Point]:
    for name, state in STATES.items():
        done = [NOT_ENTERED, NOT_RECORDED, FAILS, TOO_LATE] if state["Type"] == "Task" else [NOT_ENTERED]
        for one in done:
            yield Point(name, "", "", None, one)


#: How often a run makes a call that leaves something else behind each time: the data's commit, and what the table says of itself.
MOST_TIMES = {(JOB, "glue:UpdateTable"): 2}


def fault(point: Point, role: str | None) -> dict[str, Any]:
    """The fault, as the local AWS takes it. `role`: the role's name in the deployment."""
    if point.is_state:
        aimed: dict[str, Any] = {"action": f"state:{point.where}"}
    else:
        aimed = {"action": point.action, "resource": point.resource, "role": role, "on_call": point.nth}
    after = "after" if point.writes else "before"
    how: dict[str, dict[str, Any]] = {
        REFUSED: {"code": "AccessDeniedException", "status": 403, "times": 1000},
        REPLY_LOST: {"kind": "reply_lost"},
        KILLED: {"kind": "killed", "when": after},
        STOPPED: {"kind": "stopped", "when": after},
        NOT_ENTERED: {"kind": "stopped"},
        NOT_RECORDED: {"kind": "stopped", "when": "after"},
        FAILS: {"code": _transient(point.where), "times": 1000},
        TOO_LATE: {"kind": "delay", "when": "after", "seconds": 604_800},
    }
    return {"name": point.name, **aimed, **how[point.done]}


def _transient(state: str) -> str:
    return "EMRServerless.InternalServerException" if state == "RunSparkJob" else "Lambda.ServiceException"
