"""Plan looks at everything, decides, and claims: also when several start at once, or one died."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from lambdas.plan import handler
from pipeline.errors import DatabaseMissing, InputRefused, SettingRefused, TableFilesMissing, TableNotFound
from pipeline.instants import floor_to, format_instant
from tests.lambdas.account import DEPLOYMENT, SETTINGS, WINDOW, Account, call
from tests.lambdas.ticks import plan

pytestmark = pytest.mark.local_aws


def test_the_first_run_claims_a_full_export_and_tells_the_rest_of_the_run_what_it_needs(account: Account):
    me, (latest,) = account.execution(), account.instants(0)
    answer = plan(me)
    assert (answer["kind"], answer["exports"]) == ("Export", [{"at": latest}])
    assert (answer["table"], answer["iceberg_table"], answer["buckets"]) == ("orders", "orders", 16)
    assert answer["source"]["arn"].endswith(":table/orders")
    assert (answer["source"]["id"], answer["source"]["key"]) == (account.source_id(), ["id:S"])
    claim = {"owner": me, "mode": "update", "source_id": account.source_id(), "bounds": [latest], "attempt": 0}
    assert account.claims() == {1: {**claim, "tries": 1, "settings": SETTINGS.digest, "counted": ""}}


def test_the_watermark_is_read_from_the_table_s_metadata(account: Account):
    account.carry_out(account.grid(3))
    answer = plan(account.execution())
    start, end = account.instants(3, 0)
    assert answer["exports"] == [{"from": start, "to": end}]


def test_windows_that_follow_the_changes_are_as_long_as_the_last_bill_in_the_table_asks_for(account: Account):
    start = account.grid(5)
    bounds = {"name": "orders", "window_minutes": {"shortest": 15, "longest": 240}}
    account.put_parameter("orders", "settings", json.dumps(bounds))
    account.carry_out(start, billed=25_000_000)
    assert plan(account.execution(), dry_run=True)["end"] == format_instant(account.grid())
    account.carry_out(start, billed=10_000_000)
    assert plan(account.execution())["end"] == format_instant(floor_to(account.grid(), 2 * WINDOW))


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_stretch_that_is_begun_anew_passes_over_the_attempts_whose_files_were_damaged(account: Account, dry_run):
    account.carry_out(account.grid(3))
    first = plan(account.execution(), dry_run=True)
    account.write_report(first["job_id"], error="ChecksumMismatch")
    answer = plan(account.execution(), dry_run=dry_run)
    assert (first["attempt"], answer["attempt"], answer["exports"]) == (0, 1, first["exports"])
    assert [claim["attempt"] for claim in account.claims().values()] == ([] if dry_run else [1])


def test_an_idle_run_claims_nothing_and_says_until_when(account: Account):
    account.carry_out(account.grid())
    answer = plan(account.execution())
    assert (answer["kind"], answer["reason"], answer["until"]) == ("Idle", "UpToDate", *account.instants(-1))
    assert account.claims() == {}


def test_a_table_whose_metadata_somebody_lets_iceberg_pack_is_read_as_ever(account: Account):
    account.carry_out(account.grid())
    s3, folder = account.aws.client("s3"), "warehouse/orders/metadata"
    content = s3.get_object(Bucket=DEPLOYMENT.bucket, Key=f"{folder}/1.json")["Body"].read()
    s3.put_object(Bucket=DEPLOYMENT.bucket, Key=f"{folder}/2.gz.metadata.json", Body=gzip.compress(content))
    account.point_table_at(f"s3://{DEPLOYMENT.bucket}/{folder}/2.gz.metadata.json")
    assert plan(account.execution())["reason"] == "UpToDate"


def test_a_wrong_parameter_is_found_without_a_claim(account: Account):
    account.commit(account.grid())
    assert plan(account.execution())["kind"] == "Record"
    assert account.claims() == {}


def test_of_three_that_start_at_once_one_works_and_the_others_say_so(account: Account):
    together = Barrier(3)

    def start(execution: str) -> dict[str, Any]:
        together.wait()
        return plan(execution)

    executions = [account.execution() for _ in range(3)]
    with ThreadPoolExecutor(3) as threads:
        answers = list(threads.map(start, executions))
    (winner,) = [n for n, answer in enumerate(answers) if answer["kind"] == "Export"]
    others = [answer for n, answer in enumerate(answers) if n != winner]
    assert [(other["kind"], other["reason"]) for other in others] == [("Idle", "AnotherRun")] * 2
    assert {n: claim["owner"] for n, claim in account.claims().items()} == {1: executions[winner]}


def as_planned(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what the source's present adds to it."""
    return {name: value for name, value in answer.items() if name not in ("seen_at", "history_after")}


def test_a_plan_whose_answer_was_lost_is_made_again_under_the_same_claim(account: Account):
    me = account.execution()
    first = plan(me)
    account.aws.advance(3600)
    assert as_planned(plan(me)) == as_planned({**first, "history": {}, "adopted": True})
    assert list(account.claims()) == [1]


def test_what_a_stopped_run_had_planned_is_taken_over_unchanged(account: Account):
    dead, me = account.execution(), account.execution()
    first = plan(dead)
    account.stop(dead)
    account.aws.advance(3600)
    taken = plan(me)
    assert as_planned(taken) == as_planned({**first, "claim": 2, "taken_over_from": dead})
    assert account.claims()[2]["owner"] == me


def test_of_two_that_take_over_at_once_one_does(account: Account):
    dead = account.execution()
    plan(dead)
    account.stop(dead)
    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(plan, [account.execution(), account.execution()]))
    assert sorted(answer["kind"] for answer in answers) == ["Export", "Idle"]
    assert sorted(account.claims()) == [1, 2]


def test_damaged_files_are_exported_anew(account: Account):
    dead = account.execution()
    refused = plan(dead)
    account.write_report(refused["job_id"], outcome="refused", error="ChecksumMismatch", message="…", remedy="…")
    account.stop(dead)
    answer = plan(account.execution())
    assert (answer["attempt"], answer["exports"]) == (1, refused["exports"])
    assert answer["job_id"] != refused["job_id"]


def test_a_refusal_counts_once_though_the_job_s_next_run_dies_without_a_word(account: Account):
    for claim, (token, tries) in enumerate([("job-0", 1), ("job-0", 2), ("job-2", 2), ("job-2", 3)], start=1):
        execution = account.execution()
        job_id = plan(execution, scheduled_time="2026-11-21T12:15:00Z")["job_id"]
        assert account.claims()[claim]["tries"] == tries
        report = {"outcome": "refused", "error": "HashSecretUnfit", "message": "…", "client_token": token}
        account.write_report(job_id, **report)
        account.stop(execution)


def test_work_that_was_committed_before_its_run_died_is_not_done_again(account: Account):
    dead = account.execution()
    first = plan(dead)
    account.stop(dead)
    account.commit(account.grid(), job_id=first["job_id"])
    assert plan(account.execution())["kind"] == "Record"


def test_a_dry_run_tells_the_plan_and_its_price_and_claims_nothing(account: Account):
    account.carry_out(account.grid(3))
    answer = plan(account.execution(), dry_run=True)
    assert (answer["kind"], answer["planned"], answer["estimated_usd"]) == ("DryRun", "Export", 0.001)
    assert account.claims() == {}


def test_every_table_has_its_own_claims(account: Account):
    assert plan(account.execution())["claim"] == 1
    assert plan(account.execution(), table="carts")["claim"] == 1


def test_pause_is_read_anew_each_time(account: Account):
    account.put_parameter("orders", "control", "PAUSE")
    assert plan(account.execution())["reason"] == "Paused"
    account.put_parameter("orders", "control", "RUN")
    assert plan(account.execution())["kind"] == "Export"


def test_a_halt_carries_what_the_mail_needs(account: Account):
    account.switch_recovery(on=False)
    answer = plan(account.execution())
    assert (answer["kind"], answer["error"], answer["table"]) == ("Halt", "PitrOff", "orders")
    assert answer["cause"] == (
        "point-in-time recovery is off for orders\nTo do: Turn point-in-time recovery on for the source table."
    )


def test_history_is_lost_when_recovery_was_off_for_a_moment(account: Account):
    account.carry_out(account.grid(3))
    account.switch_recovery(on=False)
    account.switch_recovery(on=True)
    account.aws.advance(3600)
    assert plan(account.execution())["error"] == "HistoryLost"


def test_a_source_table_of_the_same_name_is_another_one(account: Account):
    account.carry_out(account.grid(3))
    account.aws.client("dynamodb").delete_table(TableName="orders")
    account.create_source()
    account.aws.advance(3600)
    answer = plan(account.execution())
    # What has become of the history of another table is no news: one mail says what is wrong.
    assert (answer["error"], answer["history"], answer["news"]) == ("TableRecreated", {}, [])


def test_a_table_that_is_not_iceberg_has_its_name_to_itself(account: Account):
    account.point_table_at("")
    for mode in ("update", "full"):
        with pytest.raises(SettingRefused, match="iceberg_table is 'orders'; allowed is a name that no other table"):
            plan(account.execution(), mode=mode)


def test_a_table_that_cannot_be_read_is_never_taken_for_none(account: Account):
    account.point_table_at("s3://the-bucket/warehouse/orders/metadata/gone.json")
    for mode in ("update", "full"):
        with pytest.raises(TableFilesMissing, match=r"metadata/gone\.json, which does not exist") as refused:
            plan(account.execution(), mode=mode)
        assert "after aws glue delete-table --region us-east-1 --database-name tidemark " in refused.value.remedy


def test_a_database_that_is_gone_is_never_taken_for_one_without_the_table(account: Account):
    account.carry_out(account.grid(3))
    account.aws.client("glue").delete_database(Name=DEPLOYMENT.database)
    for mode in ("update", "full"):
        with pytest.raises(DatabaseMissing, match="the Glue database tidemark does not exist"):
            plan(account.execution(), mode=mode)
    assert account.claims() == {}


def test_a_source_table_that_is_not_there_is_named(account: Account):
    account.aws.client("dynamodb").delete_table(TableName="orders")
    with pytest.raises(TableNotFound, match="the source table 'orders' does not exist"):
        plan(account.execution())


def test_an_input_that_is_no_object_is_refused(account: Account):
    with pytest.raises(InputRefused, match='the input is "orders"'):
        call(handler, input="orders", execution=account.execution())


def test_a_claim_whose_reply_was_lost_is_recognised_as_its_own(account: Account):
    me = account.execution()
    account.aws.set_faults({"name": "lost", "action": "ssm:PutParameter", "kind": "reply_lost"})
    assert plan(me)["kind"] == "Export"
    assert list(account.claims()) == [1]
