"""Export manifests: what DynamoDB says an export contains, read strictly and held against what is expected.

Only a manifest links an export to its data files: all incremental exports share one data folder. Formats and field
names as DynamoDB writes them (versions 2020-06-30 for full and 2023-08-01 for incremental exports); unknown fields are
ignored, because the format has grown before.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pipeline.errors import (
    ChecksumMismatch,
    CountMismatch,
    Gap,
    ManifestUnreadable,
    OtherTable,
    OtherTableId,
    Overlap,
    UnknownFormat,
)
from pipeline.exports.windows import ExportWindow
from pipeline.exports.words import FILE_FORMAT, FULL, INCREMENTAL, NEW_AND_OLD_IMAGES
from pipeline.identity import SourceTable
from pipeline.instants import format_instant, parse_instant

#: The largest number that Spark counts to, and takes for a setting.
_MOST = 2**63 - 1
_FRACTION = re.compile(r"\.\d*[1-9]\d*Z$")


@dataclass(frozen=True)
class DataFile:
    """One compressed file of an export. `md5` is base64 of the MD5 of the compressed bytes."""

    key: str
    item_count: int
    md5: str

    @property
    def md5_hex(self) -> str:
        """The checksum as Spark's ``md5`` function writes it."""
        return base64.b64decode(self.md5).hex()


@dataclass(frozen=True)
class ExportManifest:
    """An export that DynamoDB has completed: what it is, and its data files.

    `export_time` is set for a full export, `window` for an incremental one, which may have old images beside the new ones.
    """

    export_arn: str
    source_arn: str
    source_id: str
    bucket: str
    item_count: int
    billed_bytes: int
    export_time: datetime | None
    window: ExportWindow | None
    files_key: str
    files: tuple[DataFile, ...] = ()
    has_old_images: bool = False

    @property
    def is_full(self) -> bool:
        """Whether it shows all items at one instant, rather than the changes of a window."""
        return self.window is None

    @property
    def start(self) -> datetime:
        """Where the export starts: its export time, or its window's start."""
        found = self.export_time if self.window is None else self.window.start
        assert found is not None  # parse_summary sets one of the two
        return found

    @property
    def end(self) -> datetime:
        """The watermark of a table that this export was applied to."""
        return self.start if self.window is None else self.window.end

    def with_files(self, files: tuple[DataFile, ...]) -> ExportManifest:
        """The same export with its data files known."""
        return replace(self, files=files)


def verify_md5(name: str, content: bytes, checksum: str) -> None:
    """Refuse content whose base64 MD5 is not `checksum` (the text of the ``.md5`` file beside it)."""
    found = base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest()).decode()
    if found != checksum.strip():
        raise ChecksumMismatch(f"{name}: its MD5 is {found}, the checksum file says {checksum.strip()}")


def parse_summary(name: str, content: bytes) -> ExportManifest:
    """Read ``manifest-summary.json``. Raises ManifestUnreadable or UnknownFormat, naming the file and the field."""
    raw = _object(name, content)
    kind = raw.get("exportType", FULL)  # absent on full exports
    if raw.get("outputFormat") != FILE_FORMAT:
        raise UnknownFormat(f"{name}: outputFormat is {raw.get('outputFormat')!r}; this product reads {FILE_FORMAT}")
    if kind not in (FULL, INCREMENTAL):
        raise UnknownFormat(f"{name}: exportType is {kind!r}; known are {FULL} and {INCREMENTAL}")
    if kind == FULL and not _is_whole_second(raw.get("exportTime")):
        raise UnknownFormat(
            f"{name}: exportTime is {raw['exportTime']}; no window can start at a fraction of a second, "
            "so nothing could follow this export without a gap or an overlap",
            "Export again with an explicit ExportTime in whole seconds.",
        )
    try:
        return ExportManifest(
            export_arn=_text(raw, "exportArn"),
            source_arn=_text(raw, "tableArn"),
            source_id=_text(raw, "tableId"),
            bucket=_text(raw, "s3Bucket"),
            item_count=_count(raw, "itemCount"),
            billed_bytes=_count({"billedSizeBytes": 0, **raw}, "billedSizeBytes"),
            export_time=parse_instant(raw["exportTime"]) if kind == FULL else None,
            window=_window(raw) if kind == INCREMENTAL else None,
            files_key=_text(raw, "manifestFilesS3Key"),
            has_old_images=raw.get("outputView") == NEW_AND_OLD_IMAGES,
        )
    except KeyError as missing:
        raise _lacking(name, missing) from missing
    except (TypeError, ValueError) as wrong:
        raise ManifestUnreadable(f"{name}: {wrong}") from wrong


def parse_source(name: str, content: bytes) -> tuple[str, str]:
    """Read from ``manifest-summary.json`` only whose export it is: ARN and table id. Raises ManifestUnreadable."""
    raw = _object(name, content)
    try:
        return _text(raw, "tableArn"), _text(raw, "tableId")
    except KeyError as missing:
        raise _lacking(name, missing) from missing
    except ValueError as wrong:
        raise ManifestUnreadable(f"{name}: {wrong}") from wrong


def parse_files(name: str, content: bytes) -> tuple[DataFile, ...]:
    """Read ``manifest-files.json``: one JSON object a line. A malformed line is refused by its number.

    So is a second one for the same file, whose items would count twice, and a key that leads elsewhere, as no key of S3 does
    but a path on a disk would.
    """
    files: dict[str, DataFile] = {}
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line:
            continue
        raw = _object(f"{name}, line {number}", line)
        try:
            file = DataFile(_text(raw, "dataFileS3Key"), _count(raw, "itemCount"), _md5(raw["md5Checksum"]))
        except (KeyError, TypeError, ValueError) as wrong:
            raise ManifestUnreadable(f"{name}, line {number}: {wrong!r}") from wrong
        if ".." in file.key.split("/"):
            raise ManifestUnreadable(f"{name}, line {number}: {file.key} leads out of the export's bucket")
        if file.key in files:
            raise ManifestUnreadable(f"{name}, line {number}: {file.key} is listed before")
        files[file.key] = file
    return tuple(files.values())


def check_totals(manifest: ExportManifest) -> None:
    """Refuse an export whose files' counts do not add up to its own."""
    total = sum(file.item_count for file in manifest.files)
    if total != manifest.item_count:
        raise CountMismatch(
            f"{manifest.export_arn}: the summary says {manifest.item_count} items, the file list {total}"
        )


def check_source(manifest: ExportManifest, source: SourceTable) -> None:
    """Refuse an export of another source table, or of an earlier or later table of the same name."""
    if manifest.source_arn != source.arn:
        raise OtherTable(f"{manifest.export_arn} is an export of {manifest.source_arn}, not of {source.arn}")
    if manifest.source_id != source.id:
        raise OtherTableId(
            f"{manifest.export_arn} is an export of the table with id {manifest.source_id}; this table is {source.id}"
        )


def check_touch(manifests: Iterable[ExportManifest], start: datetime, end: datetime) -> None:
    """Refuse exports that do not run from `start` to `end`, each beginning where the one before it ends. Raises Gap, Overlap."""
    reached = start
    for manifest in manifests:
        _check_meets(manifest, reached)
        reached = manifest.end
    if reached != end:
        found = f"the exports end at {format_instant(reached)}, the order at {format_instant(end)}"
        raise Gap(found) if reached < end else Overlap(found)


def _check_meets(manifest: ExportManifest, reached: datetime) -> None:
    start = format_instant(manifest.start)
    here = f"{manifest.export_arn} starts at {start}; what comes before it ends at {format_instant(reached)}"
    if manifest.start > reached:
        raise Gap(f"{here}: the changes between are missing")
    if manifest.start < reached:
        raise Overlap(f"{here}: the changes between would be applied twice")


def _object(name: str, content: bytes) -> Mapping[str, Any]:
    try:
        raw = json.loads(content)
    except (ValueError, RecursionError) as wrong:
        raise ManifestUnreadable(f"{name}: not JSON: {wrong}") from wrong
    if not isinstance(raw, dict):
        raise ManifestUnreadable(f"{name}: expected a JSON object, found {type(raw).__name__}")
    return raw


def _lacking(name: str, missing: KeyError) -> ManifestUnreadable:
    return ManifestUnreadable(f"{name}: the field {missing} is missing")


def _text(raw: Mapping[str, Any], field: str) -> str:
    text = raw[field]
    if not isinstance(text, str) or not text:
        raise ValueError(f"{field} is {text!r}, which is no text")
    return text


def _count(raw: Mapping[str, Any], field: str) -> int:
    number = raw[field]
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= _MOST:
        raise ValueError(f"{field} is {number!r}, which is no count")
    return number


def _md5(text: str) -> str:
    if len(base64.b64decode(text, validate=True)) != hashlib.md5(usedforsecurity=False).digest_size:
        raise ValueError(f"md5Checksum is {text!r}, which is not an MD5 in base64")
    return text


def _is_whole_second(text: Any) -> bool:
    """Whether an export time has no fraction. What is not an export time at all is left to `parse_instant`."""
    return not isinstance(text, str) or _FRACTION.search(text) is None


def _window(raw: Mapping[str, Any]) -> ExportWindow:
    return ExportWindow(parse_instant(raw["exportFromTime"]), parse_instant(raw["exportToTime"]))
