"""Who the source table is, as DescribeTable tells it."""

from __future__ import annotations

import pytest

from pipeline.identity import KeyAttribute, SourceTable
from tests.pipeline.world import ARN

DESCRIPTION = {
    "TableArn": ARN,
    "TableId": "0d1f2ae4",
    "AttributeDefinitions": [
        {"AttributeName": "indexed", "AttributeType": "B"},
        {"AttributeName": "at", "AttributeType": "N"},
        {"AttributeName": "customer", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "at", "KeyType": "RANGE"}, {"AttributeName": "customer", "KeyType": "HASH"}],
}


def test_the_partition_key_comes_first_however_the_description_orders_them():
    assert SourceTable.from_description(DESCRIPTION).key == (KeyAttribute("customer", "S"), KeyAttribute("at", "N"))


def test_attributes_of_indexes_are_not_part_of_the_key():
    alone = {**DESCRIPTION, "KeySchema": DESCRIPTION["KeySchema"][1:]}
    assert SourceTable.from_description(alone).key == (KeyAttribute("customer", "S"),)


def test_the_name_is_the_last_part_of_the_arn():
    assert SourceTable.from_description(DESCRIPTION).name == "orders"


@pytest.mark.parametrize("name", ["id", "a:b", "with space", "äöü", "x:S"])
@pytest.mark.parametrize("kind", ["S", "N", "B"])
def test_a_key_attribute_can_be_written_and_read_back_whatever_its_name(name, kind):
    assert KeyAttribute.parse(str(KeyAttribute(name, kind))) == KeyAttribute(name, kind)


@pytest.mark.parametrize("text", ["id", "id:BOOL", ":S", "", "id:"])
def test_what_dynamodb_does_not_allow_as_a_key_is_refused(text):
    with pytest.raises(ValueError, match="a key attribute has a name and one of the types S, N, B"):
        KeyAttribute.parse(text)
