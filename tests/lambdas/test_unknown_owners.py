"""A claim whose owner Step Functions does not know: forgotten long ago, or begun a moment ago."""

from __future__ import annotations

import json

import pytest

from lambdas.plan import handler
from tests.lambdas.account import Account, call
from tests.lambdas.ticks import plan, times

pytestmark = pytest.mark.local_aws


def test_a_claim_of_an_execution_that_nobody_remembers_is_taken_over(account: Account):
    dead, me = account.execution(), account.execution()
    plan(dead)
    claim = json.dumps({**account.claims()[1], "owner": dead + "-forgotten"})
    account.put_parameter("orders", "run/1", claim)
    taken = call(handler, input={"table": "orders"}, execution=me, **times(account, minutes=3))
    assert taken["taken_over_from"] == dead + "-forgotten"


@pytest.mark.parametrize("wish", [{}, {"mode": "verify"}])
def test_of_two_executions_that_begin_at_once_the_second_leaves_alone_whom_nobody_knows_yet(
    account: Account, wish: dict[str, str]
):
    account.carry_out(account.grid(3))
    first, second = account.execution(), account.execution()
    begun = plan(first, **wish)
    unknown = {"name": "young", "code": "ExecutionDoesNotExist", "status": 400}
    account.aws.set_faults({**unknown, "action": "states:DescribeExecution"})

    tick = call(handler, input={"table": "orders"}, execution=second, **times(account, minutes=1))

    account.aws.set_faults()
    assert (tick["kind"], tick["reason"]) == ("Idle", "AnotherRun")
    assert (plan(first, **wish)["job_id"], list(account.claims())) == (begun["job_id"], [1])


def test_who_has_ended_a_moment_after_its_claim_is_taken_over_at_once(account: Account):
    dead, me = account.execution(), account.execution()
    plan(dead)
    account.stop(dead)
    taken = call(handler, input={"table": "orders"}, execution=me, **times(account, seconds=1))
    assert taken["taken_over_from"] == dead
