"""The functions run for real, in this process, against the local AWS; every test begins with the same small account."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace

# Powertools reads these when the functions' modules are imported, as it does in a container.
os.environ |= {"POWERTOOLS_SERVICE_NAME": "Tidemark", "POWERTOOLS_METRICS_NAMESPACE": "Tidemark"}

import pytest

from lambdas.aws.clients import client
from local.control import LocalAws
from tests.lambdas.account import DEPLOYMENT, Account
from tests.lambdas.ticks import Schedule


@pytest.fixture(scope="session")
def launched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    """The local AWS with the account made and kept; what each role may do is the deployed tests' matter."""
    aws = LocalAws.start(tmp_path_factory.mktemp("local-aws"), enforce_iam=False)
    try:
        aws.set_knobs(schedules_fire_by_themselves=False)
        Account(aws).make()
        aws.snapshot()
        yield aws
    finally:
        aws.stop()


@pytest.fixture
def account(launched: LocalAws, monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    """The account as it was made, and the environment in which the functions find it."""
    account = Account(launched)
    deployment = replace(DEPLOYMENT, application_id=account.application)
    for name, value in {**launched.settings_for_shell, **deployment.to_environment()}.items():
        monkeypatch.setenv(name, value)
    yield account
    account.stop_everything()
    if launched.faults():
        # Clients that have tried again have less patience left; what they do must not depend on the tests before.
        client.cache_clear()
        launched.set_faults()
    launched.set_knobs(export_seconds=0, export_failure_code=None, job_stand_in=None)
    launched.restore()


@pytest.fixture
def schedule(account: Account) -> Schedule:
    return Schedule(account)


@pytest.fixture
def up_to_date(account: Account) -> str:
    """A table at the last window's end, as the parameter says; returns the watermark."""
    account.commit(account.grid())
    (watermark,) = account.instants(0)
    account.put_parameter("orders", "last-export-time", watermark)
    return watermark


@pytest.fixture
def writes(account: Account) -> Callable[[], int]:
    """How many parameters were written since: a fault that never fires counts the calls."""
    account.aws.set_faults({"name": "count", "action": "ssm:PutParameter", "on_call": 10**6})
    return lambda: int(account.aws.faults()[0]["calls"])
