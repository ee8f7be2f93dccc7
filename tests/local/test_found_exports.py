"""Which exports of a folder are taken, and what is said of one that is damaged, odd, or not under its whole key."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from local.aws.pitr.offline import FullExport, IncrementalExport, Put, journal_of, write_exports
from local.aws.pitr.records import ION
from local.failed import Failed
from local.found_exports import FoundExport, find_exports, full_export_at
from local.remedies import told
from local.sources import exports_to_follow
from pipeline.errors import ChecksumMismatch, ManifestUnreadable
from pipeline.exports.windows import ExportWindow
from pipeline.identity import KeyAttribute, SourceTable

SOURCE = SourceTable("arn:aws:dynamodb:eu-west-1:111122223333:table/orders", "id-1", (KeyAttribute("pk", "S"),))
NOON, WHILE = datetime(2026, 11, 1, 12, tzinfo=UTC), timedelta(minutes=5)
FULL = FullExport(NOON + timedelta(minutes=10))
WINDOW = IncrementalExport(ExportWindow(FULL.at, FULL.at + timedelta(minutes=20)))
JOURNAL = journal_of(
    SOURCE, enabled_at=NOON, writes=[Put(NOON + timedelta(minutes=n), {"pk": {"S": str(n)}}) for n in (5, 15)]
)


def complete(folder: Path) -> Sequence[FoundExport]:
    """The exports of a folder that are to be applied, where none is refused."""
    found = find_exports(folder)
    assert found.refused == []
    return found.complete


def refusal(folder: Path) -> str:
    """What a person is told of the one export of a folder that is refused; by its summary it is of SOURCE."""
    (refused,) = find_exports(folder).refused
    assert refused.source == (SOURCE.arn, SOURCE.id)
    return told(refused.refusal)


def test_of_exports_of_the_same_stretch_the_newest_is_taken(tmp_path):
    write_exports(tmp_path, SOURCE, JOURNAL, [FULL, WINDOW], prefix="z")
    # Each starts after those before it: these are later, though their folder comes first.
    later = write_exports(tmp_path, SOURCE, JOURNAL, [WINDOW, FULL, WINDOW], prefix="a")[1:]
    found = complete(tmp_path)
    assert {export.uri for export in found} == {export.summary.as_uri() for export in later}
    assert full_export_at("2026-11-01T12:10:00Z", found, tmp_path).manifest.export_arn == later[0].arn


def test_exports_of_another_beginning_end_or_source_stand_for_no_other(tmp_path):
    start, end, other = WINDOW.window.start, WINDOW.window.end, replace(SOURCE, id="id-2")
    windows = [WINDOW.window, ExportWindow(start - WHILE, end), ExportWindow(start, end + WHILE)]
    written = write_exports(tmp_path, SOURCE, JOURNAL, list(map(IncrementalExport, windows)))
    of_other = write_exports(tmp_path, other, journal_of(other, enabled_at=NOON, writes=[]), [WINDOW], prefix="other")
    assert {export.uri for export in complete(tmp_path)} == {e.summary.as_uri() for e in [*written, *of_other]}


def test_where_no_full_export_is_at_the_instant_those_that_are_there_are_named(tmp_path):
    write_exports(tmp_path, SOURCE, JOURNAL, [FULL, WINDOW])
    with pytest.raises(
        ManifestUnreadable, match=r"at the table's watermark 2026-11-01T12:30:00Z.* at: 2026-11-01T12:10:00Z"
    ):
        full_export_at("2026-11-01T12:30:00Z", complete(tmp_path), tmp_path)


@pytest.mark.parametrize("oddities", [(), ("checksum_names",)])
def test_a_damaged_manifest_is_refused_with_the_folder_to_take_away_and_without_it_the_newer_export_is_taken(
    tmp_path, oddities
):
    damaged, newer = write_exports(tmp_path, SOURCE, JOURNAL, [FULL, FULL], oddities=oddities)
    damaged.summary.write_bytes(damaged.summary.read_bytes() + b" ")
    (refused,) = find_exports(tmp_path).refused
    # What it says of its source is as little proven as the rest.
    assert (refused.folder, refused.source) == (damaged.summary.parent, None)
    assert isinstance(refused.refusal, ChecksumMismatch)
    assert f"take {damaged.summary.parent} out of the folder" in told(refused.refusal)
    damaged.summary.rename(tmp_path / "taken away")
    assert [export.manifest.export_arn for export in complete(tmp_path)] == [newer.arn]


ODD = {
    "ion": ([FULL], {"file_format": ION}, "outputFormat is 'ION'"),
    "fraction": ([FullExport(FULL.at + timedelta(milliseconds=123))], {}, "exportTime is 2026-11-01T12:10:00.123Z"),
}


@pytest.mark.parametrize(("requests", "options", "told_of"), ODD.values(), ids=ODD)
def test_an_export_of_a_format_that_is_not_read_is_refused_with_the_folder_to_take_away_and_the_others_are_taken(
    tmp_path, requests, options, told_of
):
    good = write_exports(tmp_path, SOURCE, JOURNAL, [FULL, WINDOW])
    (odd,) = write_exports(tmp_path, SOURCE, JOURNAL, requests, prefix="odd", **options)
    said = refusal(tmp_path)
    assert said.startswith("UnknownFormat: ")
    assert told_of in said
    assert f"To do: Take {odd.summary.parent} out of the folder. If what it shows is needed, export it again" in said
    odd.summary.parent.rename(tmp_path / "taken away")
    assert {export.manifest.export_arn for export in complete(tmp_path)} == {export.arn for export in good}


@pytest.mark.parametrize("prefix", [None, "exports/orders"])
@pytest.mark.parametrize("below", ["AWSDynamoDB", "AWSDynamoDB/*"])
def test_the_folder_may_be_that_of_the_exports_or_of_one_of_them(tmp_path, prefix, below):
    (export,) = write_exports(tmp_path, SOURCE, JOURNAL, [FULL], prefix=prefix)
    (folder,) = (file for file in (tmp_path / (prefix or "")).glob(below) if file.name != "data")
    assert [found.uri for found in complete(folder)] == [export.summary.as_uri()]


@pytest.mark.parametrize(
    ("prefix", "mirrored", "missing"),
    [
        ("exports/orders", "exports/orders", "exports/orders"),
        ("exports/orders", "exports", "exports"),
        ("exports/orders", "exports/orders/AWSDynamoDB", "exports/orders/AWSDynamoDB"),
        (None, "AWSDynamoDB", "AWSDynamoDB"),
        ("orders of shop", "orders of shop", "orders of shop"),
    ],
)
def test_a_mirror_that_lacks_the_beginning_of_the_keys_is_refused_with_what_mends_it(
    tmp_path, prefix, mirrored, missing
):
    write_exports(tmp_path / "bucket", SOURCE, JOURNAL, [FULL, WINDOW], prefix=prefix)
    mirror = (tmp_path / "bucket" / mirrored).rename(tmp_path / "mirror")
    with pytest.raises(ManifestUnreadable) as refused:
        exports_to_follow(find_exports(mirror), None, SOURCE.key, "")
    said = told(refused.value)
    assert f"To do: The mirror lacks the beginning of the bucket's keys, {missing}/." in said
    assert f"Move what lies in {mirror} into {mirror / missing}." in said
    source, folder = ("'s3://exports/orders of shop'", "'orders of shop'") if " " in missing else (None, missing)
    assert f"aws s3 sync {source or f's3://exports/{missing}'} <folder>/{folder}" in said
    whole = mirror.rename(tmp_path / "moved")
    (mirror / missing).parent.mkdir(parents=True)
    whole.rename(mirror / missing)
    assert len(complete(mirror)) == 2


def test_a_manifest_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    (export,) = write_exports(tmp_path, SOURCE, JOURNAL, [FULL])

    def refused(_):
        raise PermissionError(errno.EACCES, "Permission denied")

    # Of the user root, as whom tests may run, no file keeps anything.
    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(Failed) as failed:
        find_exports(tmp_path)
    assert str(failed.value) == f"{export.summary} cannot be read: Permission denied"


def test_a_folder_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    """What is in it would be missed, and the replay would say that there is nothing new."""
    write_exports(tmp_path, SOURCE, JOURNAL, [FULL], prefix="mine")
    write_exports(tmp_path, SOURCE, JOURNAL, [WINDOW], prefix="root's")
    scanned = os.scandir

    def refused(place):
        if Path(place) == tmp_path / "root's":
            raise PermissionError(errno.EACCES, "Permission denied", str(place))
        return scanned(place)

    # Of the user root, as whom tests may run, no folder keeps anything.
    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(Failed) as failed:
        find_exports(tmp_path)
    assert str(failed.value).startswith(f"{tmp_path}/root's cannot be read: Permission denied; ")


def test_what_a_link_leads_to_is_found_too_and_once(tmp_path):
    (folder := tmp_path / "exports").mkdir()
    (full,) = write_exports(folder, SOURCE, JOURNAL, [FULL], prefix="here")
    write_exports(tmp_path / "a disk", SOURCE, JOURNAL, [WINDOW], prefix="there")
    (folder / "there").symlink_to(tmp_path / "a disk" / "there")
    # By its name it comes before what it leads to, which lacks the beginning of its keys there; and one leads back.
    (folder / "AWSDynamoDB").symlink_to(folder / "here" / "AWSDynamoDB")
    (tmp_path / "a disk" / "there" / "back").symlink_to(folder)
    uris = [export.uri for export in complete(folder)]
    assert (len(uris), uris[0]) == (2, full.summary.as_uri())
    assert uris[1].startswith((folder / "there" / "AWSDynamoDB").as_uri())


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir], ids=["a named pipe", "a folder"])
@pytest.mark.parametrize("place", ["AWSDynamoDB/1-a", "elsewhere"])
def test_what_is_called_like_a_manifest_and_is_no_file_is_not_read(tmp_path, make, place):
    """To read a pipe that nobody writes to would never end."""
    odd = tmp_path / place / "manifest-summary.json"
    odd.parent.mkdir(parents=True)
    make(odd)
    if place == "elsewhere":
        with pytest.raises(ManifestUnreadable, match="holds no complete export"):
            find_exports(tmp_path)
    else:
        (refused,) = find_exports(tmp_path).refused
        assert refused.refusal.message == f"{odd} does not exist"


@pytest.mark.parametrize("name", ["manifest-summary.json", "manifest-summary.md5", "manifest-files.json"])
def test_what_is_too_large_for_a_manifest_is_refused_unread(tmp_path, name):
    (export,) = write_exports(tmp_path, SOURCE, JOURNAL, [FULL])
    large = export.summary.with_name(name)
    os.truncate(large, 2**40)
    (refused,) = find_exports(tmp_path).refused
    assert refused.refusal.message == f"{large} has {2**40} bytes; a manifest has {2**28} at most"
    assert f"take {export.summary.parent} out of the folder" in refused.refusal.remedy


@pytest.mark.parametrize("make", [os.mkfifo, lambda place: place.symlink_to("/dev/zero")], ids=["pipe", "device"])
def test_an_export_with_a_data_file_that_would_never_end_is_refused(tmp_path, make):
    (export,) = write_exports(tmp_path, SOURCE, JOURNAL, [FULL])
    place = next(tmp_path.rglob("*.json.gz"))
    place.unlink()
    assert len(complete(tmp_path)) == 1, "what is missing is for the job to tell"
    make(place)
    said = refusal(tmp_path)
    assert said.startswith(
        f"DataFileMissing: {place} is no file, and a manifest names it\nTo do: Mirror the export bucket"
    )
    assert f"take {export.summary.parent} out of the folder" in said


def test_an_export_whose_folder_has_another_name_is_taken_away_or_mirrored_again(tmp_path):
    (export,) = write_exports(tmp_path, SOURCE, JOURNAL, [FULL])
    other = export.summary.parent.rename(export.summary.parent.with_name("another"))
    said = refusal(tmp_path)
    assert said.startswith("ManifestUnreadable: ")
    assert f"take {other} out of the folder" in said
