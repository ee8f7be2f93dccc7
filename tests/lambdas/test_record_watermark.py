"""RecordWatermark believes the table and nobody else."""

from __future__ import annotations

from typing import Any

import pytest

from lambdas.record_watermark import handler
from pipeline.errors import DatabaseMissing, PermissionMissing, WatermarkNotCommitted
from tests.lambdas.account import DEPLOYMENT, Account, call

pytestmark = pytest.mark.local_aws


def record(job_id: str = "job-1", kind: str = "Export") -> dict[str, Any]:
    return call(handler, plan={"kind": kind, "table": "orders", "iceberg_table": "orders", "job_id": job_id})


def test_the_watermark_of_the_job_s_commit_is_written_for_the_operator(account: Account):
    account.commit(account.grid(1), job_id="job-1", read=3, inserted=3)
    told = record()
    start, watermark = account.instants(2, 1)
    assert account.parameters()["last-export-time"] == watermark
    assert (told["watermark"], told["start"], told["job_id"], told["job"]) == (watermark, start, "job-1", "merge")
    assert told["counts"] == {"read": 3, "inserted": 3}
    assert told["report"] == "s3://the-bucket/runs/orders/job-1.json"


def test_the_report_adds_what_the_commit_does_not_carry(account: Account):
    account.commit(account.grid(), job_id="job-1")
    found = {
        "new_columns": [{"column": "colour", "path": "/colour", "type": "string"}],
        "misfits": [{"path": "/a", "type": "S", "count": 2, "example": "x"}],
        "continuity": "2 differ",
    }
    account.write_report("job-1", **found)
    assert {name: told for name, told in record().items() if name in found} == found


def test_what_it_hands_on_fits_between_states_however_long_the_names_are(account: Account):
    account.commit(account.grid(), job_id="job-1")
    misfits = [{"path": "/" + "x" * 65_536, "type": "S", "count": 1, "example": "y" * 400_000}] * 202
    columns = [{"column": "c" * 255, "path": "/" + "x" * 65_536, "type": "string", "example": "y" * 400_000}] * 200
    account.write_report("job-1", new_columns=columns, misfits=misfits, continuity="w" * 100_000)
    assert len(str(record())) < 64 * 1024


def test_a_commit_without_a_report_is_recorded_all_the_same(account: Account):
    account.commit(account.grid(), job_id="job-1")
    assert record()["misfits"] == []


def test_a_report_that_may_not_be_read_leaves_the_watermark_to_be_recorded(account: Account):
    account.commit(account.grid(), job_id="job-1")
    (before,) = account.instants(1)
    account.put_parameter("orders", "last-export-time", before)
    reports = {"resource": "arn:aws:s3:::the-bucket/runs/*", "code": "AccessDenied", "status": 403}
    account.aws.set_faults({"name": "denied", "action": "s3:GetObject", **reports})
    with pytest.raises(PermissionMissing):
        record()
    assert account.parameters()["last-export-time"] == before


@pytest.mark.parametrize("table", ["another job's", "none"])
def test_a_job_that_ended_well_and_is_not_in_the_table_is_not_recorded(account: Account, table: str):
    if table == "another job's":
        account.commit(account.grid(), job_id="job-0")
    found = f"the table is at {account.instants(0)[0]}" if table == "another job's" else "there is no table"
    with pytest.raises(WatermarkNotCommitted, match=f"the job job-1 ended well; {found}\n"):
        record()
    assert "last-export-time" not in account.parameters()


def test_a_commit_whose_database_has_gone_since_is_called_so(account: Account):
    account.commit(account.grid(), job_id="job-1")
    account.aws.client("glue").delete_database(Name=DEPLOYMENT.database)
    with pytest.raises(DatabaseMissing):
        record()


def test_a_wrong_parameter_is_written_again_from_whatever_the_table_says(account: Account):
    account.commit(account.grid(2), job_id="job-0")
    account.put_parameter("orders", "last-export-time", "2030-01-01T00:00:00Z")
    assert call(handler, plan={"kind": "Record", "table": "orders", "iceberg_table": "orders"})["job_id"] == "job-0"
    assert [account.parameters()["last-export-time"]] == account.instants(2)


def test_what_the_job_of_a_run_that_died_has_met_is_handed_on_by_the_run_that_records_its_commit(account: Account):
    account.commit(account.grid(), job_id="job-0")
    account.write_report("job-0", continuity="Of the old images, 2 have no row.")
    told = call(handler, plan={"kind": "Record", "table": "orders", "iceberg_table": "orders"})
    assert told["continuity"] == "Of the old images, 2 have no row."


def test_a_parameter_is_not_written_again_from_a_table_that_has_gone_since(account: Account):
    with pytest.raises(WatermarkNotCommitted, match="last-export-time was to be corrected; there is no table\n"):
        call(handler, plan={"kind": "Record", "table": "orders", "iceberg_table": "orders"})
    assert "last-export-time" not in account.parameters()
