"""What a user may say of columns, how it is written, and what is refused."""

from __future__ import annotations

import pytest

from pipeline.columns.declared.overrides import Override, Overrides
from pipeline.columns.declared.type_words import is_narrow, tags_of
from pipeline.errors import SettingRefused
from pipeline.identity import KeyAttribute

KEY = (KeyAttribute("pk", "S"), KeyAttribute("sk", "N"))


def test_a_name_is_a_top_level_attribute_and_a_pointer_a_path():
    parsed = Overrides.parse({"ship.to": {"drop": True}, "/ship.to2/zip": "S", "/~1odd~0": {"name": "odd"}})
    assert parsed.rules == (
        Override(("/odd~",), name="odd"),
        Override(("ship.to",), drop=True),
        Override(("ship.to2", "zip"), type="S"),
    )


def test_a_schema_file_of_other_tools_is_a_type_for_each_column():
    assert Overrides.parse({"a": "S", "b": "N"}) == Overrides.parse({"a": {"type": "S"}, "/b": {"type": "N"}})


def test_of_several_types_in_a_schema_file_a_column_takes_all_and_of_null_it_says_nothing():
    listed = {"a": "NULL", "b": "S,N", "c": "L, M", "d": "N,NULL", "e": "NULL,BOOL,B"}
    assert Overrides.parse(listed) == Overrides.parse({"b": "string", "c": "json", "d": "N", "e": "string"})
    assert Overrides.parse({name: {"type": types} for name, types in listed.items()}) == Overrides.parse(listed)
    assert Overrides.parse({"a": {"type": "NULL", "name": "x"}}) == Overrides.parse({"a": {"name": "x"}})
    for refused in ("S,M", {"type": "S,M"}, "S,M,NULL"):
        words = r"columns\['a'\].type is 'S,M(,NULL)?'; allowed is several of S, N, B, BOOL or "
        with pytest.raises(SettingRefused, match=words):
            Overrides.parse({"a": refused})


def test_what_is_said_reads_back():
    said = Overrides.parse({"a": "decimal(38, 2)", "/b/*/c": {"hash": True}, "d": {"type": "map", "name": "dd"}})
    assert Overrides.parse(said.to_json()) == said


@pytest.mark.parametrize(
    ("word", "tags"),
    [("bigint", "N"), ("decimal(38,38)", "N"), ("N", "N"), ("map", "M"), ("json", "SS,NS,BS,L,M")],
)
def test_a_word_for_a_type_speaks_of_values_of_dynamodb_s_types(word, tags):
    assert Overrides.parse({"a": word}).typed[0].type == word
    assert tags_of(word) == tuple(tags.split(","))
    assert is_narrow(word) == (word not in ("N", "map", "json"))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        pytest.param([], ["columns is []", "an object"], id="no object"),
        pytest.param({"a": "X"}, ["columns['a'].type", "'X'", "decimal(38,s)"], id="an unknown type"),
        pytest.param({"a": "decimal(38,39)"}, ["decimal(38,39)"], id="a decimal without room"),
        pytest.param({"a": "decimal(38,\u0663)"}, ["'decimal(38,\u0663)'"], id="a scale in other digits"),
        pytest.param({"a": "decimal(10,2)"}, ["decimal(10,2)"], id="a decimal of another width"),
        pytest.param({"a": {"type": 5}}, ["columns['a'].type is 5"], id="a type that is no text"),
        pytest.param({"a": ["drop"]}, ["columns['a'] is ['drop']", "an object of type"], id="a list of words"),
        pytest.param({"a": {"name": 5}}, ["columns['a'].name is 5"], id="a name that is no text"),
        pytest.param({"a": {}}, ["columns['a'] is {}", "type, name, drop, hash"], id="nothing said"),
        pytest.param({"a": {"mask": True}}, ["type, name, drop, hash"], id="an unknown word"),
        pytest.param({"a": {"drop": False}}, ["columns['a'].drop is False", "true"], id="a flag that is off"),
        pytest.param({"a": {"hash": 1}}, ["columns['a'].hash is 1", "true"], id="a number for a flag"),
        pytest.param({"a": {"drop": True, "name": "b"}}, ["drop alone"], id="dropped and named"),
        pytest.param({"a": {"hash": True, "type": "S"}}, ["a hash is a string"], id="hashed and typed"),
        pytest.param({"a": {"name": "A b"}}, ["columns['a'].name is 'A b'", "a-z, 0-9 and _"], id="no name for Athena"),
        pytest.param({"a": {"name": "a" * 252}}, ["1-251 of a-z"], id="a name whose replacement would have none"),
        pytest.param({"a": {"name": "_misfits"}}, ["_misfits", "_row_id"], id="a name of the product's own"),
        pytest.param({"/a/*": {"name": "b"}}, ["not for a path with *"], id="one name for many"),
        pytest.param({"a": {"name": "x"}, "b": {"name": "x"}}, ["a name that no sibling has"], id="one name for two"),
        pytest.param({"/m/a": {"name": "1"}, "/m/b": {"name": "_1"}}, ["1 and _1 are one"], id="one name in files"),
        pytest.param({"a": "S", "/a": "N"}, ["each path once"], id="one path twice"),
        pytest.param({"c": "S", "b": "S", "/b": "N"}, ["columns is '/b'"], id="one path twice, beside others"),
        pytest.param({"/a~2": "S"}, ["~0 for ~"], id="a wrong escape"),
        pytest.param({"/gift/": {"drop": True}}, ["'/gift/'", "no slash last"], id="a slash at the end"),
        pytest.param({"/gift//note": {"hash": True}}, ["'/gift//note'"], id="a slash too many"),
        pytest.param({"/*": {"drop": True}}, ["an attribute's name"], id="all attributes"),
        pytest.param({"a\ud800": "S"}, [r"a\ud800", "half a character"], id="half a character"),
        pytest.param({"": "S"}, ["an attribute's name"], id="no name"),
        pytest.param({"a": "S", "/a/b": "S"}, ["nothing inside /a"], id="inside a scalar"),
        pytest.param({"a": "S", "/a/b": {"drop": True}}, ["nothing inside /a"], id="something hidden inside a scalar"),
        pytest.param(
            {"a": {"hash": True}, "/a/b": {"drop": True}}, ["nothing inside /a", "(/a/*)"], id="inside a hash"
        ),
        pytest.param({"a": {"hash": True}, "/a/*": "S"}, ["nothing inside /a"], id="a type inside a hash"),
        pytest.param(
            {"a": {"hash": True}, "/a/*/*": {"hash": True}}, ["nothing inside /a"], id="not all inside a hash"
        ),
        pytest.param(
            {"/m/*": {"hash": True}, "/m/a/*": {"hash": True}}, ["nothing inside /m/*"], id="inside one of any hashes"
        ),
        pytest.param(
            {"/m/*": {"hash": True}, "/m/a": {"hash": True}, "/m/a/*": {"hash": True}},
            ["nothing inside /m/*"],
            id="inside one of any hashes that is hashed by its name as well",
        ),
        pytest.param({"/a/*": {"drop": True}, "/a/b/c": "S"}, ["nothing inside /a/*"], id="inside what is dropped"),
        pytest.param({"a": "json", "/a/b": "S"}, ["nothing inside /a"], id="a column inside text"),
        pytest.param(
            {"/a/*": {"hash": True}, "/a/d": "N"},
            ["columns['/a/d'].type is 'N'", "no type at a place of /a/*", "{'hash': True}", "a hash is a string"],
            id="a number that is hashed",
        ),
        pytest.param(
            {"/a/*/c": {"drop": True}, "/a/d/c": "S"}, ["columns['/a/d/c'].type is 'S'", "/a/*/c"], id="dropped text"
        ),
    ],
)
def test_what_cannot_be_said_is_refused_with_what_can(columns, words):
    with pytest.raises(SettingRefused) as refused:
        Overrides.parse(columns)
    assert [word for word in words if word not in refused.value.message] == []


@pytest.mark.parametrize(("outer", "may_hide"), [({"hash": True}, True), ({"drop": True}, False), ("S", False)])
def test_of_a_hash_alone_a_refusal_says_what_may_be_hidden_inside(outer, may_hide):
    with pytest.raises(SettingRefused) as refused:
        Overrides.parse({"a": outer, "/a/b": "N"})
    assert ("but that all is hidden" in refused.value.message) == may_hide


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({"/a/*": {"hash": True}, "/a/d": "S", "/a/e": "string"}, id="text of a hash"),
        pytest.param({"/a/*": {"hash": True}, "/a/d": {"name": "dd"}}, id="a name of a hash"),
        pytest.param({"/a/*": "N", "/a/d": {"hash": True}, "/a/e": {"drop": True}}, id="others than the hidden"),
        pytest.param({"/a/*/b": {"hash": True}, "/a/c/*": "N"}, id="others than the hidden one in a map"),
    ],
)
def test_a_type_may_be_said_of_what_is_not_hidden_and_of_a_hash_that_it_is_text(columns):
    assert len(Overrides.parse(columns).rules) == len(columns)


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({"a": "json", "/a/b": {"drop": True}, "/a/c": {"hash": True}}, id="hidden inside text of JSON"),
        pytest.param({"/m/a": {"name": "x"}, "/n/a": {"name": "x"}, "x": "S"}, id="one name in two maps"),
        pytest.param(
            {"a": {"hash": True}, "/a/*": {"hash": True}, "/a/*/*": {"drop": True}}, id="a hash and all inside"
        ),
        pytest.param({"a~b": "S", "~": {"name": "tilde"}}, id="a name with a tilde, which is no pointer"),
    ],
)
def test_what_may_be_said_together_is_taken(columns):
    assert len(Overrides.parse(columns).rules) == len(columns)


def test_the_type_of_a_place_is_said_by_the_closest_rule_that_says_one():
    said = Overrides.parse({"/a/*": "N", "/a/named": {"name": "n"}, "/a/hashed": {"hash": True}, "/a/text": "S"})
    by = {name: said.says_type(("a", name)).pointer for name in ("other", "named", "hashed", "text")}
    assert by == {"other": "/a/*", "named": "/a/*", "hashed": "/a/hashed", "text": "/a/text"}
    assert said.says_type(("a",)) is None
    hashed = Overrides.parse({"/a/*": {"hash": True}, "/a/text": "string"})
    by = {name: hashed.says_type(("a", name)).pointer for name in ("other", "text")}
    assert by == {"other": "/a/*", "text": "/a/text"}


@pytest.mark.parametrize(("pointer", "is_there"), [("/l/0", True), ("/l/10/x", True), ("/0", False), ("/l/01", False)])
def test_an_index_is_a_step_below_an_attribute(pointer, is_there):
    assert Overrides.parse({pointer: "S"}).rules[0].has_index == is_there


def test_a_place_where_lists_are_hidden_inside_beside_the_hash_has_no_type():
    said = Overrides.parse({"a": {"hash": True}, "/a/*": {"hash": True}, "b": {"hash": True}})
    assert [said.says_type(path) and said.says_type(path).pin for path in (("a",), ("a", "x"), ("b",))] == [
        None,
        "S",
        "S",
    ]
    assert Overrides.parse(said.to_json()) == said
    assert Overrides.parse({"l": "L", "/l/*": {"hash": True}}).says_type(("l",)).pin == "L"


@pytest.mark.parametrize(
    "columns",
    [{"pk": {"drop": True}}, {"sk": {"hash": True}}, {"pk": "N"}, {"sk": "bigint"}, {"/pk/x": "S"}],
)
def test_rows_are_found_by_their_key_so_it_can_only_be_named(columns):
    with pytest.raises(SettingRefused, match="of the key"):
        Overrides.parse(columns).check_key(KEY)
    Overrides.parse({"pk": "S", "sk": {"type": "N", "name": "number"}, "c": {"hash": True}}).check_key(KEY)
    Overrides.parse({"/c/pk": {"drop": True}, "/c/sk": "S"}).check_key(KEY)


def test_the_name_of_the_partition_key_leaves_room_for_that_of_its_folders():
    Overrides.parse({"pk": {"name": "k" * 243}, "sk": {"name": "s" * 251}}).check_key(KEY)
    with pytest.raises(SettingRefused, match="at most 243 characters"):
        Overrides.parse({"pk": {"name": "k" * 244}}).check_key(KEY)
