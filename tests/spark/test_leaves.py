"""What rows keep as JSON, held against values: only a text that is one value, whole, says the same."""

from __future__ import annotations

import json

import pytest

from spark.expressions.leaves import as_value, leaves, same_leaves, same_plain_leaves

pytestmark = pytest.mark.spark

#: Texts of misfits, by the value that they are held against: those that say it, and those that do not.
MISFITS = [
    ({"N": "3"}, ['{"N":"3"}', ' {"N" : "3.0"} \n'], ['{"N":"3"} x', '{"N":"3"}{"N":"3"}', '{"N":"3"},{"N":"3"}']),
    ({"N": "3"}, [], ['{"N":"3"}]', '{"N":"3"}],[2', '{"N":"3"},"000"]', '{"N":"3"},"', '{"N":"3"}//', "{'N':'3'}"]),
    (
        {"N": "1.5E+10"},
        ['{"N":"1.5E+10"}', '{"N":"15000000000"}'],
        ['{"N":"1.5E+1"}', '{"N":"1.5E+100"}', '{"N":"1.5"}'],
    ),
    ({"N": "3"}, [], ["N:3", '"N:3"', "3", "", " ", "null", "[", '{"N":"3"', '[{"N":"3"}]', '?{"N":"3"}', "?"]),
    ({"S": ""}, ['{"S":""}'], ["", "S:", '{"S":""}0', '{"S":""},""']),
    ({"M": {}}, ['{"M":{}}'], ["M", '{"M":{}},']),
    ({"L": [{"N": "1"}]}, ['{"L":[{"N":"1"}]}'], ['{"L":["N:1"]}', '{"L":[{"N":"1"}]}]}']),
    (None, [], ['{"NULL":true}', '{"NULL":true} x', "", "x"]),
]
#: The same of plain JSON.
PLAIN = [
    (
        {"L": [{"N": "1"}]},
        ["[1]", " [ 1.0 ]\n"],
        ["[1] x", "[1][2]", "[1],[2]", "[1]]", '[1],"000"]', "[1]x[", "[1", "[1.]"],
    ),
    ({"NS": ["100", "2.5"]}, ["[1e2,2.50]"], ["[1e3,2.5]", "[100,2.5,null]"]),
    ({"L": [{"S": "x"}]}, ['["x"]'], ["['x']", '["x"]"', '["x"],"', "L1", '["S:x"]']),
    ({"L": []}, ["[]"], ["[]0", "L0", "", "null"]),
    ({"M": {"a": {"S": "]"}}}, ['{"a":"]"}'], ['{"a":"]"}}', '{"a":"]"}{}', '{"a":"]"},"b":"x"}']),
    (
        {"M": {"a": {"S": ":"}, "b": {"N": "1"}}},
        ['{"b":1,"a":":"}', '{ "a" : ":",\n"b"\n\t: 1.0 }', '{"\\u0061":"\\u003a","b":1}'],
        ['{"a" "b": 1}', '{"a", "b" : 1}', '[":", 1]'],
    ),
    ({"M": {}}, ["{}"], ["M", "{}{}", "?"]),
    ({"SS": ["a"]}, ['["a"]'], ['["a"] "b"', "a set", '{"0":"a"}', '["a","a"]', '"a"', "[]"]),
    ({"SS": ["a", "b"]}, ['["b","a"]'], ['["a",null,"b"]', '["a","b","a"]', '["a",["b"]]', "L2", "SS2"]),
    ({"BS": ["AQ=="]}, ['["AQ=="]'], ['["AQ==",null]', "[null]"]),
    ({"M": {"": {"SS": ["a"]}}}, ['{"":["a"]}'], ['{"":{"0":"a"}}', '["a"]']),
    ({"S": 'q"\\/é'}, ['"q\\"\\\\/é"', '"q\\u0022\\u005c\\/\\u00e9"'], ['"q/é"']),
]


def same_value(value, text):
    return same_leaves(leaves(value), leaves(as_value(text, "false")))


def same_plain_json(value, text):
    return same_plain_leaves(leaves(value), leaves(as_value(text, "true")))


@pytest.mark.parametrize(("same", "held"), [(same_value, MISFITS), (same_plain_json, PLAIN)])
def test_only_a_text_that_is_a_value_to_its_end_says_the_same(spark, same, held):
    cases = [
        (json.dumps(value) if value else None, text, says_it)
        for value, those, others in held
        for says_it, texts in ((True, those), (False, others))
        for text in texts
    ]
    rows = spark.createDataFrame(cases, "value string, text string, says_it boolean")
    found = rows.selectExpr("value", "text", "says_it", f"{same('value', 'text')} AS found").collect()
    assert [tuple(row) for row in found if row["found"] != row["says_it"]] == []


@pytest.mark.parametrize(
    "last", [({"N": "1"}, {"N": "1.0"}, {"N": "2"}), ({"NS": ["1", "2"]}, {"NS": ["2", "1.0"]}, {})]
)
def test_what_lies_as_deep_as_dynamodb_lets_it_counts_by_value_too(spark, last):
    def deep(value):
        for n in range(31):
            value = {"M": {"m": value}} if n % 2 else {"L": [value]}
        return json.dumps(value)

    value, respelled, other = map(deep, last)
    rows = spark.createDataFrame([(value, text) for text in (respelled, other)], "value string, text string")
    assert [row.found for row in rows.selectExpr(f"{same_value('value', 'text')} AS found").collect()] == [True, False]
