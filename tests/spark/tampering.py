"""Exports changed after DynamoDB wrote them: consistently, so that only the content is wrong, or not."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline.job_order import JobOrder
from tests.spark.shop import ARN, Shop


def rewrite(shop: Shop, order: JobOrder, change: Callable[[list[str]], list[str]]) -> None:
    """Change the lines of every data file that has any, and make all checksums and counts say so."""
    for summary in summaries(order):
        files = [_rewritten(shop, file, change) for file in listed(shop, summary)]
        relist(shop, summary, files)
        resum(summary, itemCount=sum(file["itemCount"] for file in files))


def _rewritten(shop: Shop, file: dict[str, Any], change: Callable[[list[str]], list[str]]) -> dict[str, Any]:
    path = shop.folder / file["dataFileS3Key"]
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    if not lines:
        return file
    lines = change(lines)
    path.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode(errors="surrogateescape")))
    return {**file, "itemCount": len(lines), "md5Checksum": md5(path.read_bytes())}


def summaries(order: JobOrder) -> list[Path]:
    """The order's manifest summaries."""
    return [Path(uri.removeprefix("file://")) for uri in order.exports]


def listed(shop: Shop, summary: Path) -> list[dict[str, Any]]:
    """The lines of the file list that a summary names."""
    text = (shop.folder / json.loads(summary.read_text())["manifestFilesS3Key"]).read_text()
    return [json.loads(line) for line in text.splitlines()]


def full_files(shop: Shop, order: JobOrder) -> list[Path]:
    """The data files that hold records."""
    return [shop.folder / f["dataFileS3Key"] for s in summaries(order) for f in listed(shop, s) if f["itemCount"]]


def relist(shop: Shop, summary: Path, files: list[dict[str, Any]]) -> None:
    """Write another file list, with its checksum."""
    path = shop.folder / json.loads(summary.read_text())["manifestFilesS3Key"]
    _write(path, "".join(json.dumps(file) + "\n" for file in files))


def resum(summary: Path, **fields: Any) -> None:
    """Change fields of a summary, with its checksum."""
    _write(summary, json.dumps({**json.loads(summary.read_text()), **fields}))


def _write(path: Path, text: str) -> None:
    path.write_text(text)
    path.with_suffix(".md5").write_text(md5(text.encode()))


def md5(content: bytes) -> str:
    """An MD5 as manifests write it."""
    return base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest()).decode()


# What the refusals are tried with: each damages an order's exports in the way of its name.


def cut_short(shop: Shop, order: JobOrder) -> None:
    (file, *_) = full_files(shop, order)
    file.write_bytes(file.read_bytes()[:-4])


def emptied(shop: Shop, order: JobOrder) -> None:
    (file, *_) = full_files(shop, order)
    file.write_bytes(b"")


def altered(shop: Shop, order: JobOrder) -> None:
    (file, *_) = full_files(shop, order)
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()).replace(b"2", b"3")))


def removed(shop: Shop, order: JobOrder) -> None:
    full_files(shop, order)[0].unlink()


def a_folder_listed(shop: Shop, order: JobOrder) -> None:
    """In the place of a data file, the last, stands the folder in which all of them lie."""
    for summary in summaries(order):
        (*others, last) = listed(shop, summary)
        relist(shop, summary, [*others, {**last, "dataFileS3Key": last["dataFileS3Key"].rpartition("/")[0]}])


def listed_under_two_spellings(shop: Shop, order: JobOrder) -> None:
    """A data file is listed once more, under a key that a file system takes for the same."""
    for summary in summaries(order):
        files = listed(shop, summary)
        full = max(files, key=lambda file: file["itemCount"])
        files.append({**full, "dataFileS3Key": full["dataFileS3Key"].replace("/data/", "/data//")})
        relist(shop, summary, files)
        resum(summary, itemCount=sum(file["itemCount"] for file in files))


def manifest_altered(shop: Shop, order: JobOrder) -> None:
    summaries(order)[0].write_text(summaries(order)[0].read_text() + " ")


def manifest_removed(shop: Shop, order: JobOrder) -> None:
    (shop.folder / json.loads(summaries(order)[0].read_text())["manifestFilesS3Key"]).unlink()


def list_altered(shop: Shop, order: JobOrder) -> None:
    path = shop.folder / json.loads(summaries(order)[0].read_text())["manifestFilesS3Key"]
    path.write_text(path.read_text() + "\n")


def list_torn(shop: Shop, order: JobOrder) -> None:
    path = shop.folder / json.loads(summaries(order)[0].read_text())["manifestFilesS3Key"]
    path.write_text(path.read_text() + '{"itemCount":')
    path.with_suffix(".md5").write_text(md5(path.read_bytes()))


def elsewhere(shop: Shop, order: JobOrder) -> None:
    resum(summaries(order)[0], manifestFilesS3Key="other/AWSDynamoDB/x/manifest-files.json")


def total_wrong(shop: Shop, order: JobOrder) -> None:
    resum(summaries(order)[0], itemCount=17)


def count_wrong(shop: Shop, order: JobOrder, by: int = 1) -> None:
    (summary,) = summaries(order)
    files = [{**file, "itemCount": max(file["itemCount"] + by, 0)} for file in listed(shop, summary)]
    relist(shop, summary, files)
    resum(summary, itemCount=sum(file["itemCount"] for file in files))


def counts_exchanged(shop: Shop, order: JobOrder) -> None:
    """One file is said to hold a record less than it does, another one more."""
    (summary,) = summaries(order)
    files = listed(shop, summary)
    one, other, *_ = sorted(files, key=lambda file: -file["itemCount"])
    one["itemCount"], other["itemCount"] = one["itemCount"] - 1, other["itemCount"] + 1
    relist(shop, summary, files)


def said_to_be_empty(shop: Shop, order: JobOrder) -> None:
    """Every file has the checksum, and the content, of one without records; the counts say otherwise."""
    empty = bytes.fromhex("1f8b08000000000000ff03000000000000000000")
    for summary in summaries(order):
        files = [{**file, "md5Checksum": md5(empty)} for file in listed(shop, summary)]
        for file in files:
            (shop.folder / file["dataFileS3Key"]).write_bytes(empty)
        relist(shop, summary, files)


def torn_line(shop: Shop, order: JobOrder) -> None:
    rewrite(shop, order, lambda lines: [lines[0][:-9], *lines[1:]])


def torn_packing(shop: Shop, order: JobOrder, most: int = 99) -> None:
    """The ends of so many gzip files, the last ones, are missing, and everything says that it is right so."""
    for summary in summaries(order):
        files = listed(shop, summary)
        full = sorted((file for file in files if file["itemCount"]), key=lambda file: file["dataFileS3Key"])
        for file in full[-most:]:
            path = shop.folder / file["dataFileS3Key"]
            path.write_bytes(path.read_bytes()[:-4])
            file["md5Checksum"] = md5(path.read_bytes())
        relist(shop, summary, files)
        resum(summary)


def blank_line(shop: Shop, order: JobOrder) -> None:
    rewrite(shop, order, lambda lines: ["", *lines])


def not_utf8(shop: Shop, order: JobOrder) -> None:
    rewrite(shop, order, lambda lines: [lines[0].replace('{"S":"', '{"S":"\udcff'), *lines[1:]])


def no_image(shop: Shop, order: JobOrder) -> None:
    rewrite(shop, order, lambda lines: [line.replace('"NewImage":{', '"NewImage":7,"x":{') for line in lines])


def no_keys(shop: Shop, order: JobOrder) -> None:
    rewrite(shop, order, lambda lines: [line.replace('"Keys":', '"Key":') for line in lines])


def no_write_time(shop: Shop, order: JobOrder) -> None:
    rewrite(shop, order, lambda lines: [line.replace('"WriteTimestampMicros":', '"Written":') for line in lines])


def odd_value(shop: Shop, order: JobOrder) -> None:
    rewrite(shop, order, lambda lines: [line.replace('"v":{"N"', '"v":{"ZZ"') for line in lines])


def no_boolean(shop: Shop, order: JobOrder) -> None:
    rewrite(shop, order, lambda lines: [line.replace('"v":{"N":"', '"v":{"BOOL":"') for line in lines])


def name_twice(shop: Shop, order: JobOrder) -> None:
    rewrite(shop, order, lambda lines: [line.replace('"v":{"N":"', '"v":{"N":"7"},"v":{"N":"') for line in lines])


def without_key(shop: Shop, order: JobOrder) -> None:
    rewrite(shop, order, lambda lines: [line.replace('"Keys":{"pk"', '"Keys":{"qk"') for line in lines])


def key_of_another_type(shop: Shop, order: JobOrder) -> None:
    rewrite(shop, order, lambda lines: [line.replace('"Keys":{"pk":{"S"', '"Keys":{"pk":{"B"') for line in lines])


def another_key_in_the_image(shop: Shop, order: JobOrder) -> None:
    def change(line):
        head, image, tail = line.partition('"NewImage":')
        return head + image + tail.replace('"pk":{"S":"', '"pk":{"S":"other ')

    rewrite(shop, order, lambda lines: [change(line) for line in lines])


def contradicting(shop: Shop, order: JobOrder) -> None:
    rewrite(shop, order, lambda lines: lines + [line.replace('"N":"2"', '"N":"9"') for line in lines])


def as_ion(shop: Shop, order: JobOrder) -> None:
    resum(summaries(order)[0], outputFormat="ION")


def of_unknown_type(shop: Shop, order: JobOrder) -> None:
    resum(summaries(order)[0], exportType="DIFFERENTIAL_EXPORT")


def of_another_table(shop: Shop, order: JobOrder) -> None:
    resum(summaries(order)[0], tableArn=ARN + "2")


def of_another_id(shop: Shop, order: JobOrder) -> None:
    resum(summaries(order)[0], tableId="another")
