"""Which record a refused merge names, where it is one of several: that one's line, or its key."""

from __future__ import annotations

import gzip
import json

import pytest

from pipeline.errors import ConflictingChanges, KeyDoesNotFit, KeyMismatch
from tests.spark.sample_items import N_KEY
from tests.spark.shop import minute
from tests.spark.tampering import full_files, rewrite

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def source(shop):
    """A table of numbered orders; three of them are about to be changed, whose lines are in one file."""
    s = shop(key=N_KEY)
    s.put(1, *(_order(n, n) for n in range(1, 4)))
    s.load(5)
    s.put(6, *(_order(n, 9) for n in range(1, 4)))
    return s


def _order(number, v):
    return {"pk": {"S": "a"}, "sk": {"N": str(number)}, "v": {"N": str(v)}}


def tampered(source, change):
    """An order to merge the changes, of which one record, the last of its file, is what `change` makes of it; and its line."""

    def last(lines):
        return [*lines[:-1], json.dumps(change(json.loads(lines[-1])))]

    order = source.windows(5, 25, partitions=1)
    rewrite(source, order, last)
    (file,) = full_files(source, order)
    return order, len(gzip.decompress(file.read_bytes()).splitlines())


def refusal(source, order, error):
    with pytest.raises(error) as refused:
        source.run(order)
    assert source.state.watermark == minute(5)
    return refused.value.message


def with_key(record, **key):
    return json.loads(json.dumps(record)) | {"Keys": {**record["Keys"], **key}}


def test_of_a_record_whose_key_the_table_cannot_hold_its_line(source):
    def change(record):
        half = {"N": "1.5"}
        return with_key(record, sk=half) | {"NewImage": {**record["NewImage"], "sk": half}}

    order, line = tampered(source, change)
    said = refusal(source, order, KeyDoesNotFit)
    assert (line, said.endswith(f".json.gz, line {line}")) == (3, True)
    assert "1 record with a key that" in said


def test_of_a_record_with_another_key_its_line(source):
    order, line = tampered(source, lambda record: with_key(record, sk={"S": "1"}))
    said = refusal(source, order, KeyMismatch)
    assert (line, said.endswith(f".json.gz, line {line}")) == (3, True)
    assert "1 record with another key than pk:S, sk:N" in said


@pytest.mark.parametrize("image", [{"pk": {"S": "a"}, "sk": {"N": "7"}}, {"pk": {"S": "a"}, "v": {"N": "9"}}])
def test_of_a_record_whose_image_has_another_key_or_none_its_key(source, image):
    keys = []
    order, _ = tampered(source, lambda record: keys.append(record["Keys"]) or record | {"NewImage": image})
    said = refusal(source, order, KeyMismatch)
    assert "1 record with an image of a key that is not its own" in said
    assert said.endswith(f'such as of {{"pk":"a","sk":{keys[0]["sk"]["N"]}}}')


@pytest.mark.parametrize("is_deletion", [False, True])
def test_of_records_that_contradict_each_other_their_key(source, is_deletion):
    keys = []

    def both(lines):
        record = json.loads(lines[-1])
        keys.append(record["Keys"])
        other = {**record["NewImage"], "v": {"N": "8"}}
        record = {name: held for name, held in record.items() if name != "NewImage"}
        return [*lines, json.dumps(record if is_deletion else record | {"NewImage": other})]

    order = source.windows(5, 25, partitions=1)
    rewrite(source, order, both)
    said = refusal(source, order, ConflictingChanges)
    assert said.endswith(f'contradict each other: 1, such as of {{"pk":"a","sk":{keys[0]["sk"]["N"]}}}')
