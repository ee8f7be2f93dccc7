"""Exports as DynamoDB wrote them: manifests read and held against the order, data files proven before they are parsed.

An export's files are found through its manifests alone, by their complete keys: all incremental exports share one data
folder, in which partial files of failed ones may lie as well.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from zlib import crc32

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.utils import AnalysisException

from pipeline.errors import ChecksumMismatch, DataFileMissing, ManifestUnreadable, UnknownFormat
from pipeline.exports.manifest_reading import read_manifests, spelled
from pipeline.exports.manifests import ExportManifest, check_source, check_totals, check_touch
from pipeline.job_kinds import LOAD, VERIFY
from pipeline.job_order import JobOrder
from spark import files
from spark.expressions.sql import Sql

#: Base64 of the MD5 of the file that DynamoDB writes for a partition without records.
_EMPTY_FILE = "FjvgqIxwymKf1RbbqtrZag=="
#: In a frame of lines: the name of the file that a line is from, which is its own among all exports.
FILE_NAME: Sql = "substring_index(_metadata.file_path, '/', -1)"
#: So many different weights there are: the sum of a million million records' still fits a bigint.
_WEIGHTS = 2**23
#: In a frame of lines: a number that comes from the name of the file that a line is from. The sum over all records shows a
#: file with too many and another with too few, which their number does not. Not by `FILE_NAME`: what Spark tells of a file
#: as columns makes it copy each row; but by this nothing can be grouped.
FILE_WEIGHT: Sql = f"crc32(substring_index(input_file_name(), '/', -1)) % {_WEIGHTS}L"
#: Manifests are four small files an export; a backlog has hundreds of exports, and S3 takes its time for each file.
READ_AT_ONCE = 16
#: What stands for something else in a pattern of paths.
_PATTERN = re.compile(r"[\\{}\[\]*?]")
#: What no path has in it; a name may have line breaks.
_BETWEEN = "\0"
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Export:
    """One export whose manifests have been read and checked. `root`: the URI that the manifests' keys start from."""

    manifest: ExportManifest
    root: str

    @property
    def files(self) -> dict[str, str]:
        """URI of every data file to its MD5 in hexadecimal."""
        return {self.uri(file.key): file.md5_hex for file in self.manifest.files}

    @property
    def files_with_records(self) -> list[str]:
        """URIs of the data files that hold anything, by their checksum."""
        return [self.uri(file.key) for file in self.manifest.files if file.md5 != _EMPTY_FILE]

    @property
    def weight(self) -> int:
        """The sum of `FILE_WEIGHT` over all records, if each file holds as many as the manifest says."""
        files = self.manifest.files
        return sum(crc32(file_name(self.uri(file.key)).encode()) % _WEIGHTS * file.item_count for file in files)

    def uri(self, key: str) -> str:
        """The URI of a file that the manifests name."""
        return self.root + spelled(key, self.root)


def records_of(exports: Iterable[Export]) -> int:
    """How many records the manifests of exports tell of."""
    return sum(export.manifest.item_count for export in exports)


def are_told(exports: Sequence[Export], records: int, weight: int) -> bool:
    """Whether their manifests tell of so many records, and of so many in each file as add up to this weight."""
    return (records, weight) == (records_of(exports), sum(export.weight for export in exports))


def read_exports(spark: SparkSession, order: JobOrder) -> list[Export]:
    """The order's exports, by the order of their windows. Raises what `pipeline.exports.manifests` raises, Gap, Overlap."""
    with ThreadPoolExecutor(READ_AT_ONCE) as readers:
        exports = list(readers.map(lambda uri: _read_export(spark, uri), order.exports))
    for export in exports:
        check_source(export.manifest, order.source)
        check_totals(export.manifest)
        if export.manifest.is_full != (order.job in (LOAD, VERIFY)):
            kind = "a full" if export.manifest.is_full else "an incremental"
            raise UnknownFormat(
                f"{export.manifest.export_arn} is {kind} export, which a {order.job} does not take",
                "Order a load or verification of a full export, a merge or backfill of incremental ones.",
            )
    exports.sort(key=lambda export: export.manifest.start)
    check_touch([export.manifest for export in exports], order.start, order.end)
    return exports


def _read_export(spark: SparkSession, uri: str) -> Export:
    found = read_manifests(uri, lambda one: files.read(spark, one))
    for one in found.unproven:
        log.warning("no checksum beside a manifest", extra={"uri": one})
    return Export(found.manifest, found.root)


def verify_data_files(spark: SparkSession, exports: Sequence[Export]) -> None:
    """Refuse exports of which a data file is missing or altered. Reads every compressed byte once, on the executors."""
    expected = _expected(spark, exports)
    if not expected:
        return
    left = dict(expected)
    for path, found in _checksums(spark, expected):
        if path not in left:
            # Spark takes a folder for all files in it.
            folder = next(uri for name, (uri, _) in expected.items() if path.startswith(f"{name}/"))
            raise DataFileMissing(f"{folder} is a folder and no file, and a manifest names it")
        uri, md5 = left.pop(path)
        if found != md5:
            raise ChecksumMismatch(f"{uri}: its MD5 is {found}, the manifest says {md5}")
    for uri, md5 in left.values():
        # Spark passes over a file of no bytes at all.
        if files.exists(spark, uri):
            raise ChecksumMismatch(f"{uri} is empty, the manifest says that its MD5 is {md5}")
        raise DataFileMissing(f"{uri} does not exist, and a manifest names it")


def _expected(spark: SparkSession, exports: Sequence[Export]) -> dict[str, tuple[str, str]]:
    """The path of every data file, as Spark reports it, to its URI and its MD5 in hexadecimal."""
    expected: dict[str, tuple[str, str]] = {}
    for uri, md5 in (file for export in exports for file in export.files.items()):
        known, _ = expected.setdefault(files.plain_path(spark, uri), (uri, md5))
        if known != uri:
            raise ManifestUnreadable(f"{uri} and {known} are one file, whose items would count twice")
    return expected


@contextmanager
def proven(spark: SparkSession, exports: Sequence[Export]) -> Iterator[None]:
    """Verify the data files while something else is done that changes nothing; what is wrong with them is raised first."""
    with ThreadPoolExecutor(1) as beside:
        verified = beside.submit(verify_data_files, spark, exports)
        try:
            yield
        finally:
            verified.result()


def _checksums(spark: SparkSession, expected: dict[str, tuple[str, str]]) -> list[tuple[str, str]]:
    try:
        content = read_files(spark, [uri for uri, _ in expected.values()], "binaryFile")
        found = content.select("path", F.md5("content").alias("md5")).collect()
    except AnalysisException:
        for uri, _ in expected.values():
            if not files.exists(spark, uri):
                raise DataFileMissing(f"{uri} does not exist, and a manifest names it") from None
        raise
    return [(row["path"], row["md5"]) for row in found]


def lines(spark: SparkSession, uris: Sequence[str]) -> DataFrame:
    """The lines of data files, in the column ``value``."""
    if not uris:
        return spark.range(0).select(F.lit("").alias("value"))
    return read_files(spark, uris, "text")


def file_name(uri: str) -> str:
    """What `FILE_NAME` is for the lines of a file, of its URI."""
    return uri.rpartition("/")[2]


def packed_bytes(lines_: DataFrame) -> int:
    """How large the files are that lines come from, as they lie there."""
    relation = lines_._jdf.queryExecution().analyzed().collectLeaves().head().relation()
    return int(relation.sizeInBytes())


def read_files(
    spark: SparkSession, uris: Sequence[str], format_: str, schema: str | None = None, **options: str
) -> DataFrame:
    """What a reader of Spark's makes of files. Only the files named are read."""
    reader = spark.read.format(format_).options(**options)
    if schema:
        reader = reader.schema(schema)
    # Spark takes a path for a pattern. As one text and taken apart by Java: a list would be handed over file by file.
    paths = _BETWEEN.join(_PATTERN.sub(r"\\\g<0>", files.plain_path(spark, uri)) for uri in uris)
    apart = spark._jvm.org.apache.hadoop.util.StringUtils.getStrings(paths, _BETWEEN)
    return DataFrame(reader._jreader.load(apart), spark)
