"""Two tables of one deployment: each follows its own source at its own pace, at the same time."""

from __future__ import annotations

import hashlib
import hmac
from decimal import Decimal
from typing import Any

import pytest

from local import reader
from tests.hash_secret import make_secret

SECRET = "what the ledger's zip codes are hashed with"  # noqa: S105 - a test's own

pytestmark = [pytest.mark.local_aws, pytest.mark.spark, pytest.mark.deployed]


def test_two_tables_are_followed_at_once_each_with_its_own_windows(world):
    orders, ledger = world, world.beside("ledger")
    make_secret(world.aws, "shop/ledger", SECRET, world.deployed.outputs["ApplicationId"])
    for one, count in ((orders, 30), (ledger, 20)):
        one.shop.open_orders(count)
    world.pass_minutes(60)
    run_at_once(orders, ledger)
    first = ledger.watermark()

    ledger.shop.open_orders(10)
    orders.work()
    run_at_once(orders, ledger)

    assert len(orders.windows()) == 2
    assert (len(ledger.windows()), ledger.watermark()) == (1, first)  # its hour has not closed yet

    world.pass_minutes(30)
    ledger.succeed()

    assert [end for _, end in ledger.windows()] == [first, ledger.watermark()]
    assert (orders.differences(), ledger.differences(as_settings_say)) == ([], [])
    table = reader.read_through_glue(ledger.aws, "tidemark", "ledger")
    assert {type(row["amount"]) for row in reader.rows(table)} == {Decimal}
    told = {"parameter": ledger.deployed.parameter("ledger", "settings").encode(), **dict(ledger.files())}
    assert [name for name, content in told.items() if SECRET.encode() in content] == []

    # Runs without a plan look for themselves how long the history lasts, each for its own table.
    mails = len(world.aws.outbox())
    denied = {"code": "AccessDeniedException", "status": 400, "times": 100}
    world.aws.set_faults({"name": "glue", "action": "glue:GetTable", **denied})
    assert [run.get("error") for run in world.fire(60)] == ["PermissionMissing"] * 2
    (mail,) = world.aws.outbox()[mails:]
    assert mail["Subject"] == "[Tidemark] FAILED orders: PermissionMissing", "nobody is to be told of the ledger"


def as_settings_say(item: dict[str, Any]) -> dict[str, Any]:
    """An item of the ledger without notes, its zip code hashed, as the settings of these tests say."""
    zip_code = item["ship.to"]["M"]["Zip-Code"]["S"]
    hashed = hmac.new(SECRET.encode(), f'{{"S":"{zip_code}"}}'.encode(), hashlib.sha256).hexdigest()
    shipped = {"M": {**item["ship.to"]["M"], "Zip-Code": {"S": hashed}}}
    return {**{name: value for name, value in item.items() if name != "note"}, "ship.to": shipped}


def run_at_once(*worlds):
    """A run of each table, all under way together; both end well."""
    runs = [one.deployed.start(table=one.table) for one in worlds]
    ended = [one.deployed.wait(run) for one, run in zip(worlds, runs, strict=True)]
    assert [(run["status"], run.get("cause")) for run in ended] == [("SUCCEEDED", None)] * len(worlds)
