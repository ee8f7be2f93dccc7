"""StartExports asks once however often it is called; CheckExports tells running from complete from failed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from lambdas import check_exports, start_exports
from lambdas.aws import source
from pipeline.errors import (
    BucketMissing,
    ExportAccessDenied,
    ExportFailed,
    ExportRefused,
    ExportTimedOut,
    FilteredExport,
    HistoryLost,
    PitrOff,
    TableNotFound,
)
from tests.lambdas.account import DEPLOYMENT, Account, call

pytestmark = pytest.mark.local_aws
TWO_DAYS_OF_LOOKS = 579


def planned(account: Account, *exports: dict[str, str], attempt: int = 0, mode: str = "update") -> dict[str, Any]:
    """A plan for these exports of the source table as it is now."""
    description = account.aws.client("dynamodb").describe_table(TableName="orders")["Table"]
    source = {"arn": description["TableArn"], "id": description["TableId"], "key": ["id:S"]}
    plan = {"kind": "Export", "mode": mode, "table": "orders", "source": source, "exports": list(exports)}
    return {**plan, "attempt": attempt, "seen_at": account.instants(0)[0], "taken_over_from": ""}


def windows(account: Account, *windows_back: int) -> list[dict[str, str]]:
    """Touching windows between these ends, counted back from the last that can be exported."""
    ends = account.instants(*windows_back)
    return [{"from": start, "to": end} for start, end in pairwise(ends)]


def start(plan: dict[str, Any]) -> list[dict[str, Any]]:
    exports: list[dict[str, Any]] = call(start_exports.handler, plan=plan)["exports"]
    return exports


def check(exports: list[dict[str, Any]], checks: int = 0) -> dict[str, Any]:
    return call(check_exports.handler, exports=exports, checks=checks)


def listed(account: Account) -> int:
    """How many exports DynamoDB has been asked for."""
    return len(account.aws.client("dynamodb").list_exports()["ExportSummaries"])


def test_every_export_of_the_plan_is_started_and_the_first_look_is_soon(account: Account):
    asked = windows(account, 3, 2, 1)
    answer = call(start_exports.handler, plan=planned(account, *asked))
    assert [{"from": export["from"], "to": export["to"]} for export in answer["exports"]] == asked
    assert [export["retry"] for export in answer["exports"]] == [0, 0]
    assert answer["wait_seconds"] == 30
    assert listed(account) == 2


@pytest.mark.parametrize("seconds", [0, 600], ids=["complete", "running"])
def test_asking_twice_is_one_export(account: Account, seconds: float):
    account.aws.set_knobs(export_seconds=seconds)
    plan = planned(account, {"at": account.instants(0)[0]}, *windows(account, 2, 1))
    assert start(plan) == start(plan)
    assert listed(account) == 2


def test_the_next_attempt_is_another_export(account: Account):
    (first,) = start(planned(account, *windows(account, 2, 1)))
    (second,) = start(planned(account, *windows(account, 2, 1), attempt=1))
    assert first["arn"] != second["arn"]


def test_the_next_attempt_finds_none_of_the_exports_that_retries_of_the_former_one_made(account: Account):
    asked, former = windows(account, 2, 1), []
    for _ in range(5):
        account.aws.set_knobs(export_failure_code="UNKNOWN")
        former += start(planned(account, *asked))
    former += start(planned(account, *asked))
    assert [export["retry"] for export in former] == [0, 1, 2, 3, 4, 5]
    (next_,) = start(planned(account, *asked, attempt=1))
    assert next_["retry"] == 0
    assert next_["arn"] not in {export["arn"] for export in former}


def test_an_export_goes_where_the_table_s_exports_are_with_both_images(account: Account):
    (export,) = start(planned(account, *windows(account, 2, 1)))
    described = account.aws.client("dynamodb").describe_export(ExportArn=export["arn"])["ExportDescription"]
    assert (described["S3Bucket"], described["S3Prefix"]) == (DEPLOYMENT.bucket, "exports/orders")
    assert described["IncrementalExportSpecification"]["ExportViewType"] == "NEW_AND_OLD_IMAGES"
    assert (described["ExportFormat"], described["S3SseAlgorithm"]) == ("DYNAMODB_JSON", "AES256")


def test_an_export_that_failed_is_asked_for_anew_and_the_same_one_after_that(account: Account):
    plan = planned(account, *windows(account, 2, 1))
    account.aws.set_knobs(export_failure_code="UNKNOWN")
    failed = start(plan)
    with pytest.raises(ExportFailed):
        check(failed)
    second, third = start(plan), start(plan)
    assert second == third
    assert (second[0]["retry"], second[0]["arn"] == failed[0]["arn"]) == (1, False)
    assert check(second)["ready"]


def test_an_export_that_hangs_for_two_days_is_asked_for_anew(account: Account):
    account.aws.set_knobs(export_seconds=10**6)
    plan = planned(account, *windows(account, 2, 1))
    (hanging,) = start(plan)
    account.aws.advance(46 * 3600)
    assert start({**plan, "seen_at": account.instants(0)[0]}) == [hanging]
    account.aws.advance(2 * 3600)
    (anew,) = start({**plan, "seen_at": account.instants(0)[0]})
    assert (anew["retry"], anew["arn"] == hanging["arn"]) == (1, False)


def test_after_many_failures_it_is_called_what_the_last_one_failed_of_and_goes_on_once_that_is_mended(account: Account):
    account.lose_bucket()
    plan = planned(account, *windows(account, 2, 1))
    for _ in range(12):
        with pytest.raises(BucketMissing):
            check(start(plan))
    with pytest.raises(BucketMissing, match="many exports in a row have failed"):
        start(plan)
    account.aws.client("s3").create_bucket(Bucket=DEPLOYMENT.bucket)
    account.aws.advance(3600)
    assert check(start({**plan, "seen_at": account.instants(0)[0]}))["ready"]


def test_exports_are_complete_when_all_are_and_tell_manifest_and_size(account: Account):
    account.aws.client("dynamodb").put_item(TableName="orders", Item={"id": {"S": "second"}})
    account.aws.advance(1800)
    answer = check(start(planned(account, {"at": account.instants(0)[0]}, *windows(account, 2, 1))))
    full, window = answer["exports"]
    assert answer["ready"]
    assert full["manifest"].startswith("s3://the-bucket/exports/orders/AWSDynamoDB/0")
    assert full["manifest"].endswith("/manifest-summary.json")
    assert (full["items"], window["billed_bytes"]) == (2, 10_000_000)


def test_exports_that_run_are_looked_at_again_later_and_less_and_less_often(account: Account):
    account.aws.set_knobs(export_seconds=600)
    exports = start(planned(account, *windows(account, 2, 1)))
    answers = [check(exports, checks) for checks in (0, 1, 20)]
    assert [(answer["ready"], answer["exports"]) for answer in answers] == [(False, exports)] * 3
    assert [(answer["wait_seconds"], answer["checks"]) for answer in answers] == [(45, 1), (67, 2), (300, 21)]
    account.aws.advance(601)
    assert check(exports, 21)["ready"]


def test_an_export_known_to_be_complete_is_not_looked_at_again(account: Account):
    complete = [{"arn": "arn-of-nothing", "manifest": "s3://…", "items": 1, "billed_bytes": 1}]
    assert check(complete)["exports"] == complete


def test_after_two_days_it_waits_no_longer_unless_all_are_complete(account: Account):
    account.aws.set_knobs(export_seconds=10**6)
    exports = start(planned(account, *windows(account, 2, 1)))
    assert not check(exports, TWO_DAYS_OF_LOOKS - 1)["ready"]
    with pytest.raises(ExportTimedOut, match=f"{exports[0]['arn']} is not complete after 2 days 0 h\\n"):
        check(exports, TWO_DAYS_OF_LOOKS)
    account.aws.advance(10**6 + 1)
    assert check(exports, TWO_DAYS_OF_LOOKS)["ready"]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("S3NoSuchBucket", BucketMissing),
        ("S3AccessDenied", ExportAccessDenied),
        ("KmsNotFoundException", ExportFailed),
        ("UNKNOWN", ExportFailed),
    ],
)
def test_a_failed_export_is_called_what_its_code_means(account: Account, code: str, error: type[Exception]):
    account.aws.set_knobs(export_failure_code=code)
    exports = start(planned(account, *windows(account, 2, 1)))
    with pytest.raises(error, match=f"{exports[0]['arn']} ended as FAILED with {code}"):
        check(exports)


def test_an_export_that_was_made_with_a_filter_is_refused(account: Account, monkeypatch: pytest.MonkeyPatch):
    exports = start(planned(account, *windows(account, 2, 1)))
    described = source.describe_export(exports[0]["arn"])
    filtered = {**described, "FilterSpecification": {"FilterExpression": "a = :a"}}  # none can be made here
    monkeypatch.setattr(source, "describe_export", {exports[0]["arn"]: filtered}.get)
    with pytest.raises(FilteredExport, match=f"{exports[0]['arn']} was made with a filter"):
        check(exports)


def test_a_source_created_anew_is_never_given_an_export_of_the_table_before(account: Account):
    plan = planned(account, *windows(account, 2, 1))
    (former,) = start(plan)
    account.aws.client("dynamodb").delete_table(TableName="orders")
    account.create_source()
    anew = {**plan, "source": {**plan["source"], "id": account.source_id()}}
    assert plan["source"]["id"] != anew["source"]["id"]
    with pytest.raises(HistoryLost):
        start(anew)
    account.aws.advance(3600)
    (latter,) = start({**anew, **planned(account, *windows(account, 2, 1))})
    assert latter["arn"] != former["arn"]


def test_recovery_that_was_turned_off_meanwhile_is_named_for_both_kinds(account: Account):
    full, incremental = planned(account, {"at": account.instants(0)[0]}), planned(account, *windows(account, 2, 1))
    account.switch_recovery(on=False)
    for plan in (full, incremental):
        with pytest.raises(PitrOff):
            start(plan)


def test_history_that_was_lost_meanwhile_is_named_for_both_kinds(account: Account):
    full, incremental = planned(account, {"at": account.instants(0)[0]}), planned(account, *windows(account, 2, 1))
    account.switch_recovery(on=False)
    account.switch_recovery(on=True)
    for plan in (full, incremental):
        with pytest.raises(HistoryLost):
            start(plan)


def test_a_backfill_that_comes_too_late_has_lost_the_table_nothing(account: Account):
    plan = planned(account, *windows(account, 2, 1), mode="backfill")
    account.switch_recovery(on=False)
    account.switch_recovery(on=True)
    with pytest.raises(ExportRefused, match="The next run gives the backfill up, and mails how to ask for it again"):
        start(plan)


def test_a_window_that_is_not_over_is_refused_without_being_called_lost(account: Account):
    with pytest.raises(ExportRefused):
        start(planned(account, *windows(account, 0, -8)))


def test_a_source_table_that_is_gone_is_named(account: Account):
    plan = planned(account, {"at": account.instants(0)[0]})
    account.aws.client("dynamodb").delete_table(TableName="orders")
    with pytest.raises(TableNotFound):
        start(plan)
