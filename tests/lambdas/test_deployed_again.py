"""A table that is removed from the deployment leaves what its mails have told; added again, it begins without an incident."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lambdas import notify_success
from pipeline.mails.told import Told
from tests.lambdas.account import DEPLOYMENT, SETTINGS, Account, call
from tests.lambdas.ticks import Schedule
from tests.pipeline.rounds import done
from tests.pipeline.world import at

pytestmark = pytest.mark.local_aws
MADE = {"settings": SETTINGS.to_json(), "control": "RUN"}


def deployed_again(account: Account, *names: str) -> None:
    """Delete parameters that the deployment has made, and make them anew, as CloudFormation does."""
    account.aws.client("ssm").delete_parameters(Names=[DEPLOYMENT.parameter("orders", name) for name in names])
    account.aws.advance(3600)
    for name in names:
        account.put_parameter("orders", name, MADE[name])


def test_the_failure_that_was_open_when_a_table_was_removed_is_told_when_it_is_added_again(
    schedule: Schedule, account: Account
):
    schedule.fails("TableNotFound")
    deployed_again(account, *MADE)
    for _ in range(2):
        schedule.fails("TableNotFound")
    assert schedule.subjects == ["FAILED orders: TableNotFound"] * 2


def test_no_all_clear_counts_the_time_in_which_the_table_was_removed(schedule: Schedule, account: Account):
    schedule.fails("TableNotFound")
    deployed_again(account, *MADE)
    account.carry_out(account.grid())
    assert schedule.plans()["news"] == []
    assert [one.split()[1] for one in call(notify_success.handler, **done())["subjects"]] == ["OK"]


def test_what_is_forgotten_stays_forgotten_when_the_settings_change_later(schedule: Schedule, account: Account):
    schedule.fails("TableNotFound")
    kept = replace(schedule.told(), level=90, ended="job-1", digested=at("00:00"), trusted=at("12:00"))
    account.put_parameter("orders", "told", kept.to_text())
    deployed_again(account, *MADE)
    call(notify_success.handler, **done())
    assert schedule.told() == Told(ended="job-1", digested=at("00:00"), trusted=at("12:00"))
    account.put_parameter("orders", "settings", MADE["settings"])
    schedule.fails("TableNotFound")
    assert schedule.subjects[-1] == "FAILED orders: TableNotFound"


@pytest.mark.parametrize("name", list(MADE))
@pytest.mark.parametrize("written_since", [False, True], ids=["the other as it was made", "the other written since"])
def test_an_incident_goes_on_where_only_one_parameter_was_deleted_and_repaired(
    schedule: Schedule, account: Account, name: str, written_since: bool
):
    for other in MADE.keys() - {name} if written_since else ():
        account.put_parameter("orders", other, MADE[other])
    errors = ["TableNotFound", {"settings": "SettingsMissing", "control": "ControlUnknown"}[name]]
    for error in errors:
        schedule.fails(error)
    deployed_again(account, name)
    account.carry_out(account.grid())
    assert schedule.plans()["news"] == ["IncidentOver"]
    assert schedule.subjects[-1] == f"ALL CLEAR orders: {errors[-1]} is over"
    assert all(f"  {error} in Plan" in schedule.last for error in errors)


def test_that_control_was_gone_is_over_also_where_settings_are_deployed_before_anything_works(
    schedule: Schedule, account: Account
):
    schedule.fails("ControlUnknown")
    deployed_again(account, "control")
    account.put_parameter("orders", "settings", MADE["settings"])
    account.carry_out(account.grid())
    assert schedule.plans()["news"] == ["IncidentOver"]
    assert schedule.subjects[-1] == "ALL CLEAR orders: ControlUnknown is over"


def test_that_both_parameters_were_gone_is_over_when_both_are_repaired(schedule: Schedule, account: Account):
    schedule.fails("TableNotFound")
    schedule.fails("SettingsMissing")
    deployed_again(account, *MADE)
    assert [str(kind) for kind in schedule.told().incident.kinds] == [
        "TableNotFound in Plan",
        "SettingsMissing in Plan",
    ]
    account.carry_out(account.grid())
    assert schedule.plans()["news"] == ["IncidentOver"]
    assert schedule.subjects[-1] == "ALL CLEAR orders: SettingsMissing is over"
    schedule.fails("TableNotFound")
    assert schedule.subjects[-1] == "FAILED orders: TableNotFound"


def test_a_table_that_was_paused_as_soon_as_it_was_added_again_has_forgotten_all_the_same(
    schedule: Schedule, account: Account
):
    schedule.fails("TableNotFound")
    deployed_again(account, *MADE)
    for said in ("PAUSE", "RUN"):
        account.put_parameter("orders", "control", said)
    schedule.fails("TableNotFound")
    assert schedule.subjects == 2 * ["FAILED orders: TableNotFound"]


def test_an_incident_goes_on_where_settings_and_control_are_only_written_again(schedule: Schedule, account: Account):
    schedule.fails("TableNotFound")
    account.aws.advance(3600)
    for name, value in MADE.items():
        account.put_parameter("orders", name, value)
    schedule.fails("TableNotFound")
    assert schedule.subjects == ["FAILED orders: TableNotFound"]


def test_that_both_parameters_are_gone_is_mailed_once(schedule: Schedule, account: Account):
    schedule.fails("TableNotFound")
    account.aws.client("ssm").delete_parameters(Names=[DEPLOYMENT.parameter("orders", name) for name in MADE])
    for _ in range(2):
        schedule.fails("SettingsMissing")
    assert schedule.subjects == ["FAILED orders: TableNotFound", "FAILED orders: SettingsMissing"]
