"""An execution of the simulation fails, tries again and goes on as the definition says; a verification is one."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest

from tests.simulation import execution
from tests.simulation.account import Account
from tests.simulation.clock import DAY, Clock
from tests.simulation.run import FAILS_ONCE, Run
from tests.simulation.simulation import START
from tests.simulation.timeline import Violation
from tests.statemachine.definition import TASKS

#: More calls than a run makes that loads a table.
_CALLS = range(1, 67)
#: Where a mail fails, the run does not.
_NO_MAIL = set(TASKS) - {"NotifyNews", "NotifySuccess", "NotifyFailure"}


def new_account() -> Account:
    return Account(0, Clock(START), window_minutes=60)


def carried_out(account: Account, number: int, *, calls_left: int = 0, **asked: str) -> Run:
    """A run that a person has started, at its end; the call after so many others fails once."""
    run = Run(account, number, {"table": "orders", **asked}, "a person", calls_left=calls_left, fate=FAILS_ONCE)
    account.clock.at(account.clock.now, execution.execute(run, set()))
    account.clock.run_until(account.clock.now + DAY)
    return run


def states_that_fail() -> dict[str, str]:
    """The states in which a run that loads a table fails where one call fails once, whichever it is, and with what."""
    found = {}
    for call in _CALLS:
        run = carried_out(new_account(), 1, calls_left=call)
        assert run.outcome in ("SUCCEEDED", "FAILED")
        if run.failure:
            found[run.failure.state] = run.failure.error
    assert run.calls_left, "a run makes more calls than that"
    return found


def without(error: str) -> dict[str, dict]:
    """The definition's tasks, which do not try again after an error."""
    return {
        name: {
            **task,
            "Retry": [
                {**rule, "ErrorEquals": [named for named in rule["ErrorEquals"] if named != error]}
                for rule in task["Retry"]
            ],
        }
        for name, task in TASKS.items()
    }


def test_whatever_fails_once_is_tried_again():
    assert states_that_fail() == {}


@pytest.mark.parametrize(
    ("error", "states"),
    [
        ("AwsUnavailable", _NO_MAIL - {"RunSparkJob"}),
        ("Lambda.ServiceException", _NO_MAIL - {"RunSparkJob"}),
        ("EMRServerless.InternalServerException", {"RunSparkJob"}),
    ],
)
def test_what_a_state_does_not_name_is_not_tried_again_there(error: str, states: set[str]):
    with patch.dict(execution.STATES, without(error)):
        assert set(states_that_fail()) == states


def test_a_verification_compares_source_and_table_and_commits_nothing():
    account = new_account()
    loaded = carried_out(account, 1)
    committed, version = account.jobs.committed, account.table.version
    verified = carried_out(account, 2, mode="verify")
    assert (loaded.outcome, verified.outcome) == ("SUCCEEDED", "SUCCEEDED")
    assert (account.jobs.verified, account.jobs.committed, account.table.version) == (1, committed, version)


def test_a_verification_finds_a_table_that_is_not_its_source():
    account = new_account()
    carried_out(account, 1)
    account.table.snapshots[-1] = replace(account.table.snapshots[-1], rows={})
    with pytest.raises(Violation, match="a verification finds the table equal to its source"):
        carried_out(account, 2, mode="verify")


@pytest.mark.parametrize(
    ("named", "error", "is_meant"),
    [
        ("JobFailed", "JobFailed", True),
        ("JobFailed", "AwsUnavailable", False),
        ("States.ALL", "AwsUnavailable", True),
        ("States.ALL", "States.Timeout", True),
        ("States.TaskFailed", "AwsUnavailable", True),
        ("States.TaskFailed", "States.Timeout", False),
    ],
)
def test_a_rule_is_for_what_it_names(named: str, error: str, is_meant: bool):
    assert execution.is_meant({"ErrorEquals": ["Lambda.Unknown", named]}, error) is is_meant
