"""The exports in a folder that mirrors the export bucket: which are complete, and which of them is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from shlex import quote

from local.failed import Failed
from local.paths import called
from pipeline.errors import ChecksumMismatch, DamagedExport, DataFileMissing, ManifestUnreadable, UnknownFormat
from pipeline.exports.manifest_reading import read_manifests, read_source
from pipeline.exports.manifests import ExportManifest, check_totals, parse_summary
from pipeline.instants import format_instant

#: Bytes of items. Of a handful, half the time is Java's second compiler; a load of 170 MB is a quarter quicker with it.
_LONG_LOAD = 50_000_000
#: Bytes of a manifest, which is read whole: a list of a million data files takes less.
_LARGEST_MANIFEST = 268_435_456


@dataclass(frozen=True)
class FoundExport:
    """One complete export in a folder: the URI of its manifest summary, and what it says."""

    uri: str
    manifest: ExportManifest


@dataclass(frozen=True)
class RefusedExport:
    """One that cannot be applied: its folder, why, and whose it is: ARN and table id, None where that cannot be trusted."""

    folder: Path
    refusal: DamagedExport | UnknownFormat
    source: tuple[str, str] | None


@dataclass(frozen=True)
class FoundExports:
    """What a folder holds: complete exports, and those that cannot be applied, which matter if they are of one's source."""

    complete: Sequence[FoundExport]
    refused: Sequence[RefusedExport] = ()


def find_exports(folder: Path) -> FoundExports:
    """Every complete export below `folder`, of those of the same stretch the newest; others are no exports yet.

    A stretch is exported again where the files of an earlier export were damaged, and both stay in the bucket.
    Raises ManifestUnreadable where there is none at all, Failed where one, or a folder, may not be read. `folder`: an
    absolute path.
    """
    summaries = sorted(called("manifest-summary.json", folder))
    # By its path, not below the folder: that may be AWSDynamoDB itself.
    found = [_read(summary) for summary in summaries if summary.parent.parent.name == "AWSDynamoDB"]
    if not found:
        remedy = _under_whole_key(summaries[0]) if summaries else ""
        raise ManifestUnreadable(
            f"{folder} holds no complete export (AWSDynamoDB/<id>/manifest-summary.json)",
            remedy or "Mirror the export bucket into the folder, every file under its whole key.",
        )
    complete = [export for export in found if isinstance(export, FoundExport)]
    # An export's id begins with the time at which it was started.
    by_start = sorted(complete, key=lambda export: export.manifest.export_arn.rpartition("/")[2])
    newest = {_stretch(export.manifest): export for export in by_start}
    return FoundExports(
        [export for export in complete if newest[_stretch(export.manifest)] is export],
        [export for export in found if isinstance(export, RefusedExport)],
    )


def _stretch(manifest: ExportManifest) -> tuple[str, bool, datetime, datetime]:
    """What an export shows of which table: with another export that shows the same it can be exchanged."""
    return manifest.source_id, manifest.is_full, manifest.start, manifest.end


def _read(summary: Path) -> FoundExport | RefusedExport:
    """The export of a manifest summary. Its refusal says which folder to take away, should nothing else help."""
    try:
        found = read_manifests(str(summary), _content)
        manifest = found.manifest
        check_totals(manifest)
        _check_files(found.root, manifest)
    except UnknownFormat as odd:
        remedy = (
            f"Take {summary.parent} out of the folder. If what it shows is needed, export it again as DYNAMODB_JSON, a full "
            "export at a whole second."
        )
        return RefusedExport(summary.parent, UnknownFormat(odd.message, remedy), _source_said(summary))
    except DamagedExport as damaged:
        remedy = (
            f"Mirror the export bucket into the folder again. If it is the same then, take {summary.parent} out of the "
            "folder: its stretch may have been exported again."
        )
        refusal = type(damaged)(damaged.message, _under_whole_key(summary) or remedy)
        return RefusedExport(summary.parent, refusal, _source_said(summary))
    return FoundExport(summary.as_uri(), manifest)


def _check_files(root: str, manifest: ExportManifest) -> None:
    """Refuse an export with a pipe or a device in the place of a data file: nobody would come to its end.

    What is missing, or a folder, is left to the job. Raises Failed where that cannot be looked at.
    """
    for place in (Path(root + file.key) for file in manifest.files):
        try:
            is_odd = place.exists() and not (place.is_file() or place.is_dir())
        except OSError as failed:
            raise Failed(f"{place} cannot be read: {failed.strerror}") from failed
        if is_odd:
            raise DataFileMissing(f"{place} is no file, and a manifest names it")


def _source_said(summary: Path) -> tuple[str, str] | None:
    """Whose an export is by its summary, whatever else is wrong; None where the summary itself is."""
    try:
        return read_source(str(summary), _content)
    except (ManifestUnreadable, ChecksumMismatch):
        return None


def _under_whole_key(summary: Path) -> str:
    """What to do where a mirror has left out a prefix of the bucket's keys; empty where it has not.

    Data files are found by their whole keys, whose last folders are the last of the mirror's then.
    """
    try:
        manifest = parse_summary(str(summary), _content(str(summary)) or b"")
    except (ManifestUnreadable, UnknownFormat):
        return ""
    key, place = PurePosixPath(manifest.files_key).parent.parts, summary.parent.parts
    same = next(n for n in range(len(key), -1, -1) if key[len(key) - n :] == place[len(place) - n :])
    if same in (0, len(key)):
        return ""
    missing, root = "/".join(key[: len(key) - same]), Path(*place[: len(place) - same])
    return (
        f"The mirror lacks the beginning of the bucket's keys, {missing}/. Move what lies in {root} into {root / missing}. Or "
        f"mirror into an empty folder: aws s3 sync {quote(f's3://{manifest.bucket}/{missing}')} <folder>/{quote(missing)}"
    )


def _content(path: str) -> bytes | None:
    """What a manifest holds, or the checksum of one; None where there is none. Raises ManifestUnreadable of what is none.

    Raises Failed where it may not be read.
    """
    file = Path(path)
    try:
        if not file.is_file():
            return None
        size = file.stat().st_size
        if size > _LARGEST_MANIFEST:
            raise ManifestUnreadable(f"{file} has {size} bytes; a manifest has {_LARGEST_MANIFEST} at most")
        return file.read_bytes()
    except OSError as failed:
        raise Failed(f"{file} cannot be read: {failed.strerror}") from failed


def full_export_at(watermark: str, found: Sequence[FoundExport], folder: Path) -> FoundExport:
    """The full export at an instant. Raises ManifestUnreadable, naming the instants there are."""
    full = [export for export in found if export.manifest.is_full]
    for export in full:
        if format_instant(export.manifest.end) == watermark:
            return export
    others = ", ".join(sorted(format_instant(export.manifest.end) for export in full)) or "none"
    raise ManifestUnreadable(
        f"{folder} holds no full export at the table's watermark {watermark}; there are full exports at: {others}",
        f"Export the source table at {watermark} (ExportTime) into the folder, and verify again.",
    )


def is_long(export: FoundExport | None) -> bool:
    """Whether a full export is so long that making Java's code fast takes less time than it saves; windows never are.

    What DynamoDB bills for it are its bytes; for a window it bills 10 MB at least, which says nothing.
    """
    return export is not None and export.manifest.billed_bytes >= _LONG_LOAD
