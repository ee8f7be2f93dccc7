"""Manifests as DynamoDB writes them, and every way in which one is not to be trusted."""

from __future__ import annotations

import base64
import hashlib
import json

import pytest

from pipeline.errors import ChecksumMismatch, CountMismatch, ManifestUnreadable, OtherTable, OtherTableId, UnknownFormat
from pipeline.exports.manifests import DataFile, check_source, check_totals, parse_files, parse_summary, verify_md5
from pipeline.exports.windows import windows_between
from pipeline.identity import KeyAttribute, SourceTable
from tests.pipeline.world import at

ARN = "arn:aws:dynamodb:eu-west-1:111122223333:table/music"
SOURCE = SourceTable(ARN, "5e2a9c1e-8f7e-4c55-9b1c-000000000001", (KeyAttribute("pk", "S"), KeyAttribute("sk", "S")))

# One compact line without an end of line, fields in DynamoDB's order; a full export has no exportType.
FULL = (
    b'{"version":"2020-06-30","exportArn":"' + ARN.encode() + b'/export/01763719200000-efd1a093",'
    b'"startTime":"2026-11-21T10:18:50.622Z","endTime":"2026-11-21T10:24:58.984Z","tableArn":"' + ARN.encode() + b'",'
    b'"tableId":"5e2a9c1e-8f7e-4c55-9b1c-000000000001","exportTime":"2026-11-21T10:00:00.000Z","s3Bucket":"a-bucket",'
    b'"s3Prefix":null,"s3SseAlgorithm":"AES256","s3SseKmsKeyId":null,'
    b'"manifestFilesS3Key":"AWSDynamoDB/01763719200000-efd1a093/manifest-files.json","billedSizeBytes":0,"itemCount":3,'
    b'"outputFormat":"DYNAMODB_JSON"}'
)
INCREMENTAL = (
    b'{"version":"2023-08-01","exportArn":"' + ARN.encode() + b'/export/01763721324000-d339e52d",'
    b'"startTime":"2026-11-21T10:35:24.000Z","endTime":"2026-11-21T10:40:27.622Z","tableArn":"' + ARN.encode() + b'",'
    b'"tableId":"5e2a9c1e-8f7e-4c55-9b1c-000000000001","exportFromTime":"2026-11-21T10:20:00.000Z",'
    b'"exportToTime":"2026-11-21T10:35:00.000Z","s3Bucket":"a-bucket","s3Prefix":"exports/music","s3SseAlgorithm":"AES256",'
    b'"s3SseKmsKeyId":null,'
    b'"manifestFilesS3Key":"exports/music/AWSDynamoDB/01763721324000-d339e52d/manifest-files.json",'
    b'"billedSizeBytes":10000000,"itemCount":6,"outputFormat":"DYNAMODB_JSON","outputView":"NEW_AND_OLD_IMAGES",'
    b'"exportType":"INCREMENTAL_EXPORT"}'
)
# JSON Lines, also the last one ended; the order means nothing, and a partition without changes has an empty file.
FILES = (
    b'{"itemCount":0,"md5Checksum":"FjvgqIxwymKf1RbbqtrZag==","etag":"7deb4078f238dd87d6af0538152c04e9-1",'
    b'"dataFileS3Key":"AWSDynamoDB/data/aaaaaaaaaaaaaaaaaaaaaaaa22.json.gz"}\n'
    b'{"itemCount":3,"md5Checksum":"y+zg5fVeudb3R3DOQ+RKgA==","etag":"b5443265c5e545b6c8d8275e0b6f8c15-1",'
    b'"dataFileS3Key":"AWSDynamoDB/data/u2wov2nzgu4gzlaaaaaaaaaa34.json.gz"}\n'
)
EMPTY_FILE = bytes.fromhex("1f8b08000000000000ff03000000000000000000")


def changed(summary: bytes, **fields: object) -> bytes:
    """The summary with some fields given another value; None leaves a field out."""
    raw = json.loads(summary) | fields
    return json.dumps({name: value for name, value in raw.items() if value is not None}).encode()


def test_a_full_export_says_when_it_was_and_where_its_files_are_listed():
    found = parse_summary("summary", FULL)
    assert found.is_full
    assert (found.start, found.end, found.window) == (at("10:00"), at("10:00"), None)
    assert (found.source_arn, found.source_id) == (ARN, SOURCE.id)
    assert (found.bucket, found.item_count, found.billed_bytes) == ("a-bucket", 3, 0)
    assert found.files_key == "AWSDynamoDB/01763719200000-efd1a093/manifest-files.json"


def test_an_incremental_export_says_which_window_it_covers():
    found = parse_summary("summary", INCREMENTAL)
    assert not found.is_full
    assert (found.window,) == windows_between([at("10:20"), at("10:35")])
    assert (found.start, found.end, found.export_time) == (at("10:20"), at("10:35"), None)
    assert (found.item_count, found.billed_bytes) == (6, 10_000_000)
    assert found.files_key.startswith("exports/music/AWSDynamoDB/")


def test_a_full_export_may_say_so():
    assert parse_summary("summary", changed(FULL, exportType="FULL_EXPORT")) == parse_summary("summary", FULL)


def test_an_export_that_says_nothing_of_its_bill_was_billed_nothing():
    assert parse_summary("summary", changed(FULL, billedSizeBytes=None)) == parse_summary("summary", FULL)


def test_the_format_may_grow():
    grown = changed(INCREMENTAL, version="2027-01-01", somethingNew={"a": [1]})
    assert parse_summary("summary", grown) == parse_summary("summary", INCREMENTAL)


@pytest.mark.parametrize(
    "field",
    [
        "exportArn",
        "tableArn",
        "tableId",
        "exportFromTime",
        "exportToTime",
        "s3Bucket",
        "manifestFilesS3Key",
        "itemCount",
    ],
)
def test_a_missing_field_is_refused_by_its_name(field):
    with pytest.raises(ManifestUnreadable, match=f"a/summary.json: the field '{field}' is missing"):
        parse_summary("a/summary.json", changed(INCREMENTAL, **{field: None}))


def test_a_full_export_without_its_time_is_refused():
    with pytest.raises(ManifestUnreadable, match="the field 'exportTime' is missing"):
        parse_summary("summary", changed(FULL, exportTime=None))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        pytest.param(b"", "not JSON", id="empty"),
        pytest.param(FULL[:-20], "not JSON", id="cut off"),
        pytest.param(b"\xff\xfe", "not JSON", id="no text"),
        pytest.param(b"[]", "expected a JSON object, found list", id="a list"),
        pytest.param(b"[" * 100_000, "not JSON", id="too deep"),
        pytest.param(changed(FULL, itemCount="many"), "itemCount is 'many'", id="a count in words"),
        pytest.param(changed(FULL, itemCount=2.5), "itemCount is 2.5", id="a fraction of an item"),
        pytest.param(changed(FULL, itemCount=True), "itemCount is True", id="a yes for a count"),
        pytest.param(changed(FULL, itemCount=float("inf")), "itemCount is inf", id="a count without end"),
        pytest.param(changed(FULL, billedSizeBytes=2**63), "which is no count", id="more than Spark counts to"),
        pytest.param(changed(FULL, billedSizeBytes=-1), "billedSizeBytes is -1", id="less than nothing billed"),
        pytest.param(changed(FULL, manifestFilesS3Key=5), "manifestFilesS3Key is 5", id="a key that is a number"),
        pytest.param(changed(FULL, s3Bucket=""), "s3Bucket is ''", id="no bucket"),
        pytest.param(changed(FULL, exportTime="yesterday"), "'yesterday' is not an instant", id="no instant"),
        pytest.param(changed(FULL, exportTime=1763719200), "1763719200 is not an instant", id="an epoch"),
        pytest.param(
            changed(INCREMENTAL, exportToTime="2026-11-21T10:34:59.000Z"), "15 minutes", id="too short a window"
        ),
        pytest.param(changed(INCREMENTAL, exportToTime="2026-11-21T10:35:00.5Z"), "is not an instant", id="a fraction"),
    ],
)
def test_an_unreadable_summary_is_refused_with_its_name_and_why(content, told):
    with pytest.raises(ManifestUnreadable, match="a/summary.json.*" + told):
        parse_summary("a/summary.json", content)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        pytest.param(changed(FULL, outputFormat="ION"), "outputFormat is 'ION'", id="Ion"),
        pytest.param(changed(FULL, outputFormat=None), "outputFormat is None", id="none"),
        pytest.param(changed(FULL, exportType="PARTIAL_EXPORT"), "exportType is 'PARTIAL_EXPORT'", id="a new type"),
        pytest.param(
            changed(FULL, exportTime="2026-11-21T10:18:50.622Z"),
            "no window can start at a fraction of a second",
            id="a full export asked for without a time, which nothing can follow exactly",
        ),
    ],
)
def test_what_this_product_cannot_apply_is_refused_by_what_it_is(content, told):
    with pytest.raises(UnknownFormat, match=told):
        parse_summary("summary", content)


def test_the_file_list_names_every_file_with_count_and_checksum():
    empty, full = parse_files("files", FILES)
    assert (empty.item_count, full.item_count) == (0, 3)
    assert full == DataFile("AWSDynamoDB/data/u2wov2nzgu4gzlaaaaaaaaaa34.json.gz", 3, "y+zg5fVeudb3R3DOQ+RKgA==")


def test_the_checksum_of_the_empty_file_is_that_of_an_empty_gzip():
    empty, _ = parse_files("files", FILES)
    assert empty.md5_hex == hashlib.md5(EMPTY_FILE, usedforsecurity=False).hexdigest()


def test_a_list_without_files_is_a_list():
    assert parse_files("files", b"") == ()


def test_a_list_whose_last_line_has_no_end_is_read_whole():
    assert parse_files("files", FILES.rstrip(b"\n")) == parse_files("files", FILES)


def test_a_key_may_hold_any_text():
    line = json.dumps({"itemCount": 1, "md5Checksum": "FjvgqIxwymKf1RbbqtrZag==", "dataFileS3Key": "ä b/..😀.gz"})
    assert parse_files("files", line.encode())[0].key == "ä b/..😀.gz"


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"not json", id="not JSON"),
        pytest.param(b'{"itemCount":1', id="cut off"),
        pytest.param(b"\xff", id="no text"),
        pytest.param(b"7", id="a number"),
        pytest.param(b'{"itemCount":1,"dataFileS3Key":"k"}', id="no checksum"),
        pytest.param(b'{"itemCount":1,"md5Checksum":"y+zg5fVeudb3R3DOQ+RKgA=="}', id="no key"),
        pytest.param(b'{"itemCount":"x","md5Checksum":"y+zg5fVeudb3R3DOQ+RKgA==","dataFileS3Key":"k"}', id="no count"),
        pytest.param(
            b'{"itemCount":-1,"md5Checksum":"y+zg5fVeudb3R3DOQ+RKgA==","dataFileS3Key":"k"}', id="less than none"
        ),
        pytest.param(
            b'{"itemCount":1.5,"md5Checksum":"y+zg5fVeudb3R3DOQ+RKgA==","dataFileS3Key":"k"}', id="no whole count"
        ),
        pytest.param(
            b'{"itemCount":1,"md5Checksum":"y+zg5fVeudb3R3DOQ+RKgA==","dataFileS3Key":7}', id="no text for a key"
        ),
        pytest.param(
            b'{"itemCount":1,"md5Checksum":"y+zg5fVeudb3R3DOQ+RKgA==","dataFileS3Key":"../of-others.gz"}',
            id="a file elsewhere",
        ),
        pytest.param(b'{"itemCount":1,"md5Checksum":"abc","dataFileS3Key":"k"}', id="no base64"),
        pytest.param(b'{"itemCount":1,"md5Checksum":"YWJj","dataFileS3Key":"k"}', id="not 16 bytes"),
        pytest.param(
            b'{"itemCount":1,"md5Checksum":"y+zg!5fVeudb3R3DOQ+RKgA==","dataFileS3Key":"k"}', id="a sign of none"
        ),
    ],
)
def test_an_unreadable_line_is_refused_by_its_number(line):
    with pytest.raises(ManifestUnreadable, match="files, line 3"):
        parse_files("files", FILES + line + b"\n")


def test_a_file_is_held_against_the_checksum_beside_it():
    checksum = base64.b64encode(hashlib.md5(FULL, usedforsecurity=False).digest()).decode()
    verify_md5("summary", FULL, checksum)
    verify_md5("summary", FULL, checksum + "\n")
    with pytest.raises(ChecksumMismatch, match=r"summary: its MD5 is .*, the checksum file says"):
        verify_md5("summary", FULL + b" ", checksum)


def test_counts_must_add_up():
    files = parse_files("files", FILES)
    check_totals(parse_summary("summary", FULL).with_files(files))
    with pytest.raises(CountMismatch, match="the summary says 6 items, the file list 3"):
        check_totals(parse_summary("summary", INCREMENTAL).with_files(files))


def test_an_export_of_the_table_s_own_source_passes():
    assert check_source(parse_summary("summary", FULL), SOURCE) is None


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        pytest.param({"tableArn": ARN + "-2"}, OtherTable, id="another table"),
        pytest.param({"tableArn": ARN.replace("eu-west-1", "eu-west-2")}, OtherTable, id="the same name elsewhere"),
        pytest.param({"tableId": "5e2a9c1e-8f7e-4c55-9b1c-000000000002"}, OtherTableId, id="created anew"),
    ],
)
def test_an_export_of_another_source_is_refused(fields, error):
    with pytest.raises(error):
        check_source(parse_summary("summary", changed(FULL, **fields)), SOURCE)


def test_a_file_that_is_listed_twice_is_refused():
    line = b'{"itemCount":1,"md5Checksum":"y+zg5fVeudb3R3DOQ+RKgA==","dataFileS3Key":"a/b.json.gz"}'
    with pytest.raises(ManifestUnreadable, match=r"files, line 2: a/b.json.gz is listed before"):
        parse_files("files", line + b"\n" + line)
