"""What a call is refused with keeps its own name where the function looks for another refusal of the same call.

Else an operator whose function lacks a right would look for a database, a file or an application that is there.
"""

from __future__ import annotations

from typing import Any

import pytest

from lambdas import start_exports
from lambdas.plan import handler as plan_handler
from pipeline.errors import CallRefused, ExportRefused, PermissionMissing
from pipeline.instants import parse_instant
from pipeline.modes import BACKFILL
from pipeline.planning.journal import Claim, RunPlan
from tests.lambdas.account import Account, call
from tests.lambdas.ticks import plan, times

pytestmark = pytest.mark.local_aws


def refuse(account: Account, action: str, code: str = "AccessDeniedException", status: int = 400) -> None:
    account.aws.set_faults({"name": "refused", "action": action, "code": code, "status": status, "times": 1000})


def start(account: Account, request: dict[str, str]) -> dict[str, Any]:
    """What StartExports makes of this request, and DynamoDB of what it is asked for."""
    description = account.aws.client("dynamodb").describe_table(TableName="orders")["Table"]
    source = {"arn": description["TableArn"], "id": description["TableId"], "key": ["id:S"]}
    planned = {"kind": "Export", "mode": "update", "table": "orders", "source": source, "exports": [request]}
    told = {"attempt": 0, "seen_at": account.instants(0)[0], "taken_over_from": ""}
    (export,) = call(start_exports.handler, plan={**planned, **told})["exports"]
    described: dict[str, Any] = account.aws.client("dynamodb").describe_export(ExportArn=export["arn"])
    return described["ExportDescription"]


def test_a_database_that_nobody_may_look_at_is_not_taken_for_one_that_is_gone(account: Account):
    refuse(account, "glue:GetDatabase")
    with pytest.raises(PermissionMissing, match="GetDatabase"):
        plan(account.execution())


def test_a_table_that_nobody_may_look_at_is_not_taken_for_none_and_exported_in_full(account: Account):
    account.carry_out(account.grid(3))
    refuse(account, "glue:GetTable")
    with pytest.raises(PermissionMissing, match="GetTable"):
        plan(account.execution())
    assert account.claims() == {}


def test_job_runs_that_nobody_may_list_are_not_taken_for_an_application_that_is_gone(account: Account, up_to_date: str):
    start, end = map(parse_instant, account.instants(2, 0))
    wished = RunPlan(BACKFILL, account.source_id(), (start, end))
    account.put_parameter("orders", "run/7", Claim(7, f"{account.execution()}-forgotten", wished).to_text())
    refuse(account, "emr-serverless:ListJobRuns")
    with pytest.raises(PermissionMissing, match="ListJobRuns"):
        call(plan_handler, input={"table": "orders"}, execution=account.execution(), **times(account, hours=1))


def test_what_is_said_of_columns_is_not_taken_for_gone_where_it_only_cannot_be_read(account: Account):
    refuse(account, "s3:GetObject", "InvalidObjectState", 403)
    with pytest.raises(CallRefused, match="InvalidObjectState"):
        plan(account.execution())


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("ExportConflictException", ExportRefused),
        ("ValidationException", ExportRefused),
        ("AccessDeniedException", PermissionMissing),
    ],
)
def test_an_export_that_dynamodb_does_not_begin_is_called_what_its_code_means(
    account: Account, code: str, name: type[Exception]
):
    refuse(account, "dynamodb:ExportTableToPointInTime", code)
    with pytest.raises(name, match=code):
        start(account, {"at": account.instants(1)[0]})


def test_a_full_export_shows_the_table_as_it_was_at_the_instant_of_its_plan(account: Account):
    (at,) = account.instants(1)
    described = start(account, {"at": at})
    assert (described["ExportType"], described["ExportTime"]) == ("FULL_EXPORT", parse_instant(at))
