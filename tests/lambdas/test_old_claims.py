"""Claims that are over are removed when another one is made; that is housekeeping, and no run waits for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lambdas.aws import parameters
from pipeline.modes import UPDATE
from pipeline.planning.journal import Claim, RunPlan
from tests.lambdas.account import DEPLOYMENT, Account
from tests.lambdas.ticks import plan

pytestmark = pytest.mark.local_aws


def claim(account: Account) -> int:
    """Let a run claim work, and stop it; returns its claim's number."""
    execution = account.execution()
    answer = plan(execution)
    account.stop(execution)
    return int(answer["claim"])


def test_old_claims_are_removed_by_later_ones(account: Account):
    assert [claim(account) for _ in range(4)] == [1, 2, 3, 4]
    assert sorted(account.claims()) == [3, 4]


@pytest.mark.parametrize(("code", "status"), [("AccessDeniedException", 400), ("InternalServerError", 500)])
def test_old_claims_that_cannot_be_removed_hold_nothing_up_and_go_later(account: Account, code: str, status: int):
    fault = {"name": "kept", "action": "ssm:DeleteParameters", "code": code, "status": status, "times": 10**6}
    account.aws.set_faults(fault)
    assert [claim(account) for _ in range(4)] == [1, 2, 3, 4]
    assert sorted(account.claims()) == [1, 2, 3, 4]
    account.aws.set_faults()
    assert claim(account) == 5
    assert sorted(account.claims()) == [4, 5]


def test_however_many_claims_are_over_they_go_at_once(account: Account):
    """One request of AWS removes ten."""
    denied = {"code": "AccessDeniedException", "status": 400, "times": 99}
    account.aws.set_faults({"name": "kept", "action": "ssm:DeleteParameters", **denied})
    assert [claim(account) for _ in range(13)] == list(range(1, 14))
    account.aws.set_faults()
    assert claim(account) == 14
    assert sorted(account.claims()) == [13, 14]


def test_a_number_that_has_been_made_and_removed_while_its_maker_looked_is_no_claim_in_force(account: Account):
    for _ in range(4):
        claim(account)
    slow = account.execution()
    account.stop(slow)
    late = Claim(2, slow, RunPlan(UPDATE, account.source_id(), (account.grid(),)))
    assert not parameters.create_claim(DEPLOYMENT, "orders", late)
    assert parameters.create_claim(DEPLOYMENT, "orders", replace(late, number=5))
    assert claim(account) == 6
    assert sorted(account.claims()) == [5, 6]
