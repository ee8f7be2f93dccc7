"""Exports that must not be merged, on the deployed state machine: one named error, one mail, the table as it was.

One of each kind: what the next export mends, what a person must act on, a chain that is broken. tests/spark has them all.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import time

import pytest

pytestmark = [pytest.mark.local_aws, pytest.mark.deployed, pytest.mark.spark]


def md5(content):
    return base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest())


class ExportFiles:
    """The files of one export, to be damaged and put back."""

    def __init__(self, world, export):
        self.s3 = world.aws.client("s3")
        self.bucket = world.deployed.outputs["BucketName"]
        self.before = {}
        self.summary_key = f"exports/orders/AWSDynamoDB/{export.rpartition('/')[2]}/manifest-summary.json"
        self.summary = json.loads(self.read(self.summary_key))
        self.files = [json.loads(line) for line in self.read(self.summary["manifestFilesS3Key"]).splitlines()]

    def read(self, key):
        return self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read()

    def write(self, key, body):
        self.before.setdefault(key, self.read(key))
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=body)

    def put_back(self):
        for key, body in self.before.items():
            self.s3.put_object(Bucket=self.bucket, Key=key, Body=body)

    def write_manifest(self, key, text):
        body = text.encode()
        self.write(key, body)
        self.write(key.removesuffix(".json") + ".md5", md5(body))

    def write_summary(self, **changed):
        self.write_manifest(self.summary_key, json.dumps({**self.summary, **changed}, separators=(",", ":")))

    def fullest(self):
        return max(self.files, key=lambda file: file["itemCount"])


def flip_byte(files):
    key = files.fullest()["dataFileS3Key"]
    files.write(key, gzip.compress(gzip.decompress(files.read(key)).replace(b"customer", b"Customer", 1)))


def other_id(files):
    files.write_summary(tableId="00000000-0000-0000-0000-000000000000")


def later_start(files):
    files.write_summary(exportFromTime=files.summary["exportFromTime"].replace(":00.000Z", ":01.000Z"))


@pytest.fixture(scope="module")
def loaded(make_world):
    """A table with changes waiting to be merged; a refusal leaves all of it as it is, so one serves for many."""
    world = make_world()
    world.bootstrap()
    world.work()
    return world


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (other_id, "OtherTableId"),
        (later_start, "Gap"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_an_export_that_must_not_be_merged_is_refused_and_the_table_is_as_it_was(loaded, damage, error):
    world, watermark, snapshots = loaded, loaded.watermark(), loaded.snapshots()

    damaged = damage_between_export_and_job(world, damage)

    assert (damaged["status"], damaged["error"]) == ("FAILED", error), damaged["cause"]
    assert error in world.aws.outbox()[-1]["Subject"]
    assert world.watermark() == watermark
    assert world.snapshots() == snapshots


def test_a_damaged_export_is_made_anew_by_the_next_run(loaded):
    exports = len(loaded.exports())
    assert damage_between_export_and_job(loaded, flip_byte, mend=False)["error"] == "ChecksumMismatch"

    assert loaded.succeed()["reason"] == "UpToDate"

    assert len(loaded.exports()) > exports
    assert len(loaded.windows()) == 2
    assert loaded.differences() == []


def damage_between_export_and_job(world, damage, *, mend=True):
    """Start a run and damage its export while it waits for it; returns how the run ended, the files mended."""
    world.aws.set_knobs(export_seconds=0.1, wait_scale=0.1)
    execution = world.deployed.start(table="orders")
    export = world.export_of(execution)
    while not completed(world, export):
        assert world.deployed.describe(execution)["status"] == "RUNNING"
        time.sleep(0.05)
    files = ExportFiles(world, export)
    damage(files)
    ended = world.deployed.wait(execution)
    if mend:
        files.put_back()
    return ended


def completed(world, export):
    described = world.aws.client("dynamodb").describe_export(ExportArn=export)
    return described["ExportDescription"]["ExportStatus"] == "COMPLETED"
