"""What a job was given once is not exported again for the run that finishes the work, however long ago that was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lambdas import check_exports, prepare_job, start_exports
from lambdas.plan import handler as plan_handler
from tests.lambdas.account import DEPLOYMENT, Account, call

pytestmark = pytest.mark.local_aws
#: DynamoDB has forgotten by then whatever has ended before.
NINE_HOURS = 9 * 3600


@pytest.fixture
def plan(account: Account) -> dict[str, Any]:
    """Two windows of the source table as it is now."""
    description = account.aws.client("dynamodb").describe_table(TableName="orders")["Table"]
    first, second, third = account.instants(3, 2, 1)
    return {
        **{
            "kind": "Export",
            "mode": "update",
            "job": "merge",
            "job_id": "update-1",
            "attempt": 0,
            "taken_over_from": "",
        },
        **{"table": "orders", "iceberg_table": "orders", "buckets": 16, "columns_file": DEPLOYMENT.columns_file},
        **{"hash_secret": "", "compare_old_images": False, "snapshot_days": 30, "seen_at": account.instants(0)[0]},
        "source": {"arn": description["TableArn"], "id": description["TableId"], "key": ["id:S"]},
        "exports": [{"from": first, "to": second}, {"from": second, "to": third}],
        **{"start": first, "end": third},
    }


def start(plan: dict[str, Any]) -> list[str]:
    """The exports that the plan's job would get."""
    return [export["arn"] for export in call(start_exports.handler, plan=plan)["exports"]]


def taken_over(plan: dict[str, Any]) -> dict[str, Any]:
    """The same work, planned by a run that finds it half done."""
    return {**plan, "taken_over_from": f"{DEPLOYMENT.state_machine_arn.replace('stateMachine', 'execution')}:died"}


def fail(account: Account, plan: dict[str, Any], **changed: Any) -> list[str]:
    """Carry the plan out by a job that dies, whose order is perhaps another; returns its exports."""
    exports = call(start_exports.handler, plan=plan)["exports"]
    complete = call(check_exports.handler, exports=exports, checks=0)["exports"]
    prepared = call(prepare_job.handler, plan=plan, exports=complete)
    (order,) = prepared["arguments"]
    told = {**json.loads(order), **changed}
    arguments = [json.dumps({name: value for name, value in told.items() if value is not None})]
    account.run_job(prepared["name"], prepared["client_token"], arguments=arguments)
    return [export["arn"] for export in exports]


def test_the_run_that_finishes_the_work_of_a_job_that_died_takes_its_exports(account: Account, plan: dict[str, Any]):
    given = fail(account, plan)
    account.aws.advance(NINE_HOURS)
    again = call(start_exports.handler, plan=taken_over(plan))["exports"]
    assert [export["arn"] for export in again] == given
    complete = call(check_exports.handler, exports=again, checks=0)
    assert complete["ready"]
    assert all(export["manifest"].endswith("/manifest-summary.json") for export in complete["exports"])
    assert [(export["from"], export["to"]) for export in again] == [tuple(w.values()) for w in plan["exports"]]


def test_without_a_job_they_are_asked_for_and_found_by_their_tokens(account: Account, plan: dict[str, Any]):
    made = start(plan)
    assert start(taken_over(plan)) == made
    account.aws.advance(NINE_HOURS)
    assert set(start(taken_over(plan))).isdisjoint(made)


def test_a_run_whose_answer_was_lost_when_it_took_the_work_over_takes_them_as_well(account: Account):
    account.carry_out(account.grid(1))
    dead, me, asked = account.execution(), account.execution(), {"input": {"table": "orders"}}
    given = fail(account, call(plan_handler, execution=dead, **asked))
    account.stop(dead)
    account.aws.advance(NINE_HOURS)
    assert call(plan_handler, execution=me, **asked)["taken_over_from"] == dead
    again = call(plan_handler, execution=me, **asked)
    assert (again["claim"], again["taken_over_from"]) == (2, "")
    assert start(again) == given


def test_of_several_jobs_the_last_one_s_are_taken(account: Account, plan: dict[str, Any]):
    fail(account, plan)
    account.aws.advance(NINE_HOURS)
    last = fail(account, plan)  # as a run that has not found the former would
    account.aws.advance(NINE_HOURS)
    assert start(taken_over(plan)) == last


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"exports_root": "s3://another-bucket/exports/orders/AWSDynamoDB/"}, id="they lie elsewhere"),
        pytest.param({"exports": ["one/manifest-summary.json"]}, id="there are fewer"),
        pytest.param({"start": "once"}, id="no order of this version"),
        pytest.param({"job_id": None}, id="an order that lacks what this version wants"),
        pytest.param({"key": 7}, id="an order that writes it in another way"),
    ],
)
def test_an_order_that_says_something_else_is_passed_over(
    account: Account, plan: dict[str, Any], changed: dict[str, Any]
):
    fail(account, plan, **changed)
    account.aws.advance(NINE_HOURS)
    before = len(account.aws.client("dynamodb").list_exports()["ExportSummaries"])
    start(taken_over(plan))
    assert len(account.aws.client("dynamodb").list_exports()["ExportSummaries"]) == before + 2


def test_work_that_is_begun_anew_takes_nothing_of_a_job_of_before(account: Account, plan: dict[str, Any]):
    given = fail(account, plan)
    account.aws.advance(NINE_HOURS)
    assert set(start(plan)).isdisjoint(given)
    assert set(start({**taken_over(plan), "job_id": "update-2", "attempt": 1})).isdisjoint(given)
