"""Two exports to look at, a full and an incremental one, and every object of an export without a bucket."""

import gzip
import hashlib
import random

from local.aws.pitr.files import ExportHeading, billed_bytes, data_files, manifests, started_marker
from local.aws.pitr.journal import Journal
from local.aws.pitr.records import NEW_AND_OLD_IMAGES, Extent
from pipeline.identity import KeyAttribute, SourceTable

TABLE = SourceTable(
    "arn:aws:dynamodb:eu-west-1:123456789012:table/orders",
    "8ac1a8f5-6a0d-4a7e-8a41-000000000000",
    (KeyAttribute("pk", "S"), KeyAttribute("sk", "N")),
)
FULL = ExportHeading(
    export_id="01768385930622-efd1a093",
    table=TABLE,
    extent=Extent(1_768_385_930_622_000),
    started_at=1_768_385_930_622_000,
    bucket="exports",
)
WINDOW = ExportHeading(
    export_id="01768386924000-d339e52d",
    table=TABLE,
    extent=Extent(1_768_386_900_000_000, 1_768_386_000_000_000, NEW_AND_OLD_IMAGES),
    started_at=1_768_386_924_000_000,
    bucket="exports",
    prefix="a/b",
)
ENDED_AT = 1_768_386_298_984_000


def journal():
    """Inside WINDOW: 1 is updated (loses an attribute), 2 deleted, 3 inserted; before it: 1 and 2 inserted."""
    found = Journal(1_768_000_000_000_000)
    for at, number, image in (
        (1_768_385_000_000_000, 1, '{"gone":{"S":"x"},"pk":{"S":"k1"},"sk":{"N":"1"}}'),
        (1_768_385_000_000_001, 2, '{"pk":{"S":"k2"},"sk":{"N":"2"}}'),
        (1_768_386_100_000_000, 1, '{"pk":{"S":"k1"},"sk":{"N":"1"}}'),
        (1_768_386_200_000_000, 2, None),
        (1_768_386_300_123_456, 3, '{"a":{"S":"é"},"pk":{"S":"k3"},"sk":{"N":"3"}}'),
        (1_768_386_400_000_000, 3, '{"a":{"S":"é"},"pk":{"S":"k3"},"sk":{"N":"3"}}'),
    ):
        found.write(at, f'{{"pk":{{"S":"k{number}"}},"sk":{{"N":"{number}"}}}}', image)
    return found


def md5(content):
    return hashlib.md5(content, usedforsecurity=False).digest()


def written(heading, found=None, partitions=4):
    """Every object of an export by key, and its data files' lines."""
    found = found or journal()
    names = random.Random(1)  # noqa: S311 - names, not secrets
    objects = {one.key: one.content for one in started_marker(heading)}
    listings = []
    for file, listing in data_files(heading, found, names, partitions):
        objects[file.key] = file.content
        listings.append(listing)
    for one in manifests(heading, listings, ENDED_AT, billed_bytes(heading, found), names):
        objects[one.key] = one.content
    lines = [line for listing in listings for line in gzip.decompress(objects[listing.key]).decode().splitlines()]
    return objects, sorted(lines)
