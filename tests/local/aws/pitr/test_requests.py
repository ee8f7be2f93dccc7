"""What may be asked of an export, in which order it is looked at, and the words of each refusal."""

from datetime import UTC, datetime

import pytest

from local.aws.pitr.journal import RestorableRange
from local.aws.pitr.records import NEW_AND_OLD_IMAGES, NEW_IMAGE, Extent
from local.aws.pitr.requests import Refusal, extent_of, parse_request
from local.aws.pitr.times import SECOND, epoch_seconds, iso_millis, micros_of, micros_of_instant

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/orders"
ENABLED = 1_768_380_000
NOW = ENABLED + 2 * 86_400 + 0.5
RANGE = RestorableRange(ENABLED * SECOND, int(NOW - 300) * SECOND)
INCREMENTAL = {"ExportType": "INCREMENTAL_EXPORT"}


def asked(**more):
    return {"TableArn": ARN, "S3Bucket": "exports", **more}


def window(start, end, **more):
    times = {"ExportFromTime": ENABLED + start, "ExportToTime": ENABLED + end}
    return asked(**INCREMENTAL, IncrementalExportSpecification={**times, **more})


def extent(data, range_=RANGE):
    return extent_of(parse_request(data), range_, round(NOW * SECOND))


def refusal(data, range_=RANGE):
    with pytest.raises(Refusal) as refused:
        extent(data, range_)
    return refused.value.code, refused.value.message


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            asked(), Extent(round(NOW * SECOND)), id="a full export without a time is of now, in milliseconds"
        ),
        pytest.param(asked(ExportTime=ENABLED + 10), Extent((ENABLED + 10) * SECOND), id="at a time"),
        pytest.param(asked(ExportTime=ENABLED), Extent(ENABLED * SECOND), id="at the earliest time"),
        pytest.param(asked(ExportTime=int(NOW - 300)), Extent(RANGE.latest), id="at the latest time"),
        pytest.param(
            window(0, 900),
            Extent((ENABLED + 900) * SECOND, ENABLED * SECOND, NEW_AND_OLD_IMAGES),
            id="a window of exactly 15 minutes from the earliest time",
        ),
        pytest.param(
            window(60, 60 + 86_400, ExportViewType="NEW_IMAGE"),
            Extent((ENABLED + 60 + 86_400) * SECOND, (ENABLED + 60) * SECOND, NEW_IMAGE),
            id="a window of exactly 24 hours",
        ),
        pytest.param(
            window(86_400, 2 * 86_400),
            Extent((ENABLED + 2 * 86_400) * SECOND, (ENABLED + 86_400) * SECOND, NEW_AND_OLD_IMAGES),
            id="a window may end after the latest restorable time, if not after now",
        ),
        pytest.param(
            asked(**INCREMENTAL, IncrementalExportSpecification={"ExportFromTime": "2026-01-15T10:00:00.250Z"}),
            Extent(int(NOW) * SECOND, micros_of("2026-01-15T10:00:00Z"), NEW_AND_OLD_IMAGES),
            id="an end left out is now, in whole seconds; ISO-8601 text and fractions are taken",
        ),
    ],
)
def test_a_request_names_the_instant_or_the_window_it_exports(data, expected):
    assert extent(data) == expected


INVALID_TIME = "InvalidExportTimeException"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(asked(ExportTime=NOW + 1), (INVALID_TIME, "Export Time is invalid"), id="full, in the future"),
        pytest.param(
            asked(ExportTime=ENABLED - 1), (INVALID_TIME, "Export Time is invalid"), id="full, before enabling"
        ),
        pytest.param(asked(ExportTime=-5), (INVALID_TIME, "Export Time is invalid"), id="full, negative"),
        pytest.param(
            asked(ExportTime=NOW - 1),
            (INVALID_TIME, "Point in Time Recovery is not available for specified export time"),
            id="full, too recent",
        ),
        pytest.param(
            window(0, 899),
            (
                INVALID_TIME,
                "Difference between export period from time and export period to time is less than 15 minutes",
            ),
            id="under 15 minutes",
        ),
        pytest.param(
            window(0, 86_401),
            (
                INVALID_TIME,
                "Difference between export period from time and export period to time is greater than 24 hours",
            ),
            id="over 24 hours",
        ),
        pytest.param(
            window(-1, 100),
            (
                INVALID_TIME,
                "Incremental export period from time cannot be less than the table creation time : 2026-01-14T08:39:59Z",
            ),
            id="before enabling, looked at before the length",
        ),
        pytest.param(
            window(100_000, 2 * 86_400 + 1),
            (
                INVALID_TIME,
                "Incremental export period to time cannot be greater than the current time : 2026-01-16T08:40:01Z",
            ),
            id="an end in the future",
        ),
        pytest.param(
            window(2000, 1000),
            (
                INVALID_TIME,
                "Difference between export period from time and export period to time is less than 15 minutes",
            ),
            id="an end before the start",
        ),
    ],
)
def test_times_that_cannot_be_exported(data, expected):
    assert refusal(data) == expected


def test_recovery_off_is_a_missing_feature_for_a_full_export_and_an_invalid_time_for_a_window():
    assert refusal(asked(), None) == (
        "PointInTimeRecoveryUnavailableException",
        "Point in time recovery is not enabled for table 'orders'",
    )
    assert refusal(window(0, 900), None)[0] == INVALID_TIME


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"S3Bucket": "exports"}, "Value null at 'tableArn'"),
        ({"TableArn": ARN}, "Value null at 's3Bucket'"),
        (asked(TableArn="orders"), "Invalid TableArn: orders"),
        (asked(S3Prefix=""), "Invalid S3Prefix"),
        (asked(S3SseKmsKeyId="alias/x"), "only be given with the S3SseAlgorithm KMS"),
        (asked(S3SseKmsKeyId="alias/x", S3SseAlgorithm="AES256"), "only be given with the S3SseAlgorithm KMS"),
        (
            asked(IncrementalExportSpecification={"ExportFromTime": ENABLED}),
            "Export Type expected to be Incremental Export when incremental export specification is provided",
        ),
        (
            asked(ExportType="FULL_EXPORT", IncrementalExportSpecification={"ExportFromTime": ENABLED}),
            "When Export Type is Full Export , Incremental Export Specification should not be provided",
        ),
        (asked(**INCREMENTAL), "Incremental Export Specification must be provided"),
        (
            asked(**INCREMENTAL, IncrementalExportSpecification={}),
            "Invalid Request: ExportFromTime must be provided in IncrementalExportSpecification",
        ),
        (window(0, 900, ExportViewType="NEW_IMAGES"), "Invalid ExportViewType: NEW_IMAGES"),
        (asked(FilterSpecification={"FilterExpression": "a = :a"}), "does not filter exports"),
    ],
)
def test_requests_that_contradict_themselves(data, message):
    code, text = refusal(data)
    assert code == "ValidationException"
    assert message in text


@pytest.mark.parametrize("value", [True, "yesterday", "2026-01-15T10:00:00", []])
def test_what_is_no_timestamp_is_refused(value):
    assert refusal(asked(ExportTime=value)) == ("SerializationException", f"{value!r} is not a timestamp")


def test_a_time_is_one_instant_however_it_is_spelled():
    instant = datetime(2026, 1, 14, 10, 18, 50, 622_999, tzinfo=UTC)
    micros = micros_of_instant(instant)
    assert micros == micros_of(instant.timestamp()) == micros_of("2026-01-14T11:18:50.622999+01:00")
    assert iso_millis(micros) == "2026-01-14T10:18:50.622Z"
    assert epoch_seconds(micros) == 1768385930.622
