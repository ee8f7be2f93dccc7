"""Export files byte for byte: data files, the two manifests, their checksums, and where in the bucket they lie.

Everything here was read off real exports: field order, absences, line ends, gzip header, names. Full exports keep their
data in a folder of their own, all incremental exports of a prefix share one. Pure: names come from a given source of
randomness, times are arguments.
"""

import base64
import hashlib
import json
import random
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from local.aws.pitr.journal import Journal
from local.aws.pitr.records import DYNAMODB_JSON, Extent, lines_by_partition
from local.aws.pitr.times import iso_millis
from pipeline.identity import SourceTable

# A new on-demand table has four partitions, and every partition gives a file, if only an empty one.
PARTITIONS = 4
# Incremental exports are billed for at least this much.
LEAST_BILLED_BYTES = 10_000_000

# mtime 0, no flags, unknown operating system.
_GZIP_HEADER = bytes.fromhex("1f8b08000000000000ff")
_NAME_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


@dataclass(frozen=True)
class ExportHeading:
    """What is known of an export before its data is written; times in microseconds."""

    export_id: str
    table: SourceTable
    extent: Extent
    started_at: int
    bucket: str
    prefix: str | None = None
    sse_algorithm: str = "AES256"
    sse_key_id: str | None = None
    file_format: str = DYNAMODB_JSON
    oddities: frozenset[str] = frozenset()

    @property
    def arn(self) -> str:
        """The export's ARN."""
        return f"{self.table.arn}/export/{self.export_id}"

    @property
    def folder(self) -> str:
        """The key of the export's own folder, with a slash at its end."""
        return f"{self._root}{self.export_id}/"

    @property
    def data_folder(self) -> str:
        """The key of the folder its data files lie in; incremental exports share it."""
        return f"{self.folder if self.extent.is_full else self._root}data/"

    @property
    def summary_key(self) -> str:
        """The key of the summary: what DescribeExport calls ExportManifest."""
        return f"{self.folder}manifest-summary.json"

    @property
    def files_key(self) -> str:
        """The key of the list of data files."""
        return f"{self.folder}manifest-files.json"

    @property
    def _root(self) -> str:
        return f"{self.prefix.removesuffix('/')}/AWSDynamoDB/" if self.prefix else "AWSDynamoDB/"


@dataclass(frozen=True)
class ExportedObject:
    """One object of an export."""

    key: str
    content: bytes


@dataclass(frozen=True)
class FileListing:
    """What the list of data files says of one; `md5` is base64 of the compressed content's."""

    key: str
    item_count: int
    md5: str
    etag: str


def export_id(started_at: int, suffix: str) -> str:
    """14 digits of the start in milliseconds, and 8 hex digits."""
    return f"{started_at // 1000:014d}-{suffix}"


def started_marker(heading: ExportHeading) -> list[ExportedObject]:
    """What is written first, to prove that the bucket can be written to."""
    return [] if "no_started" in heading.oddities else [ExportedObject(f"{heading.folder}_started", b"")]


def data_files(
    heading: ExportHeading, journal: Journal, names: random.Random, partitions: int = PARTITIONS
) -> Iterator[tuple[ExportedObject, FileListing]]:
    """One file per partition, made as they are taken, with its listing. Raises HistoryGone."""
    extension = "json.gz" if heading.file_format == DYNAMODB_JSON else "ion.gz"
    parts = "2" if "etag_of_two_parts" in heading.oddities else "1"
    for lines in lines_by_partition(
        journal, heading.table, heading.extent, heading.file_format, heading.oddities, partitions
    ):
        content, count = gzipped(lines)
        key = f"{heading.data_folder}{''.join(names.choices(_NAME_LETTERS, k=26))}.{extension}"
        listing = FileListing(key, count, md5_base64(content), multipart_etag(content, parts))
        yield ExportedObject(key, content), listing


def manifests(
    heading: ExportHeading, files: Sequence[FileListing], ended_at: int, billed: int, names: random.Random
) -> list[ExportedObject]:
    """Both manifests and their checksums, in the order in which they are written. The order of the list is arbitrary."""
    total = sum(file.item_count for file in files)
    listed = [] if not total and "empty_file_list" in heading.oddities else list(files)
    names.shuffle(listed)
    lines = "".join(_compact(_file_line(file)) + "\n" for file in listed).encode()
    summary = _compact(_summary(heading, total, ended_at, billed)).encode()
    ending = ".checksum" if "checksum_names" in heading.oddities else ".md5"
    return [
        ExportedObject(heading.files_key, lines),
        ExportedObject(heading.files_key.replace(".json", ending), md5_base64(lines).encode()),
        ExportedObject(heading.summary_key, summary),
        ExportedObject(heading.summary_key.replace(".json", ending), md5_base64(summary).encode()),
    ]


def billed_bytes(heading: ExportHeading, journal: Journal) -> int:
    """What DynamoDB would bill for an export of a journal."""
    extent = heading.extent
    if extent.start is not None:
        return bill(extent, journal.bytes_written(extent.start, extent.end))
    return bill(extent, sum(map(len, journal.state_at(extent.end).values())))


def bill(extent: Extent, size: int) -> int:
    """What DynamoDB would bill for so many bytes: a window's writes with a floor, a full export's size, 0 when that is tiny."""
    if extent.start is not None:
        return max(LEAST_BILLED_BYTES, size)
    return size if size >= LEAST_BILLED_BYTES else 0


def gzipped(lines: Iterable[str]) -> tuple[bytes, int]:
    """The lines, each with its line feed, as one gzip member, and how many they are. No lines give 20 bytes."""
    deflate = zlib.compressobj(level=1, wbits=-zlib.MAX_WBITS)
    parts, checksum, size, count = [_GZIP_HEADER], 0, 0, 0
    for count, line in enumerate(lines, start=1):  # noqa: B007 - the count is used after the loop
        encoded = line.encode() + b"\n"
        checksum, size = zlib.crc32(encoded, checksum), size + len(encoded)
        parts.append(deflate.compress(encoded))
    parts += [deflate.flush(), struct.pack("<LL", checksum, size & 0xFFFFFFFF)]
    return b"".join(parts), count


def md5_base64(content: bytes) -> str:
    """Base64 of the MD5: what checksum files hold, without a line feed, and `md5Checksum` says of a data file."""
    return base64.b64encode(_md5(content)).decode()


def multipart_etag(content: bytes, parts: str = "1") -> str:
    """The etag S3 gives an object that was uploaded in one part of a multipart upload."""
    return f"{_md5(_md5(content)).hex()}-{parts}"


def _md5(content: bytes) -> bytes:
    return hashlib.md5(content, usedforsecurity=False).digest()


def _compact(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _file_line(file: FileListing) -> dict[str, Any]:
    return {
        "itemCount": file.item_count,
        "md5Checksum": file.md5,
        "etag": file.etag,
        "dataFileS3Key": file.key,
    }


def _summary(heading: ExportHeading, item_count: int, ended_at: int, billed: int) -> dict[str, Any]:
    """In the order of real ones; what a kind of export does not have is absent, what was not asked for is null."""
    extent = heading.extent
    times = (
        {"exportTime": iso_millis(extent.end)}
        if extent.start is None
        else {"exportFromTime": iso_millis(extent.start), "exportToTime": iso_millis(extent.end)}
    )
    summary: dict[str, Any] = {
        "version": "2020-06-30" if extent.is_full else "2023-08-01",
        "exportArn": heading.arn,
        "startTime": iso_millis(heading.started_at),
        "endTime": iso_millis(ended_at),
        "tableArn": heading.table.arn,
        "tableId": heading.table.id,
        **times,
        "s3Bucket": heading.bucket,
        "s3Prefix": heading.prefix,
        "s3SseAlgorithm": heading.sse_algorithm,
        "s3SseKmsKeyId": heading.sse_key_id,
        "manifestFilesS3Key": heading.files_key,
        "billedSizeBytes": billed,
        "itemCount": item_count,
        "outputFormat": heading.file_format,
    }
    if not extent.is_full:
        summary |= {"outputView": extent.view, "exportType": "INCREMENTAL_EXPORT"}
    elif "export_type_on_full" in heading.oddities:
        summary["exportType"] = "FULL_EXPORT"
    if "unknown_fields" in heading.oddities:
        summary["exportTier"] = "STANDARD"
    return summary
