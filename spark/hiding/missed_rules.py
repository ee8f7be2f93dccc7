"""Rules that are not for what an item holds: found in protected items, so that a run refuses by name.

Rules that hide values, here; declared types that no column shows, by `spark.hiding.excluded_types`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pipeline.columns.declared.overrides import ANY, Override, is_index
from spark.expressions.sql import Sql, call, function, let, literal, member, one_of, when
from spark.expressions.values import TAGS, elements, has, is_set, json_of_text, members, of, tag_of

#: The pointer of a rule that an item contradicts, a line end, and by what: one of those below, or what a declared type
#: excludes. Null for all other items.
CONTRADICTED = "#contradicted"
#: A container where a hash is declared, or a set for whose elements one is.
NO_HASH = "no hash"
#: A list where the rule speaks of an index.
INDEX = "an index"
#: A list of maps with a member that the rule names in a map.
IN_LIST = "in a list"
#: A map with a member that the rule names in the maps of a list.
OUTSIDE = "outside"
#: A scalar where all that is inside is to be hidden.
ITSELF = "itself"
#: What stands behind a member that is called like a type, where behind the type itself something else does: the object of
#: its value's type. That is also what stands behind ``M``, but there its names are any, and a type's content another.
_OF_A_TYPE = r'\{"(?:[SNB]":"|(?:BOOL|NULL)":[tf]|(?:[SNB]S|L)":\[|M":\{)'


def contradicted(rules: Sequence[Override], name: str, excluded: Sequence[Sql] = ()) -> Sql:
    """``#contradicted``, made of protected items (levels) in a column. It finds them inside JSON text and misfits too.

    `excluded`: what declared types exclude, as `spark.hiding.excluded_types` finds it in the same items.
    """
    found = [
        when(is_contradicted, literal(f"{rule.pointer}\n{why}"))
        for rule in rules
        for is_contradicted, why in _contradictions(rule, member(f"`{name}`", rule.path[0]), rules)
    ]
    return f"{call('coalesce', *found, *excluded, 'CAST(NULL AS STRING)')} AS `{CONTRADICTED}`"


def _contradictions(rule: Override, value: Sql, rules: Sequence[Override]) -> Iterator[tuple[Sql, str]]:
    """Whether an item contradicts a rule, and by what, for all that may. `value`: of the rule's attribute."""
    inside = rule.path[1:]
    if _takes_no_container(rule) or rule.has_index:
        yield _is_missed(value, inside, rule), INDEX if rule.has_index else NO_HASH
    if inside:
        # Mostly there is no list at all, and nothing has to be parsed once more to see that.
        has_list = f"{has(value, 'L')} OR contains({of(value, 'M')}, '\"L\":')"
        yield when(has_list, _is_in_list(value, inside, rule, rules), "false"), IN_LIST
    for path in _outside(rule, rules):
        yield _is_held(value, path[1:]), OUTSIDE
    if _hides_all_of_a_name(rule) and not any(other.matches(rule.path[:-1]) for other in rules):
        yield _is_held(value, inside[:-1]), ITSELF


def _is_missed(value: Sql, path: tuple[str, ...], rule: Override) -> Sql:
    """Whether a value holds what a rule is not for, where its path, of which this is left, leads; null or false where not."""
    if not path:
        return (
            f"{call('coalesce', of(value, 'M'), of(value, 'L'))} IS NOT NULL" if _takes_no_container(rule) else "false"
        )
    if path[0] != ANY:
        inside = let(member(members(value), path[0]), lambda found: _is_missed(found, path[1:], rule))
        return f"({of(value, 'L')} <> '[]' OR {inside})" if is_index(path[0]) else inside
    inside = _of_any(value, lambda found: _is_missed(found, path[1:], rule))
    return f"({is_set(value)} OR {inside})" if rule.hash and path == (ANY,) else inside


def _is_in_list(value: Sql, path: tuple[str, ...], rule: Override, rules: Sequence[Override]) -> Sql:
    """Whether what a rule names in a map stands in the maps of a list, which no other rule hides; null or false where not.

    `path`: what is left of the rule's, inside the value.
    """
    name, rest, depth = path[0], path[1:], len(rule.path) - len(path)
    if name == ANY:
        return _of_any(value, lambda found: _is_in_list(found, rest, rule, rules)) if rest else "false"
    deeper = let(member(members(value), name), lambda found: _is_in_list(found, rest, rule, rules)) if rest else "false"
    around = (*rule.path[:depth], ANY)
    if is_index(name) or any(other.matches(hidden) for other in rules for hidden in (around, (*around, *path))):
        return deeper

    def is_held(found: Sql) -> Sql:
        if rest:
            return f"{has(found, 'M')} OR {has(found, 'L')}"
        return f"{found} IS NOT NULL AND NOT {has(found, 'NULL')}"

    def holds(element: Sql) -> Sql:
        in_map = let(member(members(element), name), is_held)
        # Of a list in the list its text is enough: that it holds the name.
        return " OR ".join(f"coalesce({one}, false)" for one in (in_map, *_is_named_in(of(element, "L"), name)))

    return f"(coalesce(exists({elements(value)}, {function(1, holds)}), false) OR {deeper})"


def _takes_no_container(rule: Override) -> bool:
    """Whether a map or list in the place of a rule has no hash, and shows what is inside."""
    return rule.hash and not rule.also_inside


def _hides_all_of_a_name(rule: Override) -> bool:
    """Whether a rule hides all that is inside of something that it names: of that, a scalar would show as much."""
    return rule.path[-1] == ANY and rule.path[-2] != ANY


def _outside(rule: Override, rules: Sequence[Override]) -> list[tuple[str, ...]]:
    """Paths to what a rule names in the maps of a list, where one map stands in its place; none of what is hidden there."""
    stars = (i for i, step in enumerate(rule.path[:-1]) if step == ANY and rule.path[i + 1] != ANY)
    paths = [rule.path[:i] + rule.path[i + 1 :] for i in stars]
    return [path for path in paths if not any(other.matches(path) for other in rules)]


def _is_held(value: Sql, path: tuple[str, ...]) -> Sql:
    """Whether a scalar or a set lies where a path inside a value leads; null or false where not.

    A map or list may be an entry of a dictionary that has the name by chance; what the rule names in it is hidden.
    """
    if not path:
        return f"NOT {one_of(tag_of(value), ('NULL', 'M', 'L'))}"
    if path[0] == ANY:
        return _of_any(value, lambda found: _is_held(found, path[1:]))
    return let(member(members(value), path[0]), lambda found: _is_held(found, path[1:]))


def _is_named_in(text: Sql, name: str) -> list[Sql]:
    """Whether DynamoDB JSON that Spark wrote holds a member of that name, as expressions of which one has to be true."""
    if name in TAGS:
        called = f'"{name}":{_OF_A_TYPE}'
        return [f"{text} RLIKE {literal(called)}"]
    return [f"contains({text}, {spelled} || ':')" for spelled in _spellings(name)]


def _spellings(name: str) -> list[Sql]:
    r"""A name as JSON may spell it: a character beyond U+FFFF as it is, or as the two \u escapes that Spark's reader writes."""
    plain = json_of_text(literal(name))
    beyond = {char: "".join(f"\\u{half:04X}" for half in _halves(char)) for char in name if ord(char) > 0xFFFF}
    escaped = plain
    for char, escape in beyond.items():
        escaped = call("replace", escaped, literal(char), literal(escape))
    return [plain, escaped] if beyond else [plain]


def _halves(char: str) -> tuple[int, int]:
    """The two numbers that UTF-16 makes of a character beyond U+FFFF."""
    high, low = divmod(ord(char) - 0x10000, 0x400)
    return 0xD800 + high, 0xDC00 + low


def _of_any(value: Sql, is_one: Callable[[Sql], Sql]) -> Sql:
    """Whether any member of a map, or element of a list, is such a one; null for other values."""
    # One expression for both: said of each, every * of a path would double what is below it.
    return call("exists", f"coalesce(map_values({members(value)}), {elements(value)})", function(1, is_one))
