"""How an export's manifests are read, wherever they lie: the summary, the file list that it names, the checksum beside each.

Whoever asks brings what reads a small file, by its URI or by its path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

from pipeline.errors import ManifestUnreadable
from pipeline.exports.manifests import ExportManifest, parse_files, parse_source, parse_summary, verify_md5

#: As DynamoDB names checksums, and as one place of its guide does.
_CHECKSUMS = (".md5", ".checksum")


class ReadManifests(NamedTuple):
    """What the manifests of an export say, with its data files.

    `root`: the URI or path that their keys start from. `unproven`: those that have no checksum beside them.
    """

    manifest: ExportManifest
    root: str
    unproven: tuple[str, ...]


def read_manifests(summary: str, read: Callable[[str], bytes | None]) -> ReadManifests:
    """Read the manifests of the export with this summary. `read`: gives a file's content, or None where there is none.

    Raises ManifestUnreadable, ChecksumMismatch or UnknownFormat. Whether they add up, and are of the right table, is for
    whoever asks.
    """
    content, is_proven = _content(summary, read)
    manifest = parse_summary(summary, content)
    folder = summary.rpartition("/")[0]
    key_folder, _, name = spelled(manifest.files_key, summary).rpartition("/")
    if not (folder + "/").endswith(f"/{key_folder}/"):
        raise ManifestUnreadable(
            f"{summary} names {manifest.files_key}, which lies elsewhere: files of an export stay together"
        )
    root = folder[: len(folder) - len(key_folder)]
    if root.startswith("s3:") and root != f"s3://{manifest.bucket}/":
        raise ManifestUnreadable(f"{summary} was written to the bucket {manifest.bucket}")
    file_list = f"{folder}/{name}"
    content, is_list_proven = _content(file_list, read)
    unproven = tuple(place for place, proven in ((summary, is_proven), (file_list, is_list_proven)) if not proven)
    return ReadManifests(manifest.with_files(parse_files(file_list, content)), root, unproven)


def read_source(summary: str, read: Callable[[str], bytes | None]) -> tuple[str, str]:
    """Whose the export with this summary is, be it of a format that is read or not: ARN and table id of its source table.

    Raises ManifestUnreadable or ChecksumMismatch.
    """
    return parse_source(summary, _content(summary, read)[0])


def spelled(key: str, root: str) -> str:
    """A key as URIs that begin with `root` spell it: percent-encoded after ``file:``, as it stands elsewhere."""
    return quote(key) if root.startswith("file:") else key


def _content(place: str, read: Callable[[str], bytes | None]) -> tuple[bytes, bool]:
    """A manifest's content, and whether a checksum beside it has proven it."""
    content = read(place)
    if content is None:
        raise ManifestUnreadable(f"{place} does not exist")
    stem = place.rpartition(".")[0]
    for ending in _CHECKSUMS:
        checksum = read(stem + ending)
        if checksum is not None:
            verify_md5(place, content, checksum.decode("ascii", "replace"))
            return content, True
    return content, False
