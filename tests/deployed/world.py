"""The deployed product with a source table, as tests of it see and move it."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from local import reader
from local.deployed import Deployed
from local.workload import KEY, Shop, create_table
from pipeline import run_reports

TABLE = "orders"
KNOBS: dict[str, Any] = {"export_seconds": 0.2, "wait_scale": 0.01, "schedules_fire_by_themselves": False}

#: Settings of every deployment that is tested: days pass, and jobs and mails are counted; maintenance has tests of its own.
DEFAULTS = {"maintain_days": 0}
_ENDED = ("SUCCESS", "FAILED", "CANCELLED")

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

    def fire(self, minutes: float = 15) -> list[dict[str, Any]]:
        """Let the schedules fire after so many minutes; returns how the executions that they have started have ended."""
        self.pass_minutes(minutes)
        before = set(self.deployed.executions())
        self.aws.tick()
        return [self.deployed.wait(run) for run in self.deployed.executions() if run not in before]

    def tick(self, minutes: float = 15) -> dict[str, Any]:
        """The same of this table's own schedule, which must have started one."""
        (ours,) = [run for run in self.fire(minutes) if json.loads(run["input"])["table"] == self.table]
        return ours

    def tell_again(self) -> str:
        """Run the last Spark job once more, as a run does that planned it before it had committed; how it ends."""
        emr, named = self.aws.client("emr-serverless"), {"applicationId": self.deployed.outputs["ApplicationId"]}
        last = emr.list_job_runs(**named)["jobRuns"][0]["id"]
        job = emr.get_job_run(**named, jobRunId=last)["jobRun"]
        started = emr.start_job_run(
            **named,
            clientToken=f"{last}-again",
            executionRoleArn=job["executionRole"],
            name=job["name"],
            jobDriver=job["jobDriver"],
            configurationOverrides=job["configurationOverrides"],
        )
        while (state := emr.get_job_run(**named, jobRunId=started["jobRunId"])["jobRun"]["state"]) not in _ENDED:
            time.sleep(0.05)
        return str(state)

    def path(self, parameter: str) -> str:
        """The full name of one of the table's parameters."""
        return self.deployed.parameter_path(self.table, parameter)

    def write(self, parameter: str, value: str) -> None:
        """Write one of the table's parameters, as a person would."""
        self.aws.client("ssm").put_parameter(Name=self.path(parameter), Value=value, Type="String", Overwrite=True)

    def set(self, **settings: Any) -> None:
        """Set some of the table's settings otherwise, as a deployment would."""
        found = json.loads(self.deployed.parameter(self.table, "settings"))
        self.write("settings", json.dumps(found | settings))

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

    def reports(self) -> list[dict[str, Any]]:
        """The reports of the table's jobs, oldest first, found as whoever asks the table of reports finds them."""
        table = self.aws.client("glue").get_table(DatabaseName="tidemark", Name=run_reports.TABLE)["Table"]
        template = table["Parameters"]["storage.location.template"]
        folder = template.replace(f"${{{run_reports.PARTITION}}}", self.table).removeprefix("s3://")
        s3, (bucket, _, prefix) = self.aws.client("s3"), folder.partition("/")
        listed = s3.list_objects_v2(Bucket=bucket, Prefix=prefix)["Contents"]
        in_order = sorted(listed, key=lambda found: found["LastModified"])
        return [json.loads(s3.get_object(Bucket=bucket, Key=each["Key"])["Body"].read()) for each in in_order]

    def snapshots(self) -> list[dict[str, str]]:
        """The summaries of the table's snapshots, oldest first."""
        table = reader.read_through_glue(self.aws, "tidemark", self.table)
        return [dict(snapshot.summary.additional_properties) for snapshot in table.metadata.snapshots]

    def windows(self) -> list[tuple[str, str]]:
        """(start, end) of every job that the table's snapshots tell of, oldest first."""
        jobs = {s["tidemark.job-id"]: s for s in self.snapshots() if "tidemark.watermark" in s}
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
