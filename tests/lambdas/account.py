"""A small account on the local AWS: a source table, a bucket, parameters, a topic, and executions that wait."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

from lambdas.observability import Handler
from local.aws.account import ACCOUNT, REGION
from local.control import LocalAws
from pipeline.columns.declared.columns_file import to_file
from pipeline.columns.declared.overrides import Overrides
from pipeline.deployment import Deployment
from pipeline.instants import floor_to, format_instant
from pipeline.settings import MailLists, TableSettings
from pipeline.table.marker import MAINTAINED, Marker
from tests.inside_a_window import begin_inside_a_window

WINDOW = timedelta(minutes=15)
_WITHIN_SECONDS = 30
SETTINGS = TableSettings(
    "orders", "orders", window_minutes=15, mail=MailLists(("ok@example.com",), ("night@example.com",))
)
MACHINE = f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:Tidemark"
DEPLOYMENT = Deployment(
    stack_name="Tidemark",
    default_table="",
    parameter_prefix="/tidemark/Tidemark",
    bucket="the-bucket",
    database="tidemark",
    topic_arn=f"arn:aws:sns:{REGION}:{ACCOUNT}:mails",
    state_machine_arn=MACHINE,
    application_id="unknown",
    job_role_arn=f"arn:aws:iam::{ACCOUNT}:role/job",
    entry_point="s3://the-bucket/main.py",
    spark_bundle="s3://the-bucket/spark.zip",
    columns_file="s3://the-bucket/columns.json",
    worker_vcpus="1",
    worker_memory_gb="2",
    worker_disk_gb="20",
    max_executors="1",
)
CONTEXT = SimpleNamespace(function_name="plan", memory_limit_in_mb=512, invoked_function_arn="arn", aws_request_id="id")


def call(handler: Handler, **event: Any) -> dict[str, Any]:
    """Call a function as Lambda does, at the first try, with the execution's start: the event and the answer are JSON."""
    times = dict.fromkeys(("startedAt", "enteredAt"), "2026-11-21T23:59:59.000Z")
    handed = json.loads(json.dumps({**times, "first": True, "retries": 0, **event}))
    answer: dict[str, Any] = json.loads(json.dumps(handler(handed, CONTEXT)))
    return answer


class Account:
    """What the tests find, change and look at; root does it."""

    def __init__(self, aws: LocalAws) -> None:
        self.aws = aws
        self._started: list[str] = []

    def make(self) -> None:
        """Make everything that a deployed stack and its source table are to the functions, with two hours of history."""
        for name in ("orders", "carts"):
            self.create_source(name)
            self.put_parameter(name, "settings", TableSettings(name, name, 15, mail=SETTINGS.mail).to_json())
            self.put_parameter(name, "control", "RUN")
        self.aws.client("s3").create_bucket(Bucket=DEPLOYMENT.bucket)
        self.say_of_columns({})
        self.aws.client("glue").create_database(DatabaseInput={"Name": DEPLOYMENT.database})
        self.aws.client("sns").create_topic(Name="mails")
        for kind in ("success", "failure"):
            self.aws.client("sns").subscribe(
                TopicArn=DEPLOYMENT.topic_arn,
                Protocol="email",
                Endpoint=getattr(SETTINGS.mail, kind)[0],
                Attributes={"FilterPolicy": json.dumps({"list": [kind]})},
            )
        trust = {"Effect": "Allow", "Principal": {"Service": "states.amazonaws.com"}, "Action": "sts:AssumeRole"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        role = self.aws.client("iam").create_role(RoleName="machine", AssumeRolePolicyDocument=policy)["Role"]["Arn"]
        waiting = {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 10**6, "End": True}}}
        self.aws.client("stepfunctions").create_state_machine(
            name="Tidemark", definition=json.dumps({"QueryLanguage": "JSONata", **waiting}), roleArn=role
        )
        self._make_application()
        self.aws.advance(2 * 3600)
        begin_inside_a_window(self.aws)

    def _make_application(self) -> None:
        """An application whose job runs end at once, because their program does not exist."""
        emr, iam = self.aws.client("emr-serverless"), self.aws.client("iam")
        emr.create_application(name="spark", releaseLabel="emr-7.14.0", type="SPARK", clientToken="application")
        principal = {"Service": "emr-serverless.amazonaws.com"}
        trust = {"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        iam.create_role(RoleName="job", AssumeRolePolicyDocument=policy)

    def say_of_columns(self, columns: Mapping[str, Overrides]) -> None:
        """What the settings say of the columns of each table."""
        self.aws.client("s3").put_object(Bucket=DEPLOYMENT.bucket, Key="columns.json", Body=to_file(columns).encode())

    def lose_bucket(self) -> None:
        """Somebody removes the bucket with what is in it."""
        s3 = self.aws.client("s3")
        for found in s3.list_objects_v2(Bucket=DEPLOYMENT.bucket).get("Contents", []):
            s3.delete_object(Bucket=DEPLOYMENT.bucket, Key=found["Key"])
        s3.delete_bucket(Bucket=DEPLOYMENT.bucket)

    @property
    def application(self) -> str:
        """The id of the application."""
        return str(self.aws.client("emr-serverless").list_applications()["applications"][0]["id"])

    def start_job(self, name: str, token: str, arguments: Sequence[str] = ("{}",)) -> dict[str, str]:
        """Start a job run; returns what it is asked for by."""
        asked = {"applicationId": self.application}
        started = self.aws.client("emr-serverless").start_job_run(
            **asked,
            clientToken=token,
            executionRoleArn=DEPLOYMENT.job_role_arn,
            name=name,
            jobDriver={"sparkSubmit": {"entryPoint": DEPLOYMENT.entry_point, "entryPointArguments": list(arguments)}},
        )
        return {**asked, "jobRunId": started["jobRunId"]}

    def wait_for_job(self, run: Mapping[str, str], state: str) -> None:
        """Wait until a job run is in a state."""
        until, emr = time.monotonic() + _WITHIN_SECONDS, self.aws.client("emr-serverless")
        while (seen := emr.get_job_run(**run)["jobRun"]["state"]) != state:
            assert time.monotonic() < until, seen
            time.sleep(0.05)

    def run_job(self, name: str, token: str, ended: str = "FAILED", arguments: Sequence[str] = ("{}",)) -> None:
        """Run a job that ends without success and without a word, and wait until it has."""
        self.wait_for_job(self.start_job(name, token, arguments), ended)

    def stand_in_for_jobs(self, stand_in: str) -> None:
        """Let a function take the place of Spark in merges, whose program exists then."""
        self.aws.client("s3").put_object(Bucket=DEPLOYMENT.bucket, Key="main.py")
        self.aws.set_knobs(job_stand_in=stand_in)

    def create_source(self, name: str = "orders") -> None:
        """Create a source table with recovery on."""
        dynamodb = self.aws.client("dynamodb")
        dynamodb.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        self.switch_recovery(on=True, name=name)
        dynamodb.put_item(TableName=name, Item={"id": {"S": "first"}})

    def switch_recovery(self, *, on: bool, name: str = "orders", **period: int) -> None:
        """Turn point-in-time recovery on or off; RecoveryPeriodInDays may be given."""
        asked = {"PointInTimeRecoveryEnabled": on, **period}
        self.aws.client("dynamodb").update_continuous_backups(TableName=name, PointInTimeRecoverySpecification=asked)

    def source_id(self) -> str:
        """The source table's id."""
        return str(self.aws.client("dynamodb").describe_table(TableName="orders")["Table"]["TableId"])

    def grid(self, windows_back: int = 0) -> datetime:
        """The last end of a window that can be exported, or so many windows before it."""
        answer = self.aws.client("dynamodb").describe_continuous_backups(TableName="orders")
        recovery = answer["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        return floor_to(recovery["LatestRestorableDateTime"], WINDOW) - windows_back * WINDOW

    def put_parameter(self, table: str, name: str, value: str) -> None:
        """Write a table's parameter."""
        name = DEPLOYMENT.parameter(table, name)
        self.aws.client("ssm").put_parameter(Name=name, Value=value, Type="String", Overwrite=True)

    def parameters(self, table: str = "orders") -> dict[str, str]:
        """A table's parameters but its settings."""
        path = DEPLOYMENT.parameter(table) + "/"
        pages = self.aws.client("ssm").get_paginator("get_parameters_by_path").paginate(Path=path, Recursive=True)
        found = {p["Name"].removeprefix(path): p["Value"] for page in pages for p in page["Parameters"]}
        return {name: value for name, value in found.items() if name != "settings"}

    def claims(self, table: str = "orders") -> dict[int, dict[str, Any]]:
        """The claims by their numbers."""
        found = self.parameters(table).items()
        return {int(name[4:]): json.loads(value) for name, value in found if name.startswith("run/")}

    def commit(
        self,
        watermark: datetime,
        job_id: str = "job-0",
        *,
        billed: int | None = None,
        added: int = 0,
        maintained: datetime | None = None,
        **counts: int,
    ) -> None:
        """Put the Iceberg table at a watermark, as a job's commit does: a metadata file and where Glue finds it."""
        arn = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/orders"
        marker = Marker(watermark, watermark - WINDOW, "merge", job_id, arn, self.source_id(), counts, billed)
        summary = {**marker.to_properties(), "operation": "overwrite", "added-records": str(added)}
        properties = {MAINTAINED: format_instant(maintained)} if maintained else {}
        snapshots = [{"snapshot-id": 1, "summary": summary}]
        self.write_metadata({"snapshots": snapshots, "current-snapshot-id": 1, "properties": properties})

    def carry_out(self, watermark: datetime, **commit: Any) -> None:
        """Commit, and record it, as a whole round does."""
        self.commit(watermark, **commit)
        self.put_parameter("orders", "last-export-time", format_instant(watermark))

    def write_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Write a metadata file and make it the table's."""
        key = "warehouse/orders/metadata/1.json"
        self.aws.client("s3").put_object(Bucket=DEPLOYMENT.bucket, Key=key, Body=json.dumps(metadata))
        self.point_table_at(f"s3://{DEPLOYMENT.bucket}/{key}")

    def point_table_at(self, location: str) -> None:
        """Let the Glue table name a metadata file; "" makes it a table that is not Iceberg."""
        parameters = {"table_type": "ICEBERG", "metadata_location": location} if location else {}
        table = {"Name": "orders", "Parameters": parameters}
        glue = self.aws.client("glue")
        try:
            glue.create_table(DatabaseName=DEPLOYMENT.database, TableInput=table)
        except glue.exceptions.AlreadyExistsException:
            glue.update_table(DatabaseName=DEPLOYMENT.database, TableInput=table)

    def write_report(self, job_id: str, /, **report: Any) -> None:
        """Leave a job's report where jobs leave theirs."""
        key = DEPLOYMENT.report_key("orders", job_id)
        self.aws.client("s3").put_object(Bucket=DEPLOYMENT.bucket, Key=key, Body=json.dumps(report))

    def execution(self) -> str:
        """The ARN of an execution that runs until it is stopped."""
        self._started.append(self.aws.client("stepfunctions").start_execution(stateMachineArn=MACHINE)["executionArn"])
        return self._started[-1]

    def stop(self, execution: str) -> None:
        """StopExecution."""
        self.aws.client("stepfunctions").stop_execution(executionArn=execution)

    def stop_everything(self) -> None:
        """Stop what a test has left running, so that nothing outlives its account."""
        for execution in self._started:
            self.stop(execution)

    def instants(self, *windows_back: int) -> list[str]:
        """Ends of windows as text, as claims and plans write them."""
        return [format_instant(self.grid(n)) for n in windows_back]
