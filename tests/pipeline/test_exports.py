"""Requests for exports: named by what they ask for; and how running ones are waited for."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import BucketMissing, ExportAccessDenied, ExportFailed
from pipeline.exports.requests import (
    LONGEST_EXPORT,
    ExportRequest,
    client_token,
    exports_of,
    failure_of,
    is_lost,
    retries,
    wait_before_check,
    waited,
)
from pipeline.exports.windows import windows_between
from tests.pipeline.world import at, bounds

WINDOW = ExportRequest(window=windows_between(bounds("12:00 13:00"))[0])
WHOLE = ExportRequest(at=at("12:00"))


@pytest.mark.parametrize("request_", [WINDOW, WHOLE], ids=["window", "full"])
def test_a_request_goes_through_an_event_unchanged(request_):
    assert ExportRequest.from_json({**request_.to_json(), "arn": "…", "retry": 3}) == request_


@pytest.mark.parametrize("fields", [{}, {"at": at("12:00"), "window": WINDOW.window}], ids=["neither", "both"])
def test_a_request_is_for_an_instant_or_for_a_window(fields):
    with pytest.raises(ValueError, match="either full, at an instant, or incremental, of a window"):
        ExportRequest(**fields)


NAMED = ("source", WINDOW, "bucket", "exports/orders", 0, 0)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(("another", WINDOW, "bucket", "exports/orders", 0, 0), id="another source table"),
        pytest.param(("source", WHOLE, "bucket", "exports/orders", 0, 0), id="a full export"),
        pytest.param(
            (
                "source",
                ExportRequest(window=windows_between(bounds("12:00 13:00:01"))[0]),
                "bucket",
                "exports/orders",
                0,
                0,
            ),
            id="a second more",
        ),
        pytest.param(("source", WINDOW, "bucket-2", "exports/orders", 0, 0), id="another bucket"),
        pytest.param(("source", WINDOW, "bucket", "exports/carts", 0, 0), id="another prefix"),
        pytest.param(("source", WINDOW, "bucket", "exports/orders", 1, 0), id="the next attempt"),
        pytest.param(("source", WINDOW, "bucket", "exports/orders", 0, 1), id="the next retry"),
    ],
)
def test_whatever_changes_the_request_changes_its_token(other):
    assert client_token(*other) != client_token(*NAMED)


def test_full_exports_at_two_instants_have_two_tokens():
    tokens = {client_token("source", ExportRequest(at=at(when)), *NAMED[2:]) for when in ("12:00", "12:00:01")}
    assert len(tokens) == 2


def test_the_same_request_has_the_same_token():
    assert client_token(*NAMED) == client_token("source", ExportRequest.from_json(WINDOW.to_json()), *NAMED[2:])


@given(st.text(), st.text(max_size=63), st.text(max_size=300), st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_token_is_one_that_dynamodb_takes(source, bucket, prefix, attempt, retry):
    assert re.fullmatch(r"[^$]{1,64}", client_token(source, WINDOW, bucket, prefix, attempt, retry))


def test_the_first_look_comes_after_half_a_minute_and_later_ones_every_five():
    assert wait_before_check(0) == timedelta(seconds=30)
    assert wait_before_check(6) == wait_before_check(1000) == timedelta(minutes=5)


@given(st.integers(0, 1000))
def test_waits_never_get_shorter_and_are_whole_seconds_for_the_wait_state(check):
    assert wait_before_check(check).seconds >= 1
    assert wait_before_check(check) <= wait_before_check(check + 1)
    assert waited(check + 1) == waited(check) + wait_before_check(check)


def test_an_export_of_two_days_is_waited_for_in_fewer_than_600_looks():
    looks = next(checks for checks in range(10_000) if waited(checks) >= LONGEST_EXPORT)
    assert looks < 600


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("S3NoSuchBucket", BucketMissing),
        ("S3AccessDenied", ExportAccessDenied),
        ("KmsNotFoundException", ExportFailed),
        ("SomethingNew", ExportFailed),
    ],
)
def test_a_failed_export_has_the_name_that_its_code_means(code, kind):
    failure = failure_of({"ExportArn": "arn-of-it", "FailureCode": code, "FailureMessage": "because"})
    assert type(failure) is kind
    assert failure.message == f"arn-of-it ended as FAILED with {code}: because"


def test_a_failed_export_without_a_code_has_failed():
    assert failure_of({"ExportArn": "arn-of-it"}).message == "arn-of-it ended as FAILED with no code: "


def test_ten_requests_are_gone_through_and_then_another_one_every_hour():
    first, later = retries(at("12:00")), retries(at("13:00"))
    assert first[:10] == later[:10] == tuple(range(10))
    assert retries(at("12:59")) == first
    assert later[-1] == first[-1] + 1
    assert min(first[10:]) > 9


def test_what_was_asked_for_late_in_an_hour_is_found_in_the_next_one():
    assert retries(at("12:59"))[-1] == retries(at("13:00"))[-2]
    assert len(retries(at("12:59"))) == 12


def test_an_export_is_lost_when_it_has_failed_or_should_have_ended_long_ago():
    started = {"ExportArn": "arn-of-it", "StartTime": at("18/12:00")}
    running = {**started, "ExportStatus": "IN_PROGRESS"}
    assert is_lost({**started, "ExportStatus": "FAILED"}, at("18/12:00"))
    assert not is_lost({**started, "ExportStatus": "COMPLETED"}, at("21/12:00"))
    assert not is_lost(running, at("20/10:59"))
    assert is_lost(running, at("20/11:00"))
    assert failure_of(running).name == "ExportTimedOut"


BELOW = "s3://a-bucket/exports/or.ders/AWSDynamoDB"


def test_exports_are_found_again_by_where_their_manifests_lie():
    summaries = [f"{BELOW}/{name}/manifest-summary.json" for name in ("01-a", "02-b")]
    found = exports_of(summaries, "arn:of/orders", "a-bucket", "exports/or.ders")
    assert found == ["arn:of/orders/export/01-a", "arn:of/orders/export/02-b"]


@pytest.mark.parametrize(
    "elsewhere",
    [
        pytest.param("s3://a-bucket/exports/or-ders/AWSDynamoDB/02-b/manifest-summary.json", id="another folder"),
        pytest.param("s3://other/exports/or.ders/AWSDynamoDB/02-b/manifest-summary.json", id="another bucket"),
        pytest.param(f"{BELOW}/x/02-b/manifest-summary.json", id="deeper"),
        pytest.param(f"{BELOW}/02-b/manifest-summary.json.old", id="another file"),
    ],
)
def test_none_are_found_again_where_one_lies_elsewhere(elsewhere):
    there = f"{BELOW}/01-a/manifest-summary.json"
    assert exports_of([there, elsewhere], "arn:of/orders", "a-bucket", "exports/or.ders") == []
