"""Who gets which mail: one subscription per address, and a filter that says no more than it must."""

from __future__ import annotations

import pytest
from aws_cdk import Stack
from aws_cdk.aws_sns import CfnSubscription

from infra.notification import Notification, mail_filters
from pipeline.errors import SettingRefused
from pipeline.mails.frame import UNKNOWN_TABLE
from pipeline.settings import Settings


def tables(**mail):
    """Tables by name, each with its mail lists."""
    return Settings.parse({"tables": [{"name": name, "mail": lists} for name, lists in mail.items()]}).tables


@pytest.mark.parametrize(
    ("mail", "expected"),
    [
        pytest.param({"orders": {"success": ["a@example.com"]}}, {"list": ["success"]}, id="one kind of all tables"),
        pytest.param(
            {"orders": {"success": ["a@example.com"], "failure": ["a@example.com"]}},
            {"list": ["success", "failure"]},
            id="everything",
        ),
        pytest.param(
            {"orders": {"failure": ["a@example.com"]}, "ledger": {}},
            {"list": ["failure"], "table": ["orders", UNKNOWN_TABLE]},
            id="one kind of one table",
        ),
        pytest.param(
            {
                "orders": {"success": ["a@example.com"], "failure": ["a@example.com"]},
                "ledger": {"failure": ["a@example.com"]},
            },
            {"$or": [{"list": ["success"], "table": ["orders"]}, {"list": ["failure"]}]},
            id="successes of one table and failures of all",
        ),
    ],
)
def test_an_address_has_one_filter_for_all_it_wants(mail, expected):
    assert mail_filters(tables(**mail)) == {"a@example.com": expected}


def test_whoever_hears_of_other_tables_does_not_hear_of_one_called_unknown():
    found = mail_filters(tables(orders={"failure": ["a@example.com"]}, unknown={"failure": ["z@example.com"]}))
    assert "unknown" not in found["a@example.com"]["table"]
    assert found["z@example.com"]["table"] == ["unknown", UNKNOWN_TABLE]


def test_addresses_that_differ_by_a_slash_have_subscriptions_of_their_own():
    stack, both = Stack(), ["a--b@example.com", "a/b@example.com"]
    Notification(stack, "Notification", tables=tables(orders={"failure": both}))
    made = [node for node in stack.node.find_all() if isinstance(node, CfnSubscription)]
    assert sorted(subscription.endpoint for subscription in made) == sorted([*both, *both])


def test_alarms_are_of_all_tables_so_whoever_wants_failures_of_the_last_one_has_them_too():
    stack, last = Stack(), {"success": ["c@example.com"], "failure": ["b@example.com"]}
    made = Notification(stack, "Notification", tables=tables(orders={"failure": ["a@example.com"]}, ledger=last))
    told = [node.endpoint for node in made.alarms.node.find_all() if isinstance(node, CfnSubscription)]
    assert told == ["a@example.com", "b@example.com"]


@pytest.mark.parametrize(
    ("failures", "successes", "combinations"),
    [
        pytest.param(range(150), (), 151, id="one list"),
        # 76 in one branch, with our own, and 75 in the other: SNS counts both together.
        pytest.param(range(75), range(76, 151), 151, id="two lists of different tables"),
    ],
)
def test_a_filter_beyond_the_limit_of_sns_is_refused_by_name(failures, successes, combinations):
    address = ["a@example.com"]
    mail = {f"table{n}": {"failure": address} for n in failures} | {
        f"table{n}": {"success": address} for n in successes
    }
    with pytest.raises(SettingRefused, match=rf"mail names a@example\.com .* has {combinations} combinations"):
        mail_filters(tables(**mail, quiet={}))


def test_a_filter_may_be_as_long_as_sns_takes():
    mail = {f"table{n}": {"failure": ["a@example.com"]} for n in range(149)} | {"quiet": {}}
    assert len(mail_filters(tables(**mail))["a@example.com"]["table"]) == 150


def test_an_address_may_be_in_both_lists_of_as_many_tables_as_the_settings_document_says():
    both = {"success": ["a@example.com"], "failure": ["a@example.com"]}
    mail = {f"table{n}": both for n in range(74)} | {"quiet": {}}
    assert mail_filters(tables(**mail))["a@example.com"]["list"] == ["success", "failure"]
    with pytest.raises(SettingRefused, match="has 152 combinations"):
        mail_filters(tables(**mail, another=both))


def test_more_addresses_than_a_topic_takes_filters_are_refused_by_name():
    mail = {f"table{n}": {"failure": [f"{n}.{k}@example.com" for k in range(50)]} for n in range(5)}
    with pytest.raises(SettingRefused, match="mail has 250 addresses"):
        mail_filters(tables(**mail))
