"""Manifests are read alike wherever they lie: in a bucket, below a URI of files, or in a folder."""

from __future__ import annotations

import base64
import hashlib
import json
from urllib.parse import quote

import pytest

from pipeline.errors import ChecksumMismatch, ManifestUnreadable
from pipeline.exports.manifest_reading import read_manifests, read_source
from pipeline.exports.manifests import parse_files, parse_summary
from tests.pipeline.test_manifests import FILES, FULL, INCREMENTAL

KEY = json.loads(INCREMENTAL)["manifestFilesS3Key"]
FOLDER, _, LIST = KEY.rpartition("/")


def md5(content: bytes) -> str:
    return base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest()).decode()


def lying(root: str, ending: str = ".md5", folder: str = FOLDER) -> dict[str, bytes]:
    """The small files of an export, by where they lie."""
    content = {"manifest-summary.json": INCREMENTAL, LIST: FILES}
    checksums = {name.replace(".json", ending): md5(each).encode() for name, each in content.items()}
    return {f"{root}{folder}/{name}": each for name, each in {**content, **checksums}.items()}


@pytest.mark.parametrize("root", ["s3://a-bucket/", "file:///mirror/of%20it/", "/mirror/of it/"])
@pytest.mark.parametrize("ending", [".md5", ".checksum"])
def test_an_export_is_what_its_summary_and_its_file_list_say_and_both_are_proven(root, ending):
    found = read_manifests(f"{root}{FOLDER}/manifest-summary.json", lying(root, ending).get)
    assert found == (parse_summary("summary", INCREMENTAL).with_files(parse_files("list", FILES)), root, ())
    assert (found.manifest.has_old_images, parse_summary("summary", FULL).has_old_images) == (True, False)
    assert not parse_summary("summary", INCREMENTAL.replace(b"NEW_AND_OLD_IMAGES", b"NEW_IMAGE")).has_old_images


@pytest.mark.parametrize("name", ["manifest-summary", LIST.removesuffix(".json")])
@pytest.mark.parametrize("ending", [".md5", ".checksum"])
@pytest.mark.parametrize("checksum", [md5(b"something else").encode(), b"", b"\xff"])
def test_a_checksum_that_is_wrong_or_none_is_refused_and_one_that_is_not_there_is_told(name, ending, checksum):
    root, there = "/mirror/", lying("/mirror/", ending)
    summary, checked = f"{root}{FOLDER}/manifest-summary.json", f"{root}{FOLDER}/{name}"
    with pytest.raises(ChecksumMismatch, match=f"{checked}.json: its MD5 is"):
        read_manifests(summary, {**there, f"{checked}{ending}": checksum}.get)
    del there[f"{checked}{ending}"]
    assert read_manifests(summary, there.get).unproven == (f"{checked}.json",)


@pytest.mark.parametrize("name", ["manifest-summary.json", LIST])
def test_a_manifest_that_is_missing_is_refused_by_its_place(name):
    there = lying("/mirror/")
    del there[f"/mirror/{FOLDER}/{name}"]
    with pytest.raises(ManifestUnreadable, match=f"/mirror/{FOLDER}/{name} does not exist"):
        read_manifests(f"/mirror/{FOLDER}/manifest-summary.json", there.get)


@pytest.mark.parametrize(
    ("root", "folder", "told"),
    [
        pytest.param("s3://a-bucket/", "another/folder", "lies elsewhere", id="its list is said to lie elsewhere"),
        pytest.param("s3://a-bucket/", f"x{FOLDER}", "lies elsewhere", id="in a folder that only ends alike"),
        pytest.param("s3://other/", FOLDER, "was written to the bucket a-bucket", id="in another bucket"),
    ],
)
def test_manifests_that_do_not_lie_where_they_were_written_are_refused(root, folder, told):
    there = lying(root, folder=folder)
    with pytest.raises(ManifestUnreadable, match=told):
        read_manifests(f"{root}{folder}/manifest-summary.json", there.get)


def test_a_key_is_spelled_as_uris_of_files_are_and_as_it_is_elsewhere():
    odd = "exports/50% of it/AWSDynamoDB/1-a"
    for root, folder in (("file:///mirror/", quote(odd)), ("/mirror/", odd), ("s3://a-bucket/", odd)):
        summary = json.dumps({**json.loads(INCREMENTAL), "manifestFilesS3Key": f"{odd}/{LIST}"}).encode()
        there = {f"{root}{folder}/manifest-summary.json": summary, f"{root}{folder}/{LIST}": FILES}
        assert read_manifests(f"{root}{folder}/manifest-summary.json", there.get).root == root


def test_whose_an_export_is_can_be_read_also_where_it_has_another_format_and_never_without_its_checksum():
    said = json.loads(INCREMENTAL)
    of_ion = json.dumps({**said, "outputFormat": "ION"}).encode()
    assert read_source("a/manifest-summary.json", {"a/manifest-summary.json": of_ion}.get) == (
        said["tableArn"],
        said["tableId"],
    )
    there = {"a/manifest-summary.json": of_ion, "a/manifest-summary.md5": md5(INCREMENTAL).encode()}
    with pytest.raises(ChecksumMismatch):
        read_source("a/manifest-summary.json", there.get)


@pytest.mark.parametrize(
    ("table_id", "told"), [("", "tableId is ''"), (7, "tableId is 7"), (None, "'tableId' is missing")]
)
def test_an_export_that_does_not_say_whose_it_is_is_refused(table_id, told):
    said = {**json.loads(INCREMENTAL), "tableId": table_id}
    content = json.dumps({name: value for name, value in said.items() if value is not None}).encode()
    with pytest.raises(ManifestUnreadable, match=f"a/manifest-summary.json: .*{told}"):
        read_source("a/manifest-summary.json", {"a/manifest-summary.json": content}.get)
