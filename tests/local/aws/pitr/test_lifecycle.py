"""An export under way: how long it takes, what can happen meanwhile, and that a snapshot does not end it."""

from datetime import timedelta

import pytest

from local.control import LocalAws

pytestmark = pytest.mark.local_aws


def test_an_export_lasts_as_long_as_it_is_told_by_the_virtual_clock(aws, source):
    aws.set_knobs(export_seconds=600)
    asked = source.full()
    aws.advance(590)
    assert source.described(asked)["ExportStatus"] == "IN_PROGRESS"
    assert [key.rsplit("/")[-1] for key in source.written()] == ["_started"]
    aws.advance(15)
    found = source.completed(asked)
    assert found["EndTime"] - found["StartTime"] >= timedelta(seconds=600)
    assert len(source.written()) == 1 + 4 + 4


def test_writes_after_the_request_are_not_in_an_export_that_is_still_running(aws, source):
    source.put("before")
    aws.set_knobs(export_seconds=600)
    asked = source.full()
    source.put("after")
    aws.advance(601)
    assert [record["Item"]["pk"]["S"] for record in source.records(asked)] == ["before"]


def test_recovery_switched_off_or_the_table_deleted_does_not_stop_a_running_export(aws, source):
    source.put("a")
    aws.set_knobs(export_seconds=600)
    asked = source.full()
    source.switch_recovery(False)
    aws.client("dynamodb").delete_table(TableName="orders")
    aws.advance(601)
    assert len(source.records(asked)) == 1


def test_a_snapshot_keeps_journals_and_exports_and_goes_on_with_those_under_way(tmp_path, make_source):
    aws = LocalAws.start(tmp_path)
    try:
        source = make_source(aws)
        source.put("kept")
        done = source.completed(source.full())
        aws.set_knobs(export_seconds=600)
        running = source.full(ClientToken="running")
        aws.snapshot()
        source.put("forgotten")
        lost = source.full()
        aws.restore()
        assert source.described(done) == done
        assert source.full(ClientToken="running")["ExportArn"] == running["ExportArn"]
        listed = aws.client("dynamodb").list_exports()["ExportSummaries"]
        assert {one["ExportArn"] for one in listed} == {done["ExportArn"], running["ExportArn"]}
        aws.advance(1200)
        assert len(source.records(running)) == 1
        assert not any(lost["ExportArn"].rsplit("/", 1)[-1] in key for key in source.written())
        source.put("later")
        aws.advance(1200)
        assert [record["Keys"]["pk"]["S"] for record in records_of_ended(aws, source)] == ["later"]
    finally:
        aws.stop()


def records_of_ended(aws, source):
    """A window behind the snapshot."""
    window = source.window(15, 35)
    aws.advance(601)
    return source.records(window)
