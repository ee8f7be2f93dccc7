"""Exports on the running local AWS: descriptions, tokens, lists, the limit."""

import re

import pytest

from local.aws.pitr.export import MOST_AT_ONCE

pytestmark = pytest.mark.local_aws

EXPORT_ID = re.compile(r"arn:aws:dynamodb:us-east-1:000000000000:table/orders/export/(\d{14}-[0-9a-f]{8})")


def test_a_running_full_export_shows_the_defaults_and_no_export_type(aws, source):
    aws.set_knobs(export_seconds=3600)
    export = source.full()
    assert set(export) == {
        "ClientToken",
        "ExportArn",
        "ExportFormat",
        "ExportStatus",
        "ExportTime",
        "S3Bucket",
        "S3SseAlgorithm",
        "StartTime",
        "TableArn",
        "TableId",
    }
    assert (export["ExportStatus"], export["ExportFormat"]) == ("IN_PROGRESS", "DYNAMODB_JSON")
    assert export["S3SseAlgorithm"] == "AES256"
    assert export["ExportTime"] == export["StartTime"]
    digits = EXPORT_ID.fullmatch(export["ExportArn"])[1].split("-")[0]
    assert int(digits) == round(export["StartTime"].timestamp() * 1000)


def test_a_running_incremental_export_shows_its_whole_window_and_starts_at_a_whole_second(aws, source):
    aws.advance(3600)
    aws.set_knobs(export_seconds=3600)
    asked = source.window(5, 20, S3Prefix="a/b/", S3BucketOwner="000000000000")
    assert asked["IncrementalExportSpecification"] == {
        "ExportFromTime": source.at(5),
        "ExportToTime": source.at(20),
        "ExportViewType": "NEW_AND_OLD_IMAGES",
    }
    assert "ExportTime" not in asked
    assert asked["ExportType"] == "INCREMENTAL_EXPORT"
    assert (asked["S3Prefix"], asked["S3BucketOwner"]) == ("a/b/", "000000000000")
    assert asked["StartTime"].microsecond == 0
    assert EXPORT_ID.fullmatch(asked["ExportArn"])[1].split("-")[0].endswith("000")
    assert source.described(asked) == asked


def test_a_completed_export_adds_its_end_its_manifest_and_its_size(aws, source):
    source.put("a")
    asked = source.full(S3Prefix="a/b/", ExportType="FULL_EXPORT")
    found = source.completed(asked)
    assert set(found) - set(asked) == {"EndTime", "ExportManifest", "ItemCount", "BilledSizeBytes"}
    export_id = EXPORT_ID.fullmatch(found["ExportArn"])[1]
    assert found["ExportManifest"] == f"a/b/AWSDynamoDB/{export_id}/manifest-summary.json"
    assert (found["ItemCount"], found["BilledSizeBytes"], found["ExportType"]) == (1, 0, "FULL_EXPORT")
    assert found["EndTime"] >= found["StartTime"]


def test_the_same_token_is_the_same_export_whatever_became_of_it(aws, source):
    aws.set_knobs(export_seconds=600)
    asked = source.full(ClientToken="one")
    assert source.full(ClientToken="one") == asked
    aws.advance(601)
    source.completed(asked)
    again = source.full(ClientToken="one")
    assert (again["ExportArn"], again["ExportStatus"]) == (asked["ExportArn"], "COMPLETED")
    aws.set_knobs(export_seconds=0, export_failure_code="UNKNOWN")
    failed = source.full(ClientToken="two")
    assert source.described(failed)["ExportStatus"] == "FAILED"
    assert source.full(ClientToken="two")["FailureCode"] == "UNKNOWN"
    assert source.full(ClientToken="three")["ExportArn"] not in (asked["ExportArn"], failed["ExportArn"])


def test_a_token_lives_for_eight_hours_after_its_export_has_ended(aws, source):
    asked = source.full(ClientToken="one")
    source.completed(asked)
    aws.advance(8 * 3600 - 60)
    assert source.full(ClientToken="one")["ExportArn"] == asked["ExportArn"]
    aws.advance(120)
    fresh = source.full(ClientToken="one")
    assert fresh["ExportArn"] != asked["ExportArn"]
    assert source.full(ClientToken="one")["ExportArn"] == fresh["ExportArn"]


def test_a_token_with_other_parameters_is_a_conflict(source, refusal):
    source.full(ClientToken="one")
    assert refusal(source.full, ClientToken="one", S3Prefix="other") == (
        "ExportConflictException",
        "Export conflict: Duplicate request detected with conflicting parameters",
    )


def test_a_refused_request_does_not_use_its_token_up(aws, source, refusal):
    refusal(source.window, 0, 10, ClientToken="one")
    aws.advance(3600)
    assert source.full(ClientToken="one")["ClientToken"] == "one"


def test_without_a_token_of_the_callers_own_every_call_is_a_new_export(source):
    assert source.full()["ExportArn"] != source.full()["ExportArn"]


def test_requests_that_are_refused(aws, source, refusal):
    gone = source.arn.replace("orders", "nosuch")
    assert refusal(source.full, TableArn=gone) == ("TableNotFoundException", f"Table not found: {gone}")
    foreign = source.arn.replace("000000000000", "111111111111")
    assert refusal(source.full, TableArn=foreign)[0] == "AccessDeniedException"
    assert refusal(source.full, TableArn="orders")[0] == "ValidationException"
    assert refusal(source.full, S3Bucket="arn:aws:s3:::exports")[0] == "ValidationException"
    assert refusal(source.full, S3SseAlgorithm="aws:kms")[0] == "ValidationException"
    assert refusal(source.full, S3Prefix="")[0] == "ValidationException"
    assert refusal(source.full, ExportTime=source.at(5))[0] == "InvalidExportTimeException"
    aws.set_knobs(oddities=["nosuch"])
    assert "No oddity nosuch" in refusal(source.full)[1]
    source.switch_recovery(False)
    assert refusal(source.full) == (
        "PointInTimeRecoveryUnavailableException",
        "Point in time recovery is not enabled for table 'orders'",
    )
    assert refusal(source.window, 0, 15)[0] == "InvalidExportTimeException"


def test_descriptions_that_are_refused(aws, source, refusal):
    describe = aws.client("dynamodb").describe_export
    arn = source.full()["ExportArn"]
    assert refusal(describe, ExportArn=source.arn)[0] == "ValidationException"
    assert refusal(describe, ExportArn=arn[:-1] + "x") == ("ExportNotFoundException", f"Export not found: {arn[:-1]}x")
    code, message = refusal(describe, ExportArn=arn.replace("us-east-1", "eu-west-1"))
    assert code == "ExportNotFoundException"
    assert message.startswith("Invalid export arn")


def test_lists_are_newest_first_in_pages_and_always_name_the_type(aws, source):
    arns = []
    for _ in range(5):
        arns.append(source.full()["ExportArn"])
        aws.advance(1)
    aws.advance(3600)
    arns.append(source.window(0, 20)["ExportArn"])
    source.completed({"ExportArn": arns[-1]})
    dynamodb = aws.client("dynamodb")
    found, token = [], {}
    while True:
        page = dynamodb.list_exports(TableArn=source.arn, MaxResults=2, **token)
        found += page["ExportSummaries"]
        assert len(page["ExportSummaries"]) == 2
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert [one["ExportArn"] for one in found] == arns[::-1]
    assert [one["ExportType"] for one in found] == ["INCREMENTAL_EXPORT", *["FULL_EXPORT"] * 5]
    assert {one["ExportStatus"] for one in found} == {"COMPLETED"}
    assert dynamodb.list_exports()["ExportSummaries"] == found


def test_a_table_created_anew_has_another_id_and_no_exports_though_the_old_ones_can_be_described(aws, source):
    source.put("old")
    old = source.completed(source.full())
    dynamodb = aws.client("dynamodb")
    dynamodb.delete_table(TableName="orders")
    assert dynamodb.list_exports(TableArn=source.arn)["ExportSummaries"] == []
    source.create()
    assert dynamodb.list_exports(TableArn=source.arn)["ExportSummaries"] == []
    assert source.described(old) == old
    new = source.full()
    assert source.records(new) == []
    assert new["TableId"] != old["TableId"]
    assert [one["ExportArn"] for one in dynamodb.list_exports()["ExportSummaries"]] == [new["ExportArn"]]


def test_exports_are_listed_for_ninety_days(aws, source):
    source.full()
    aws.advance(91 * 86_400)
    assert aws.client("dynamodb").list_exports()["ExportSummaries"] == []


def test_no_more_than_the_quota_of_exports_at_a_time(aws, source, refusal):
    aws.set_knobs(export_seconds=3600)
    for _ in range(MOST_AT_ONCE):
        source.full()
    assert refusal(source.full)[0] == "LimitExceededException"
