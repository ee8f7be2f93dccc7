"""A service that takes no connection keeps no mail back, and no run from its work, where both do without its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.config import Config

from lambdas import notify_success
from lambdas.aws import clients
from lambdas.aws.clients import client
from local.control import free_port
from tests.lambdas.account import Account, call
from tests.lambdas.ticks import Schedule, plan
from tests.pipeline.rounds import done

pytestmark = pytest.mark.local_aws
Unreachable = Callable[..., None]


@pytest.fixture
def unreachable(account: Account, monkeypatch: pytest.MonkeyPatch) -> Iterator[Unreachable]:
    """Lets nobody take the connections for a service's operations; how often each is tried is another test's matter."""
    monkeypatch.setattr(clients, "_CONFIG", clients._CONFIG.merge(Config(retries={"total_max_attempts": 1})))
    client.cache_clear()
    nobody = f"http://127.0.0.1:{free_port()}/"

    def sent_to_nobody(request: Any, **_: Any) -> None:
        request.url = nobody

    def cut_off(service: str, *operations: str) -> None:
        for operation in operations:
            client(service).meta.events.register(f"before-send.{service}.{operation}", sent_to_nobody)

    yield cut_off
    client.cache_clear()


def test_a_failure_is_mailed_though_nobody_knows_what_was_told(schedule: Schedule, unreachable: Unreachable):
    schedule.fails("PitrOff")
    before = schedule.told()
    unreachable("ssm", "GetParameters", "PutParameter")
    schedule.fails("PitrOff")
    assert (schedule.subjects, schedule.told()) == (["FAILED orders: PitrOff"] * 2, before)


def test_a_failure_is_mailed_though_that_cannot_be_recorded(schedule: Schedule, unreachable: Unreachable):
    unreachable("ssm", "PutParameter")
    for _ in range(2):
        schedule.fails("PitrOff")
    assert schedule.subjects == ["FAILED orders: PitrOff"] * 2


def test_a_failure_is_mailed_though_its_report_cannot_be_read(schedule: Schedule, unreachable: Unreachable):
    unreachable("s3", "GetObject")
    schedule.fails("States.TaskFailed", {"table": "orders", "job_id": "job"})
    assert schedule.subjects == ["FAILED orders: JobFailed"]


def test_a_failure_is_mailed_though_the_source_s_history_is_unknown(
    schedule: Schedule, up_to_date: str, unreachable: Unreachable
):
    unreachable("dynamodb", "DescribeContinuousBackups")
    schedule.fails("AwsUnavailable")
    assert schedule.subjects == ["FAILED orders: AwsUnavailable"]
    assert "History would be lost" not in schedule.last


def test_a_success_is_mailed_though_nobody_knows_what_was_told(schedule: Schedule, unreachable: Unreachable):
    unreachable("ssm", "GetParameters")
    call(notify_success.handler, **done(continuity="Of the old images, 2 have no row."))
    assert [subject.split()[0] for subject in schedule.subjects] == ["OK"]


def test_a_run_goes_on_though_old_claims_cannot_be_removed(account: Account, unreachable: Unreachable):
    unreachable("ssm", "DeleteParameters")
    for number in range(1, 4):
        execution = account.execution()
        assert plan(execution)["claim"] == number
        account.stop(execution)
    assert sorted(account.claims()) == [1, 2, 3]
