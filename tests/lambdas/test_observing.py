"""What Plan looks at is read in an order: of work that has ended the table never shows the state of before."""

from __future__ import annotations

from typing import Any

import pytest

from lambdas.aws import executions
from lambdas.plan import handler
from tests.lambdas.account import Account, call

pytestmark = pytest.mark.local_aws


def plan(execution: str) -> dict[str, Any]:
    return call(handler, input={"table": "orders"}, execution=execution)


def test_what_is_committed_while_it_is_looked_who_owns_the_work_is_seen(
    account: Account, monkeypatch: pytest.MonkeyPatch
):
    account.carry_out(account.grid(2))
    dead, runs = account.execution(), executions.runs
    first, end = plan(dead), account.grid()
    account.stop(dead)
    account.aws.advance(3600)

    def runs_until_it_has_committed(owner: str) -> bool:
        account.commit(end, job_id=first["job_id"])
        return runs(owner)

    monkeypatch.setattr(executions, "runs", runs_until_it_has_committed)
    answer = plan(account.execution())
    assert (answer["kind"], answer["watermark"], answer["unrecorded"]) == ("Record", first["end"], "update")


def test_a_run_that_ends_while_it_is_looked_for_has_recorded_its_work_and_told_of_it(
    account: Account, monkeypatch: pytest.MonkeyPatch
):
    account.carry_out(account.grid(1))
    other, runs = account.execution(), executions.runs
    work, end = plan(other), account.grid()

    def runs_until_it_has_recorded(owner: str) -> bool:
        account.carry_out(end, job_id=work["job_id"])
        account.stop(other)
        return runs(owner)

    monkeypatch.setattr(executions, "runs", runs_until_it_has_recorded)
    answer = plan(account.execution())
    assert (answer["kind"], answer.get("reason")) == ("Idle", "UpToDate")
