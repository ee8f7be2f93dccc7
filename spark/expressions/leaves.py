"""DynamoDB JSON of any depth as its leaves: a form in which equal values are equal, however they are spelled.

The members of a map and the elements of a set have no order, and exports write them in any; numbers count by value;
NULL and absent are the same. Leaves are structs of a path (a JSON pointer; ``/*`` for the elements of a set) and a text:
the DynamoDB type, a colon, the value. Maps, lists and sets have a leaf of their own, without a colon, so that empty ones
are seen and types told apart; that of a list or a set says how many elements there are, NULL among them.

Values are unfolded a level at a time by `aggregate`, so that the expression is as long for 32 levels as for one. It is
asked only of rows that are not equal at first sight.
"""

from __future__ import annotations

from spark.expressions.numbers import as_printed
from spark.expressions.pointers import below, names, step_of
from spark.expressions.sql import Sql, call, first_of, function, joined, let, literal, struct, transform, unfolded, when
from spark.expressions.values import with_long_escapes

#: DynamoDB nests so many levels, an attribute's value being the first: a last scalar lies in 31 lists and maps.
_LEVELS = 32
_NONE = "cast(array() AS array<struct<path:string,text:string,leaf:boolean>>)"
#: A value with a member for each type: of the few values that come here each is asked for most of them.
_VALUE = (
    "struct<S:string,N:string,B:string,BOOL:string,`NULL`:boolean,SS:array<string>,NS:array<string>,BS:array<string>,"
    "M:string,L:string>"
)
#: What the leaf of a text begins with that is none of DynamoDB's values: so it is no value's leaf.
_NO_VALUE = "?"
#: What follows the name of a member, as printers of JSON indent it.
_COLON = r"^\s*:"


def at(text: Sql, pointer: Sql) -> Sql:
    """The value that lies under a JSON pointer in a value, both given and returned as DynamoDB JSON; null for none."""

    def inside(found: Sql, name: Sql) -> Sql:
        def of_containers(v: Sql) -> Sql:
            member = f"element_at(from_json({v}.M, 'map<string,string>'), {name})"
            element = when(f"{name} RLIKE '^[0-9]+$'", f"from_json({v}.L, 'array<string>')[CAST({name} AS INT)]")
            return call("coalesce", member, element)

        return let(f"from_json({found}, 'struct<M:string,L:string>')", of_containers)

    return call("aggregate", names(pointer), text, function(2, inside))


def leaves(text: Sql) -> Sql:
    """The leaves of a value given as DynamoDB JSON, sorted; of null, null."""
    start = f"array({_place(literal(''), text, 'false')})"
    found = unfolded(start, _LEVELS, _unfolded)
    return when(f"{text} IS NOT NULL", f"array_sort({transform(found, lambda p: _leaf(f'{p}.path', f'{p}.text'))})")


def as_value(text: Sql, is_plain: Sql) -> Sql:
    """A text that anybody may have written, as DynamoDB JSON; for what is no JSON, a text of which the leaves are no value's.

    `is_plain`: whether it is plain JSON, as `spark.expressions.values.plain_json` writes it. Then all its arrays are L.
    """
    return let(_if_json(text), lambda found: when(is_plain, _typed(found), found))


def same_leaves(value: Sql, text: Sql) -> Sql:
    """Whether a text, read by `as_value`, says the same as a value; never null. Both are given as their leaves."""
    return f"{value} <=> {text}"


def same_plain_leaves(value: Sql, plain: Sql) -> Sql:
    """The same of plain JSON, which does not tell a set from a list, nor B from S: which it is, the value says."""
    sets = transform(f"filter({value}, {function(1, _is_set)})", lambda p: f"{p}.path")
    wanted = transform(value, lambda p: _leaf(f"{p}.path", _without_type(p)))
    return let(sets, lambda paths: f"array_sort({wanted}) <=> {_with_sets(plain, paths)}")


def _if_json(text: Sql) -> Sql:
    """A text, if it is one JSON value and nothing else; in the place of any other, one that is no value.

    Spark reads the first value in a text, whatever follows. So the text is read as an element of a list, with a string
    behind it that is longer than the text: that one is found there only if all of the text was read as one element.
    """
    mark = f"repeat('0', length({text}))"
    both = joined("'['", text, "',\"'", mark, "'\"]'")
    listed = f"from_json({both}, 'array<string>', map('allowSingleQuotes', 'false'))"
    return when(f"{listed}[1] = {mark}", text, literal(_NO_VALUE))


def _place(path: Sql, text: Sql, leaf: Sql) -> Sql:
    return struct(path=path, text=text, leaf=leaf)


def _leaf(path: Sql, text: Sql) -> Sql:
    return struct(path=path, text=text)


def _unfolded(place: Sql) -> Sql:
    """The places that a place becomes: itself, if it is a leaf, else its own leaf and what is inside."""
    path, text = f"{place}.path", f"{place}.text"

    def one(kept: Sql) -> Sql:
        return f"array({_place(path, kept, 'true')})"

    def inside(value: Sql) -> Sql:
        number = as_printed(_of(value, "N"))
        scalar = f"coalesce({_of(value, 'S')}, {number}, {_of(value, 'B')}, {_of(value, 'BOOL')})"
        elements = f"coalesce({_of(value, 'SS')}, {_of(value, 'BS')}, {transform(_of(value, 'NS'), as_printed)})"
        own = joined(_tag(value), f"size({elements})")
        element_tag = f"substr({_tag(value)}, 1, 1)"
        in_set = transform(elements, lambda x: _place(joined(path, "'/*'"), joined(element_tag, "':'", x), "true"))
        cases = [
            (f"{scalar} IS NOT NULL", one(joined(_tag(value), "':'", scalar))),
            (f"{elements} IS NOT NULL", joined(one(own), in_set)),
            (_has(value, "M"), joined(one("'M'"), _members(path, value))),
            (_has(value, "L"), _elements(path, value)),
            (_has(value, "NULL"), _NONE),
        ]
        return first_of(cases, one(joined(f"'{_NO_VALUE}'", text)))

    return when(f"{place}.leaf", f"array({place})", let(f"from_json({text}, '{_VALUE}')", inside))


def _of(value: Sql, tag: str) -> Sql:
    return f"{value}.`{tag}`"


def _has(value: Sql, tag: str) -> Sql:
    return f"{_of(value, tag)} IS NOT NULL"


def _tag(value: Sql) -> Sql:
    """The DynamoDB type of a scalar or a set."""
    return first_of([(_has(value, tag), f"'{tag}'") for tag in ("S", "N", "B", "BOOL", "SS", "NS", "BS")])


def _members(path: Sql, value: Sql) -> Sql:
    entries = f"map_entries(from_json({_of(value, 'M')}, 'map<string,string>'))"
    return transform(entries, lambda e: _place(below(path, step_of(f"{e}.key")), f"{e}.value", "false"))


def _elements(path: Sql, value: Sql) -> Sql:
    """A list's own leaf, which holds its length, and its elements."""

    def both(found: Sql) -> Sql:
        own = call("array", _place(path, joined("'L'", f"size({found})"), "true"))
        numbered = function(2, lambda x, i: _place(below(path, f"CAST({i} AS STRING)"), x, "false"))
        return joined(own, call("transform", found, numbered))

    return let(f"from_json({_of(value, 'L')}, 'array<string>')", both)


def _is_set(leaf: Sql) -> Sql:
    return f"{leaf}.text RLIKE '^[SNB]S'"


def _without_type(leaf: Sql) -> Sql:
    """The text of a leaf as plain JSON would have it: B is S, and a set a list."""
    as_text = (f"{leaf}.text LIKE 'B:%'", joined("'S'", f"substr({leaf}.text, 2)"))
    return first_of([(_is_set(leaf), joined("'L'", f"substr({leaf}.text, 3)")), as_text], f"{leaf}.text")


def _with_sets(found: Sql, paths: Sql) -> Sql:
    """Leaves of plain JSON, sorted, in which the elements of the lists at these paths have no order."""

    def told(leaf: Sql) -> Sql:
        outer = f"regexp_replace({leaf}.path, '/[0-9]+$', '')"
        in_set = f"{leaf}.path <> {outer} AND array_contains({paths}, {outer})"
        return _leaf(when(in_set, joined(outer, "'/*'"), f"{leaf}.path"), f"{leaf}.text")

    return f"array_sort({transform(found, told)})"


def _typed(plain: Sql) -> Sql:
    """Plain JSON as DynamoDB JSON, all its arrays as L.

    Once no string holds an escaped quote, the text between quotes is by turns structure and string.
    """

    def pieces(parts: Sql) -> Sql:
        def piece(part: Sql, index: Sql) -> Sql:
            name, text = joined("'\"'", part, "'\"'"), joined('\'{"S":"\'', part, "'\"}'")
            string = when(f"{parts}[{index} + 1] RLIKE {literal(_COLON)}", name, text)
            return when(f"{index} % 2 = 1", string, _typed_structure(part))

        return f"array_join(transform({parts}, {function(2, piece)}), '')"

    return let(f"split({with_long_escapes(plain)}, '\"')", pieces)


def _typed_structure(part: Sql) -> Sql:
    for bracket, longer in (("{", '{"M":{'), ("}", "}}"), ("[", '{"L":['), ("]", "]}")):
        part = call("replace", part, literal(bracket), literal(longer))
    for token, typed in (
        (r"true|false", '{"BOOL":$0}'),
        ("null", '{"NULL":true}'),
        (r"-?[0-9][0-9.eE+-]*", '{"N":"$0"}'),
    ):
        part = call("regexp_replace", part, literal(token), literal(typed))
    return part
