"""Values that contradict what is declared for their places: counted, and refused by name.

Two kinds: a value whose type the declared type excludes; what a rule that hides values is not for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.columns.declared.overrides import ANY, Override, Overrides, mended_by
from pipeline.columns.declared.type_words import is_narrow, tags_of
from pipeline.columns.pointers import names, pointer_to
from pipeline.columns.types import Field
from pipeline.errors import OverrideContradicted
from spark.expressions.sql import Sql, literal, one_of, when
from spark.hiding.excluded_types import EXCLUDES
from spark.hiding.missed_rules import CONTRADICTED, IN_LIST, INDEX, ITSELF, OUTSIDE
from spark.hiding.pointer_patterns import any_or, whole
from spark.rows.keys import shown
from spark.rows.profiles import MISFIT_TAG


def check_contradictions(misfits: DataFrame, said: Overrides) -> None:
    """Refuse misfits, as `spark.rows.profiles.exploded` gives them, at places whose type the settings say.

    Of several rules that speak of a place the last decides, as everywhere; what is hashed is a string, whoever else speaks of
    it. A number that no column of numbers can hold is a misfit as ever, where the type is just N. Raises OverrideContradicted.
    """
    if not said.typed:
        return
    rules = {str(i): rule for i, rule in enumerate(said.typed)}
    hashed = [f"WHEN {_is_at(rule)} THEN NULL" for rule in said.protections if rule.hash]
    typed = [f"WHEN {_is_at(rule)} THEN {_if_contradicted(i, rule)}" for i, rule in reversed(rules.items())]
    first: Any = (
        misfits.selectExpr("example", f"{MISFIT_TAG} AS tag", f"CASE {' '.join(hashed + typed)} END AS rule")
        .where("rule IS NOT NULL")
        .groupBy("rule", "tag")
        .agg(F.count(F.lit(1)).alias("count"), F.min("example").alias("example"))
        .orderBy(F.desc("count"), "rule", "tag")
        .first()
    )
    if first is not None:
        rule = rules[first["rule"]]
        found = f"values of type {first['tag']}: {first['count']}, such as that of {first['example']}"
        raise OverrideContradicted(f"columns[{rule.pointer!r}] declares the type {rule.type}, which excludes {found}")


def rule_missed(rows: DataFrame, key: Sequence[Field]) -> OverrideContradicted:
    """The refusal of rows of which some hold what a rule is not for (``#contradicted``)."""
    example = F.min(shown(key)).alias("example")
    # In order, and not filtered: a filter would be moved before what parses the lines, and do that once more.
    found = rows.groupBy(CONTRADICTED).agg(F.count(F.lit(1)).alias("count"), example)
    row: Any = found.orderBy(F.asc_nulls_last(CONTRADICTED)).first()
    said, what, remedy = _missed(row[CONTRADICTED])
    return OverrideContradicted(
        f"{said}; items that hold {what} at such a place: {row['count']}, such as that of {row['example']}",
        mended_by(remedy) if remedy else "",
    )


def _missed(found: str) -> tuple[str, str, str]:
    """What a rule says that is contradicted, what contradicts it, and what to do if that is not the usual.

    `found`: see CONTRADICTED.
    """
    pointer, _, why = found.rpartition("\n")
    path, column = names(pointer), f"columns[{pointer!r}]"
    attribute, itself = pointer_to(path[:1]), pointer_to(path[:-1])
    if EXCLUDES in why:
        return f"{column} declares {why}", "one", ""
    if why == IN_LIST:
        instead = f"say the same of what stands in lists, with {ANY} in the place of an index, or drop {attribute}"
        return f"{column} speaks of what is in a map", "it in a list", instead
    if why == OUTSIDE:
        instead = f"say the same of what stands there, without the {ANY} before its name, or drop {attribute}"
        return f"{column} speaks of what is in the maps of a list or map", "it outside of those", instead
    if why == ITSELF:
        instead = f"hash what stands in the place of maps and lists as well ({itself}), or drop {itself}"
        return f"{column} speaks of what is inside", "a scalar", instead
    if why == INDEX:
        return f"{column} speaks of an index in a list", "a list", f"write {ANY} in the place of it, for every element"
    said, inside = f"{column} sets hash, which maps and lists have none of", f"{pointer}/{ANY}"
    if path[-1] == ANY:
        remedy = f"hash a set itself ({itself}), what is inside a map or list as well ({inside}), or drop {pointer}"
        return f"{said}, nor the elements of a set", "one", remedy
    return said, "one", f"hash what is inside as well ({inside}) or drop {pointer}"


def _is_at(rule: Override) -> Sql:
    """Whether a misfit lies at a place that a rule speaks of."""
    place = "".join("/" + any_or(name) for name in rule.path)
    return f"pointer RLIKE {literal(whole(place))}"


def _if_contradicted(number: str, rule: Override) -> Sql:
    """The number of a rule where a misfit contradicts the type that it says."""
    return (
        f"'{number}'" if is_narrow(rule.type) else when(one_of(MISFIT_TAG, tags_of(rule.type)), "NULL", f"'{number}'")
    )
