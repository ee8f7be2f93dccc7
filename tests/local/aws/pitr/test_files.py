"""Export files byte for byte, held against what real exports were seen to be."""

import base64
import gzip
import json
from dataclasses import replace

import pytest

from local.aws.pitr.files import billed_bytes, export_id, gzipped, multipart_etag
from local.aws.pitr.journal import Journal
from local.aws.pitr.records import Extent
from tests.local.aws.pitr.exported import FULL, WINDOW, md5, written

EMPTY_LINE = '"itemCount":0,"md5Checksum":"FjvgqIxwymKf1RbbqtrZag==","etag":"7deb4078f238dd87d6af0538152c04e9-1",'


def test_the_empty_file_is_the_gzip_of_nothing_with_the_known_checksum_and_etag():
    content, count = gzipped([])
    assert content.hex() == "1f8b08000000000000ff03000000000000000000"
    assert count == 0
    assert base64.b64encode(md5(content)) == b"FjvgqIxwymKf1RbbqtrZag=="
    assert multipart_etag(content) == "7deb4078f238dd87d6af0538152c04e9-1"


def test_a_data_file_is_one_gzip_member_with_a_line_feed_after_every_line():
    content, count = gzipped(['{"a":1}', '{"b":2}'])
    assert content[:10].hex() == "1f8b08000000000000ff"
    assert gzip.decompress(content) == b'{"a":1}\n{"b":2}\n'
    assert count == 2


def test_an_export_id_is_its_start_in_milliseconds():
    assert export_id(1_768_385_930_622_999, "efd1a093") == "01768385930622-efd1a093"


def test_the_keys_of_a_full_export_lie_below_its_id():
    objects, _ = written(FULL)
    folder = "AWSDynamoDB/01768385930622-efd1a093/"
    names = {key.removeprefix(folder) for key in objects}
    assert all(key.startswith(folder) for key in objects)
    data = {name for name in names if name.startswith("data/")}
    assert names - data == {
        "_started",
        "manifest-files.json",
        "manifest-files.md5",
        "manifest-summary.json",
        "manifest-summary.md5",
    }
    assert objects[f"{folder}_started"] == b""
    for name in data:
        stem = name.removeprefix("data/").removesuffix(".json.gz")
        assert len(stem) == 26
        assert set(stem) <= set("abcdefghijklmnopqrstuvwxyz234567")


@pytest.mark.parametrize("prefix", ["a/b", "a/b/"])
def test_incremental_exports_share_one_data_folder_below_the_prefix(prefix):
    objects, _ = written(replace(WINDOW, prefix=prefix))
    data = [key for key in objects if key.endswith(".gz")]
    assert len(data) == 4
    assert all(key.startswith("a/b/AWSDynamoDB/data/") for key in data)
    assert "a/b/AWSDynamoDB/01768386924000-d339e52d/_started" in objects


def test_the_list_of_files_is_json_lines_with_complete_keys_as_real_ones():
    objects, _ = written(FULL, Journal(0))
    listed = objects[FULL.files_key].decode()
    assert len(listed) == 780  # as a real list of four files without a prefix
    assert listed.endswith("\n")
    for line in listed.splitlines():
        key = json.loads(line)["dataFileS3Key"]
        assert line == f'{{{EMPTY_LINE}"dataFileS3Key":"{key}"}}'
        assert len(objects[key]) == 20


@pytest.mark.parametrize("heading", [FULL, WINDOW])
def test_counts_checksums_and_etags_fit_the_files(heading):
    objects, lines = written(heading)
    total = 0
    for line in objects[heading.files_key].decode().splitlines():
        listed = json.loads(line)
        assert list(listed) == ["itemCount", "md5Checksum", "etag", "dataFileS3Key"]
        digest = md5(objects[listed["dataFileS3Key"]])
        assert listed["md5Checksum"] == base64.b64encode(digest).decode()
        assert listed["etag"] == md5(digest).hex() + "-1"
        assert listed["itemCount"] == gzip.decompress(objects[listed["dataFileS3Key"]]).count(b"\n")
        total += listed["itemCount"]
    assert total == json.loads(objects[heading.summary_key])["itemCount"] == len(lines)
    for name in ("manifest-files", "manifest-summary"):
        content = objects[f"{heading.folder}{name}.json"]
        checksum = objects[f"{heading.folder}{name}.md5"]
        assert checksum == base64.b64encode(md5(content))
        assert len(checksum) == 24


def test_the_summary_of_a_full_export():
    objects, _ = written(FULL)
    assert objects[FULL.summary_key].decode() == (
        '{"version":"2020-06-30",'
        '"exportArn":"arn:aws:dynamodb:eu-west-1:123456789012:table/orders/export/01768385930622-efd1a093",'
        '"startTime":"2026-01-14T10:18:50.622Z","endTime":"2026-01-14T10:24:58.984Z",'
        '"tableArn":"arn:aws:dynamodb:eu-west-1:123456789012:table/orders",'
        '"tableId":"8ac1a8f5-6a0d-4a7e-8a41-000000000000","exportTime":"2026-01-14T10:18:50.622Z",'
        '"s3Bucket":"exports","s3Prefix":null,"s3SseAlgorithm":"AES256","s3SseKmsKeyId":null,'
        '"manifestFilesS3Key":"AWSDynamoDB/01768385930622-efd1a093/manifest-files.json",'
        '"billedSizeBytes":0,"itemCount":2,"outputFormat":"DYNAMODB_JSON"}'
    )


def test_the_summary_of_an_incremental_export():
    objects, _ = written(replace(WINDOW, sse_algorithm="KMS", sse_key_id="alias/mine"))
    assert objects[WINDOW.summary_key].decode() == (
        '{"version":"2023-08-01",'
        '"exportArn":"arn:aws:dynamodb:eu-west-1:123456789012:table/orders/export/01768386924000-d339e52d",'
        '"startTime":"2026-01-14T10:35:24.000Z","endTime":"2026-01-14T10:24:58.984Z",'
        '"tableArn":"arn:aws:dynamodb:eu-west-1:123456789012:table/orders",'
        '"tableId":"8ac1a8f5-6a0d-4a7e-8a41-000000000000",'
        '"exportFromTime":"2026-01-14T10:20:00.000Z","exportToTime":"2026-01-14T10:35:00.000Z",'
        '"s3Bucket":"exports","s3Prefix":"a/b","s3SseAlgorithm":"KMS","s3SseKmsKeyId":"alias/mine",'
        '"manifestFilesS3Key":"a/b/AWSDynamoDB/01768386924000-d339e52d/manifest-files.json",'
        '"billedSizeBytes":10000000,"itemCount":3,"outputFormat":"DYNAMODB_JSON",'
        '"outputView":"NEW_AND_OLD_IMAGES","exportType":"INCREMENTAL_EXPORT"}'
    )


def test_the_order_of_the_list_is_not_that_of_the_files():
    objects, _ = written(FULL, partitions=16)
    listed = [json.loads(line)["dataFileS3Key"] for line in objects[FULL.files_key].decode().splitlines()]
    assert sorted(listed) == sorted(key for key in objects if key.endswith(".gz"))
    assert listed != [key for key in objects if key.endswith(".gz")]


def test_an_export_without_records_still_has_its_files():
    objects, lines = written(WINDOW, Journal(0))
    assert lines == []
    assert len(objects[WINDOW.files_key].splitlines()) == 4
    assert json.loads(objects[WINDOW.summary_key])["billedSizeBytes"] == 10_000_000


def test_large_exports_are_billed_by_their_size():
    found, image = Journal(0), '{"pk":{"S":"k"},"x":{"S":"' + "y" * 400_000 + '"}}'
    for number in range(30):
        found.write(WINDOW.extent.start + number, '{"pk":{"S":"k"}}', image)
    assert billed_bytes(WINDOW, found) == 30 * len(image)  # every write of the window, though one record comes out
    assert billed_bytes(replace(FULL, extent=Extent(WINDOW.extent.end)), found) == 0
