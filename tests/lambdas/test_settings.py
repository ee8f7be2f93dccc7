"""The settings parameter of a table: there, as it was written, or an error that says which."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest

from lambdas.plan import handler
from pipeline.errors import InputRefused, SettingsMissing
from tests.lambdas.account import DEPLOYMENT, Account, call
from tests.lambdas.ticks import Schedule, plan

pytestmark = pytest.mark.local_aws


def test_a_table_that_is_not_configured_is_refused_with_those_that_are(account: Account):
    with pytest.raises(InputRefused, match="table is 'nothing'; configured are carts, orders"):
        call(handler, input={"table": "nothing"}, execution=account.execution())


@pytest.fixture
def python_as_it_starts() -> Iterator[None]:
    """Nesting is too deep where it is for a function: something else in this process may have let Python go deeper."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("python_as_it_starts")
@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (json.dumps({"name": "orders", "window_minutes": 5}), "window_minutes is 5"),
        ("{", "Expecting"),
        ("[" * 4_096, "recursion"),
    ],
)
def test_settings_that_somebody_has_edited_are_not_those_of_the_deployment(account: Account, text: str, wrong: str):
    account.put_parameter("orders", "settings", text)
    with pytest.raises(SettingsMissing, match=f"/orders/settings is not what was deployed: .*{wrong}"):
        plan(account.execution())


def test_a_schedule_whose_table_has_no_settings_is_told_by_name(account: Account, schedule: Schedule):
    account.aws.client("ssm").delete_parameter(Name=DEPLOYMENT.parameter("orders", "settings"))
    event = schedule.event()
    with pytest.raises(SettingsMissing, match="/orders/settings, though the schedule of orders"):
        call(handler, input=event["input"], execution=event["execution"])


@pytest.mark.parametrize("only_table", ["", "carts"], ids=["one more is configured", "another one is"])
def test_who_has_left_the_table_out_keeps_it_whatever_is_deployed_meanwhile(
    account: Account, monkeypatch: pytest.MonkeyPatch, only_table: str
):
    me, asked = account.execution(), {"mode": "full"}
    monkeypatch.setenv("TIDEMARK_DEFAULT_TABLE", "orders")
    first = call(handler, input=asked, execution=me, table="")
    account.carry_out(account.grid(), job_id=first["job_id"])
    monkeypatch.setenv("TIDEMARK_DEFAULT_TABLE", only_table)
    then = call(handler, input=asked, execution=me, first=False, table=first["table"])
    assert (then["table"], then["kind"], then["reason"]) == ("orders", "Idle", "WishFulfilled")
