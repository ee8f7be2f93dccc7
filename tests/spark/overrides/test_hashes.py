"""Hashes are what anybody with the secret computes from a value, however long the secret and however a number is spelled."""

from __future__ import annotations

import json

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.errors import HashSecretUnfit
from spark.hiding.protection import Protection
from tests.spark.overriding import SECRET, hashed
from tests.spark.sample_items import S, lines

pytestmark = pytest.mark.spark


def test_a_secret_longer_than_a_block_of_sha_256_keys_the_same_hashes_as_anywhere(spark):
    secret = SECRET * 2
    assert len(secret) > 64
    protection = Protection.of(Overrides.parse({"email": {"hash": True}}), secret)
    safe = protection.items_text(lines(spark, [{"email": S}]), "value", "safe").first()["safe"]
    assert json.loads(safe) == {"email": {"S": hashed('{"S":"x"}', secret)}}


def test_texts_are_hashed_with_every_character_as_it_is_but_quotes_backslashes_and_control_characters(spark):
    short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
    control = {chr(code): f"\\u{code:04X}" for code in range(0x20)}
    others = {text: text for text in ("", "/", "\x7f", "\x85", "\u2028", "\ufeff", "e\u0301", "😀")}
    spelled = {**control, **short, **others}
    # By code points, which is not the order of UTF-16.
    in_order = ["\uffff", "😀"]
    texts, sets = [{"S": text} for text in spelled], [{"SS": in_order}, {"SS": in_order[::-1]}]
    items = lines(spark, [{"t": value} for value in (*texts, *sets)])
    protection = Protection.of(Overrides.parse({"t": {"hash": True}}), SECRET)
    hashes = [json.loads(row["safe"])["t"]["S"] for row in protection.items_text(items, "value", "safe").collect()]
    told = [*(f'{{"S":"{text}"}}' for text in spelled.values()), *['{"SS":["\uffff","😀"]}'] * 2]
    assert hashes == list(map(hashed, told))


def test_numbers_are_hashed_by_value_and_no_two_of_them_alike(spark):
    protection = Protection.of(Overrides.parse({"n": {"hash": True}}), SECRET)
    others = ["1.5E+1", "1.5E+10", "1.5E+100", "150", "-0.0"]
    items = lines(spark, [{"n": {"N": text}} for text in ("1.50", *others)])
    hashes = [json.loads(row["safe"])["n"]["S"] for row in protection.items_text(items, "value", "safe").collect()]
    printed = ("1.5", "15", "15000000000", "15" + "0" * 99, "150", "0")
    assert hashes == [hashed(f'{{"N":"{text}"}}') for text in printed]


@pytest.mark.parametrize("secret", ["s" * 16, "é" * 8])
def test_sixteen_bytes_are_a_secret_and_fewer_are_none(secret):
    hashes = Overrides.parse({"email": {"hash": True}})
    assert Protection.of(hashes, secret).fingerprint
    with pytest.raises(HashSecretUnfit, match=r"the secret has 1[45] bytes"):
        Protection.of(hashes, secret[:-1])
