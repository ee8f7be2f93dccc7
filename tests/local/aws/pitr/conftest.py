"""A table with point-in-time recovery and a bucket for its exports, on the running local AWS."""

import gzip
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local.control import LocalAws


class Source:
    """One table, its exports, and what they hold; times are offsets from when recovery was switched on."""

    def __init__(self, aws: LocalAws, name: str = "orders", bucket: str = "exports") -> None:
        self.aws, self.name, self.bucket = aws, name, bucket
        self.dynamodb, self.s3 = aws.client("dynamodb"), aws.client("s3")
        self.s3.create_bucket(Bucket=bucket)
        self.arn = self.create()

    def create(self) -> str:
        """Create the table and switch recovery on; returns its ARN."""
        description = self.dynamodb.create_table(
            TableName=self.name,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "N"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )["TableDescription"]
        self.switch_recovery(True)
        self.enabled_at = self.recovery()["EarliestRestorableDateTime"]
        return str(description["TableArn"])

    def switch_recovery(self, enabled: bool, **more: Any) -> dict[str, Any]:
        """UpdateContinuousBackups; returns the inner description."""
        asked = {"PointInTimeRecoveryEnabled": enabled, **more}
        answer = self.dynamodb.update_continuous_backups(TableName=self.name, PointInTimeRecoverySpecification=asked)
        return dict(answer["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"])

    def recovery(self) -> dict[str, Any]:
        """DescribeContinuousBackups, the inner description."""
        answer = self.dynamodb.describe_continuous_backups(TableName=self.name)
        return dict(answer["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"])

    def put(self, pk: str, sk: int = 1, **attributes: Any) -> None:
        """PutItem."""
        self.dynamodb.put_item(TableName=self.name, Item={"pk": {"S": pk}, "sk": {"N": str(sk)}, **attributes})

    def delete(self, pk: str, sk: int = 1) -> None:
        """DeleteItem."""
        self.dynamodb.delete_item(TableName=self.name, Key={"pk": {"S": pk}, "sk": {"N": str(sk)}})

    def at(self, minutes: float) -> datetime:
        """An instant."""
        at: datetime = self.enabled_at + timedelta(minutes=minutes)
        return at

    def full(self, **more: Any) -> dict[str, Any]:
        """Ask for a full export; returns its description."""
        asked = {"TableArn": self.arn, "S3Bucket": self.bucket, **more}
        return dict(self.dynamodb.export_table_to_point_in_time(**asked)["ExportDescription"])

    def window(self, start: float, end: float, view: str | None = None, **more: Any) -> dict[str, Any]:
        """Ask for the export of a window, given in minutes; returns its description."""
        specification: dict[str, Any] = {"ExportFromTime": self.at(start), "ExportToTime": self.at(end)}
        if view:
            specification["ExportViewType"] = view
        return self.full(ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=specification, **more)

    def described(self, export: dict[str, Any]) -> dict[str, Any]:
        """DescribeExport."""
        return dict(self.dynamodb.describe_export(ExportArn=export["ExportArn"])["ExportDescription"])

    def completed(self, export: dict[str, Any]) -> dict[str, Any]:
        """DescribeExport of one that must have completed."""
        found = self.described(export)
        assert found["ExportStatus"] == "COMPLETED", found
        return found

    def records(self, export: dict[str, Any]) -> list[dict[str, Any]]:
        """Everything a completed export holds, through its manifests."""
        summary = json.loads(self.read(self.completed(export)["ExportManifest"]))
        files = [json.loads(line) for line in self.read(summary["manifestFilesS3Key"]).splitlines()]
        lines = [line for file in files for line in gzip.decompress(self.read(file["dataFileS3Key"])).splitlines()]
        return [json.loads(line) for line in lines]

    def read(self, key: str) -> bytes:
        """One object of the bucket."""
        return bytes(self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read())

    def written(self) -> list[str]:
        """Every key of the bucket."""
        return [found["Key"] for found in self.s3.list_objects_v2(Bucket=self.bucket).get("Contents", [])]


@pytest.fixture
def source(aws: LocalAws) -> Source:
    return Source(aws)


@pytest.fixture
def make_source() -> type[Source]:
    """For tests that start a process of their own."""
    return Source


@pytest.fixture
def refusal() -> Callable[..., tuple[str, str]]:
    """Calls what must be refused; returns code and message."""

    def refused(call: Callable[..., Any], *given: Any, **more: Any) -> tuple[str, str]:
        with pytest.raises(ClientError) as error:
            call(*given, **more)
        return error.value.response["Error"]["Code"], error.value.response["Error"]["Message"]

    return refused
