"""Verify on the deployed state machine: equal after work, and not after somebody has changed a row behind its back."""

from __future__ import annotations

from copy import deepcopy

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyiceberg.manifest import DATA_FILE_TYPE

from local import reader

pytestmark = [pytest.mark.local_aws, pytest.mark.spark, pytest.mark.deployed]

PATH, SIZE = ([f.name for f in DATA_FILE_TYPE[2].fields].index(name) for name in ("file_path", "file_size_in_bytes"))


def test_a_table_is_verified_after_work_and_a_changed_row_is_found_and_mended_by_a_full_export(world):
    world.bootstrap()
    world.work()
    world.succeed()
    watermark, snapshots = world.watermark(), world.snapshots()

    assert world.succeed(mode="verify")["reason"] == "WishFulfilled"

    mail = world.aws.outbox()[-1]
    assert "OK orders: verified, 0 differences" in mail["Subject"]
    assert "0 only in the source, 0 only in the table, 0 different." in mail.get_content()
    assert (world.watermark(), world.snapshots()) == (watermark, snapshots)

    changed = change_a_row(world)
    snapshots = world.snapshots()
    text = world.fail("VerificationFailed", mode="verify")

    assert "VerificationFailed, 1 difference" in world.aws.outbox()[-1]["Subject"]
    assert "different: /paid" in text
    assert '"mode":"full"' in text
    assert "This failure has left the table and its watermark as they were." in text
    assert (world.watermark(), world.snapshots()) == (watermark, snapshots)
    (shown,) = newest_report(world)["differences"]
    assert [value["path"] for value in shown["values"]] == ["/paid"]

    world.set(compare_old_images=True)
    world.aws.client("dynamodb").update_item(TableName="orders", Key=changed, UpdateExpression="REMOVE note")
    world.work()
    before = len(world.aws.outbox())
    world.aws.set_faults({"name": "dies", "action": "state:NotifySuccess", "kind": "stopped"})
    assert world.tick()["status"] == "ABORTED"
    assert world.tick()["status"] == "SUCCEEDED"  # which finds in the table what the other did not come to tell
    (warning,) = (mail for mail in world.aws.outbox()[before:] if " OK orders: " not in mail["Subject"])
    assert " WARNING orders: rows were not what the changes say" in warning["Subject"]
    told = warning.get_content()
    assert "Of the old images, 1 differs from the table's row." in told
    (shown,) = next(report for report in world.reports() if f"{report['job_id']}.json" in told)["differences"]
    assert [value["path"] for value in shown["values"]] == ["/paid"]
    assert world.watermark() > watermark

    world.aws.set_faults({"name": "dies", "action": "state:NotifySuccess", "kind": "stopped"})
    assert world.run(mode="full")["status"] == "ABORTED"
    before = len(world.aws.outbox())
    assert world.tick()["status"] == "SUCCEEDED"
    late = world.aws.outbox()[before]
    assert " OK orders: " in late["Subject"]
    assert "Loaded orders into " in late.get_content()
    assert "The run that began it ended before it could tell, so this may be" in late.get_content()
    world.succeed(mode="verify")
    assert world.differences() == []


def test_a_table_that_is_not_there_yet_is_not_verified(world):
    world.pass_minutes(30)
    assert "there is no table yet to verify" in world.fail("InputRefused", mode="verify")


def change_a_row(world):
    """Put a data file with one other value in the place of one of the table's, as another writer would; returns the key."""
    table = reader.read_through_glue(world.aws, "tidemark", "orders")
    file = next(task.file for task in table.scan().plan_files() if not task.delete_files)
    with table.io.new_input(file.file_path).open() as stream:
        rows = parquet.read_table(stream)
    place = rows.schema.get_field_index("paid")
    first, *others = rows["paid"].to_pylist()
    changed = rows.set_column(place, rows.schema.field(place), pa.array([not first, *others], pa.bool_()))
    other_place = file.file_path.replace(".parquet", "-changed.parquet")
    with table.io.new_output(other_place).create() as stream:
        parquet.write_table(changed, stream)
    other = deepcopy(file)
    other[PATH], other[SIZE] = other_place, len(table.io.new_input(other_place))
    with table.transaction() as transaction, transaction.update_snapshot().overwrite() as replacing:
        replacing.delete_data_file(file)
        replacing.append_data_file(other)
    return {"customer": {"S": rows["customer"][0].as_py()}, "order": {"N": str(rows["order"][0])}}


def newest_report(world):
    """The report of the verification that ended last."""
    return next(report for report in reversed(world.reports()) if report["job"] == "verify")
