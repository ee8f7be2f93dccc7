"""Bad input and damaged exports on the deployed state machine: one named error, one mail, the table as it was."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import time

import pytest

pytestmark = [pytest.mark.local_aws, pytest.mark.deployed]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        pytest.param({"tabel": "orders"}, "unknown field 'tabel'", id="an unknown field"),
        pytest.param({"mode": "fulll"}, "'update', 'backfill', 'full'", id="an unknown mode"),
        pytest.param({"table": "nothing"}, "configured are ledger, orders", id="a table that is not configured"),
        pytest.param({"mode": "backfill"}, '"from" goes with', id="a backfill without a start"),
        pytest.param(
            {"mode": "backfill", "from": "yesterday"}, "2026-11-21T02:15:00Z", id="a start that is no instant"
        ),
    ],
)
def test_a_wrong_input_is_refused_with_what_is_allowed(world, asked, says):
    assert says in world.fail("InputRefused", **asked)


def test_a_control_value_that_is_neither_run_nor_pause_is_refused(world):
    control = "/tidemark/Tidemark/orders/control"
    world.aws.client("ssm").put_parameter(Name=control, Value="pause", Type="String", Overwrite=True)
    text = world.fail("ControlUnknown")
    assert "control is 'pause'; allowed are RUN and PAUSE" in text
    assert f"aws ssm put-parameter --overwrite --name {control} --value RUN" in text


def test_a_paused_table_is_left_alone_until_it_is_resumed(world):
    control = "/tidemark/Tidemark/orders/control"
    world.aws.client("ssm").put_parameter(Name=control, Value="PAUSE", Type="String", Overwrite=True)
    assert world.succeed()["reason"] == "Paused"


def test_a_source_without_recovery_is_a_halt(world):
    off = {"PointInTimeRecoveryEnabled": False}
    dynamodb = world.aws.client("dynamodb")
    dynamodb.update_continuous_backups(TableName="orders", PointInTimeRecoverySpecification=off)
    text = world.fail("PitrOff")
    assert "aws dynamodb update-continuous-backups --table-name orders" in text


def test_a_source_that_is_gone_is_a_halt(world):
    world.aws.client("dynamodb").delete_table(TableName="orders")
    assert "does not exist" in world.fail("TableNotFound")


@pytest.mark.spark
def test_a_source_created_anew_is_a_halt_until_a_person_asks_for_a_full_reload(world):
    from local.workload import Shop, create_table

    watermark = world.bootstrap()
    world.aws.client("dynamodb").delete_table(TableName="orders")
    create_table(world.aws.client("dynamodb"), "orders")
    world.shop = Shop(world.aws.client("dynamodb"), "orders", seed=8)
    world.shop.open_orders(10)
    world.pass_minutes(30)
    assert '"mode":"full"' in world.fail("TableRecreated")
    assert world.watermark() == watermark
    world.succeed(mode="full")
    assert world.differences() == []


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("S3NoSuchBucket", "BucketMissing"),
        ("S3AccessDenied", "ExportAccessDenied"),
        ("KmsNotFoundException", "ExportFailed"),
    ],
)
def test_an_export_that_dynamodb_gives_up_on_is_named_after_its_code(world, code, error):
    world.shop.open_orders(5)
    world.pass_minutes(30)
    world.aws.set_knobs(export_failure_code=code)
    assert code in world.fail(error)
    assert world.watermark() == ""


def md5(content):
    return base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest())


class ExportFiles:
    """The files of the newest export, to be damaged."""

    def __init__(self, world):
        self.s3 = world.aws.client("s3")
        self.bucket = world.deployed.outputs["BucketName"]
        keys = [
            o["Key"]
            for page in self.s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix="exports/")
            for o in page.get("Contents", [])
        ]
        self.summary_key = max(key for key in keys if key.endswith("manifest-summary.json"))
        self.summary = json.loads(self.read(self.summary_key))
        self.files = [json.loads(line) for line in self.read(self.summary["manifestFilesS3Key"]).splitlines()]

    def read(self, key):
        return self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read()

    def write(self, key, body):
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=body)

    def write_manifest(self, key, text):
        body = text.encode()
        self.write(key, body)
        self.write(key.removesuffix(".json") + ".md5", md5(body))

    def write_summary(self, **changed):
        self.write_manifest(self.summary_key, json.dumps({**self.summary, **changed}, separators=(",", ":")))

    def write_files(self):
        lines = [json.dumps(file, separators=(",", ":")) + "\n" for file in self.files]
        self.write_manifest(self.summary["manifestFilesS3Key"], "".join(lines))

    def rewrite_largest(self, change):
        """Change the content of the fullest data file and its checksum with it."""
        file = max(self.files, key=lambda f: f["itemCount"])
        body = gzip.compress(change(gzip.decompress(self.read(file["dataFileS3Key"]))))
        self.write(file["dataFileS3Key"], body)
        file["md5Checksum"] = md5(body).decode()
        self.write_files()


def flip_byte(files):
    file = max(files.files, key=lambda f: f["itemCount"])
    body = gzip.decompress(files.read(file["dataFileS3Key"])).replace(b"placed", b"PLACED", 1)
    files.write(file["dataFileS3Key"], gzip.compress(body))


def remove_file(files):
    files.s3.delete_object(Bucket=files.bucket, Key=files.files[0]["dataFileS3Key"])


def lose_a_line(files):
    files.rewrite_largest(lambda text: text[text.index(b"\n") + 1 :])


def cut_a_line(files):
    files.rewrite_largest(lambda text: text[: text.index(b"\n") // 2] + text[text.index(b"\n") :])


def other_total(files):
    files.write_summary(itemCount=files.summary["itemCount"] + 1)


def other_table(files):
    files.write_summary(tableArn=files.summary["tableArn"] + "-other")


def other_id(files):
    files.write_summary(tableId="00000000-0000-0000-0000-000000000000")


def as_ion(files):
    files.write_summary(outputFormat="ION")


def later_start(files):
    files.write_summary(exportFromTime=files.summary["exportFromTime"].replace(":00.000Z", ":01.000Z"))


def earlier_start(files):
    minute = files.summary["exportFromTime"].replace(":00.000Z", ":00.000Z")
    hour = int(minute[11:13])
    files.write_summary(exportFromTime=f"{minute[:11]}{hour - 1:02d}{minute[13:]}" if hour else minute)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (flip_byte, "ChecksumMismatch"),
        (remove_file, "DataFileMissing"),
        (lose_a_line, "CountMismatch"),
        (cut_a_line, "UnreadableLine"),
        (other_total, "CountMismatch"),
        (other_table, "OtherTable"),
        (other_id, "OtherTableId"),
        (as_ion, "UnknownFormat"),
        (later_start, "Gap"),
        (earlier_start, "Overlap"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_an_export_that_must_not_be_merged_is_refused_and_the_table_is_as_it_was(world, damage, error):
    watermark = world.bootstrap()
    snapshots = world.snapshots()
    world.work()
    damaged = damage_between_export_and_job(world, damage)

    assert (damaged["status"], damaged["error"]) == ("FAILED", error), damaged["cause"]
    assert error in world.aws.outbox()[-1]["Subject"]
    assert world.watermark() == watermark
    assert world.snapshots() == snapshots


def damage_between_export_and_job(world, damage):
    """Start a run and damage its export while it waits for it; returns how the run ended."""
    known = set(world.exports())
    world.aws.set_knobs(export_seconds=0.1, wait_scale=0.1)
    execution = world.deployed.start(table="orders")
    while not any(completed(world, export) for export in set(world.exports()) - known):
        assert world.deployed.describe(execution)["status"] == "RUNNING"
        time.sleep(0.05)
    damage(ExportFiles(world))
    return world.deployed.wait(execution)


def completed(world, export):
    described = world.aws.client("dynamodb").describe_export(ExportArn=export)
    return described["ExportDescription"]["ExportStatus"] == "COMPLETED"


@pytest.mark.spark
def test_a_damaged_export_is_made_anew_by_the_next_run(world):
    world.bootstrap()
    world.work()
    assert damage_between_export_and_job(world, flip_byte)["error"] == "ChecksumMismatch"

    assert world.succeed()["reason"] == "UpToDate"
    assert world.differences() == []
