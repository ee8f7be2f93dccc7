"""One local AWS with the real deployment on it; every test begins on the freshly deployed account."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from local import reader
from local.control import LocalAws
from local.deployed import Deployed, deploy
from local.workload import KEY, Shop, create_table

TABLE = "orders"
#: Where every test begins within the grid of windows. The latest restorable time lags five minutes behind: it stands one
#: minute after a boundary of every table's windows, and no test lasts the fourteen minutes to the next.
AFTER_THE_HOUR = timedelta(minutes=6)
SETTINGS: dict[str, Any] = {
    "tables": [
        {
            "name": TABLE,
            "window_minutes": 15,
            "tick_minutes": 15,
            "mail": {"success": ["data-team@example.com"], "failure": ["on-call@example.com"]},
        },
        {
            "name": "ledger",
            "window_minutes": 60,
            "columns": {
                "note": {"drop": True},
                "/ship.to/Zip-Code": {"hash": True},
                "total": {"type": "decimal(38,2)", "name": "amount"},
            },
            "hash_secret": "shop/ledger",
        },
    ]
}
KNOBS: dict[str, Any] = {"export_seconds": 0.2, "wait_scale": 0.01, "schedules_fire_by_themselves": False}


#: How far the shop was when the account was kept that every `bootstrap` puts back; one for the session.
_bootstrapped: list[Any] = []


class World:
    """The deployed product with a source table: what a test does to it, and what it may look at."""

    def __init__(self, deployed: Deployed, table: str = TABLE) -> None:
        self.deployed = deployed
        self.table = table
        self.aws = deployed.aws
        create_table(self.aws.client("dynamodb"), table)
        self.shop = Shop(self.aws.client("dynamodb"), table)

    def beside(self, table: str) -> World:
        """The same account seen from another of the configured tables, which is created."""
        return World(self.deployed, table)

    def pass_minutes(self, minutes: float) -> None:
        """Move the clock on."""
        self.aws.advance(minutes * 60)

    def run(self, **asked: Any) -> dict[str, Any]:
        """Start an execution by hand and wait for its end; returns its description."""
        return self.deployed.wait(self.deployed.start(**{"table": self.table, **asked}))

    def succeed(self, **asked: Any) -> dict[str, Any]:
        """A run that must end well; returns its output: the last plan."""
        ended = self.run(**asked)
        assert ended["status"] == "SUCCEEDED", (ended.get("error"), ended.get("cause"))
        output: dict[str, Any] = json.loads(ended["output"])
        return output

    def fail(self, error: str, **asked: Any) -> str:
        """A run that must fail with a named error; returns the text of the failure mail."""
        before = len(self.aws.outbox())
        ended = self.run(**asked)
        assert (ended["status"], ended.get("error")) == ("FAILED", error), ended.get("cause")
        (mail,) = self.aws.outbox()[before:]
        assert error in mail["Subject"]
        return str(mail.get_content())

    def load_orders(self) -> None:
        """Some orders, loaded into a table that was not there."""
        self.shop.open_orders(60)
        self.pass_minutes(30)
        assert self.succeed()["reason"] == "UpToDate"

    def bootstrap(self) -> str:
        """The same at the beginning of a test; returns the watermark. The first that asks for it does it for all."""
        if not _bootstrapped:
            self.load_orders()
            self.aws.snapshot("bootstrapped")
            _bootstrapped.append(self.shop.progress)
        self.aws.restore("bootstrapped")
        self.shop.progress = _bootstrapped[0]
        return self.watermark()

    def work(self, orders: int = 20) -> None:
        """Inserts, updates and deletes, in a window that has closed by the end."""
        self.shop.open_orders(orders, late=True)
        self.shop.change_orders(orders // 2)
        self.shop.delete_orders(orders // 4)
        self.pass_minutes(30)

    def watermark(self) -> str:
        """The operator's view of it."""
        return self.deployed.parameter(self.table, "last-export-time")

    def differences(self, shown: Callable[[Any], Any] = lambda item: item) -> list[str]:
        """What an independent reader finds between source and table. `shown`: what of an item the table is to show."""
        table = reader.read_through_glue(self.aws, "tidemark", self.table)
        items = [shown(item) for item in reader.scan_source(self.aws, self.table)]
        return [str(d) for d in reader.compare(items, table, KEY)]

    def files(self) -> Iterator[tuple[str, bytes]]:
        """The content of everything but exports in the bucket: data, metadata, reports and logs, these unpacked."""
        s3, bucket = self.aws.client("s3"), self.deployed.outputs["BucketName"]
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
            for found in page.get("Contents", []):
                key = found["Key"]
                if not key.startswith("exports/"):
                    content = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
                    yield key, gzip.decompress(content) if key.endswith(".gz") else content

    def snapshots(self) -> list[dict[str, str]]:
        """The summaries of the table's snapshots, oldest first."""
        table = reader.read_through_glue(self.aws, "tidemark", self.table)
        return [dict(snapshot.summary.additional_properties) for snapshot in table.metadata.snapshots]

    def windows(self) -> list[tuple[str, str]]:
        """(start, end) of every job that the table's snapshots tell of, oldest first."""
        jobs = {s["tidemark.job-id"]: s for s in self.snapshots() if "tidemark.job-id" in s}
        return [(s["tidemark.start"], s["tidemark.watermark"]) for s in jobs.values()]

    def export_of(self, execution: str) -> str:
        """The ARN of the one export that an execution asks for, as soon as it has."""
        while True:
            for event in self.deployed.history(execution):
                left = event.get("stateExitedEventDetails", {})
                if left.get("name") == "StartExports":
                    return str(json.loads(left["output"])["Payload"]["exports"][0]["arn"])
            assert self.deployed.describe(execution)["status"] == "RUNNING"
            time.sleep(0.05)

    def remove_reports(self) -> None:
        """Remove every report that jobs have left."""
        s3, bucket = self.aws.client("s3"), self.deployed.outputs["BucketName"]
        for found in s3.list_objects_v2(Bucket=bucket, Prefix="runs/").get("Contents", []):
            s3.delete_object(Bucket=bucket, Key=found["Key"])

    def exports(self) -> list[str]:
        """The ARNs of every export asked for."""
        found = self.aws.client("dynamodb").list_exports()["ExportSummaries"]
        return [export["ExportArn"] for export in found]


def begin_inside_a_window(aws: LocalAws) -> None:
    """Move the clock on to the place within the windows where every test begins, in the hour after this one."""
    now = aws.now()
    hour = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    aws.advance((hour + AFTER_THE_HOUR - now).total_seconds())


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    home = tmp_path_factory.mktemp("aws")
    aws = LocalAws.start(home)
    try:
        stack = deploy(aws, SETTINGS, home / "deployment")
        aws.snapshot()
        yield stack
    finally:
        aws.stop()


@pytest.fixture(scope="session")
def make_world(deployed: Deployed) -> Callable[[], World]:
    """Begin anew on the freshly deployed account."""

    def fresh() -> World:
        deployed.aws.restore()
        deployed.aws.set_faults()
        deployed.aws.set_knobs(**KNOBS)
        begin_inside_a_window(deployed.aws)
        return World(deployed)

    return fresh


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    return make_world()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The proof of least privilege looks at what all other tests have used, so it comes last."""
    items.sort(key=lambda item: item.path.name == "test_least_privilege.py")
