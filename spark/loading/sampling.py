"""Which items decide the types of a load before it writes: some of the export's, as many as one look at them is worth."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from pyspark.sql import SparkSession

from pipeline.columns.profile import Observed, name_of
from pipeline.exports.manifests import ExportManifest
from spark import files
from spark.exports.reading import READ_AT_ONCE, Export

#: So many items tell of the types of attributes that are not rare; what is rarer, the pass over all items finds.
MOST_ITEMS = 2_000
#: Every value of a sampled item is taken out and counted, which costs several times its reading: of items that are large,
#: or have attributes by the thousand, so many bytes do, but never fewer items than LEAST_ITEMS.
MOST_BYTES = 8_000_000
LEAST_ITEMS = 100
#: To ask an attribute for NULL takes an eighth of asking all of an item's: worth it where so many items are NULL there,
#: and of not too many attributes.
_OFTEN, _MOST_ASKED = 8, 20


def sample_size(export: ExportManifest) -> int:
    """How many items to look at before types are decided: all of a small export, which is billed as nothing."""
    affordable = MOST_BYTES * export.item_count // max(export.billed_bytes, 1)
    return min(export.item_count, MOST_ITEMS, max(affordable, LEAST_ITEMS))


def items_each(export: ExportManifest) -> float:
    """How many items each of a sample stands for."""
    return export.item_count / max(sample_size(export), 1)


def sampled_lines(spark: SparkSession, export: Export) -> list[bytes]:
    """So many lines of an export, of few of its files: keys are spread over all of them by their hash."""
    size, wanted, held = sample_size(export.manifest), [], 0
    for file in export.manifest.files:
        if held < size and file.item_count:
            wanted.append((export.uri(file.key), min(file.item_count, size - held)))
            held += file.item_count
    with ThreadPoolExecutor(READ_AT_ONCE) as readers:
        found = readers.map(lambda each: files.first_lines(spark, *each), wanted)
        return [line for lines in found for line in lines]


def often_null(manifest: ExportManifest, seen: Sequence[Observed]) -> list[str]:
    """Attributes that are NULL in many of the items of the sample, the most frequent first. `seen`: what was counted there."""
    many = sample_size(manifest) / _OFTEN
    nulls = [row.path for row in seen if row.tag == "NULL" and row.count >= many]
    return [name_of(path[0]) for path in nulls if len(path) == 1][:_MOST_ASKED]
