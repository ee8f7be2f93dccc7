"""What the settings say of columns, read from the file that the deployment has laid down."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lambdas.plan import handler
from pipeline.columns.overrides import Overrides
from pipeline.errors import SettingRefused
from tests.lambdas.account import SETTINGS, Account, call

pytestmark = pytest.mark.local_aws


def plan(execution: str) -> dict[str, Any]:
    return call(handler, input={"table": "orders"}, execution=execution)


def test_what_cannot_be_said_of_the_key_is_refused_before_anything_is_exported(account: Account):
    account.say_of_columns({"orders": Overrides.parse({"id": {"drop": True}})})
    with pytest.raises(SettingRefused, match="rows are found by their key"):
        plan(account.execution())


def test_a_secret_goes_along_where_something_is_hashed(account: Account):
    name = "shop/pii"
    account.put_parameter("orders", "settings", replace(SETTINGS, hash_secret=name).to_json())
    planned = plan(account.execution())
    assert (planned["hash_secret"], planned["columns_file"]) == ("", "s3://the-bucket/columns.json")
    account.say_of_columns({"orders": Overrides.parse({"email": {"hash": True}})})
    assert plan(account.execution())["hash_secret"] == name
