"""Protection: values that must not come into the table as they are leave the item before anything else looks at it.

A dropped value is gone, a hashed one is a string: the HMAC-SHA-256 of its canonical DynamoDB JSON, in hexadecimal. What
comes after (types, misfits, reports, verifications) never sees the value. All native; the two keys of the HMAC are data,
a one-row relation that is broadcast, because an expression's constants stand in plans, and plans in logs.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.columns.declared.overrides import ANY, Override, Overrides
from pipeline.columns.declared.rules_inside import Rules, below, inside_items, is_dropped, is_hashed, is_hidden_inside
from pipeline.errors import HashSecretUnfit
from pipeline.spark_submit import HASH_SECRET
from spark.expressions.numbers import as_printed
from spark.expressions.sql import Sql, among, call, first_of, function, joined, literal, struct, transform, when
from spark.expressions.values import (
    LEVEL_TYPE,
    dynamodb_json,
    elements,
    has,
    has_one_type,
    is_set,
    json_of_text,
    members,
    of,
    strings,
    tag_of,
)
from spark.hiding.missed_rules import contradicted

_BLOCK = 64
_INNER, _OUTER = "#inner_pad", "#outer_pad"
#: Bytes: a secret that can be guessed protects nothing.
_SHORTEST_SECRET = 16
_FINGERPRINT = b"tidemark: which secret the hashes of this table are keyed with"


@dataclass(frozen=True)
class Protection:
    """What is dropped and hashed, and the secret; `repr` shows no secret."""

    rules: tuple[Override, ...] = ()
    _secret: bytes = field(default=b"", repr=False)

    @classmethod
    def of(cls, said: Overrides, secret: str) -> Protection:
        """Of what the settings say of columns. Raises HashSecretUnfit where hashes are wanted without a secret worth the name."""
        if not said.hashes:
            return cls(said.protections)
        if len(secret.encode()) < _SHORTEST_SECRET:
            raise HashSecretUnfit(f"the secret has {len(secret.encode())} bytes, a column is hashed")
        return cls(said.protections, secret.encode())

    @property
    def fingerprint(self) -> str:
        """Tells one secret from another and says nothing of either; empty without one."""
        return hmac.new(self._secret, _FINGERPRINT, hashlib.sha256).hexdigest()[:16] if self._secret else ""

    def protected(self, rows: DataFrame, name: str) -> DataFrame:
        """The rows with the items (levels) of a column protected; all other columns stay."""
        if not self.rules:
            return rows
        safe = _level(f"`{name}`", inside_items(self.rules))
        keyed = self._with_pads(rows) if self._secret else rows
        return keyed.selectExpr(*(f"{safe} AS `{c}`" if c == name else f"`{c}`" for c in rows.columns))

    def contradicted(self, name: str, excluded: Sequence[Sql] = ()) -> Sql:
        """``#contradicted``, made of protected items (levels) in a column. `excluded`: what declared types exclude there."""
        return contradicted(self.rules, name, excluded)

    def items_text(self, rows: DataFrame, line: Sql, name: str) -> DataFrame:
        """Add the JSON text of the items of a full export's lines, protected like the items."""
        if not self.rules:
            return rows.selectExpr("*", f"from_json({line}, 'struct<Item:string>').Item AS `{name}`")
        found = rows.selectExpr("*", f"from_json({line}, 'struct<Item:{LEVEL_TYPE}>').Item AS `{name}`")
        safe = self.protected(found, name)
        return safe.withColumn(name, F.expr(_level_json(f"`{name}`")))

    def _with_pads(self, rows: DataFrame) -> DataFrame:
        spark = rows.sparkSession
        key = self._secret if len(self._secret) <= _BLOCK else hashlib.sha256(self._secret).digest()
        block = key.ljust(_BLOCK, b"\0")
        return rows.crossJoin(
            F.broadcast(_one_row(spark, bytes(b ^ 0x36 for b in block), bytes(b ^ 0x5C for b in block)))
        )


#: Every value goes into the table as it is.
UNPROTECTED = Protection()


def submitted_secret(spark: SparkSession) -> str:
    """The secret that a job was started with; empty where it was not. The session forgets it.

    A session's settings go along with every Spark job as properties, which event logs keep; what the context holds is redacted.
    """
    spark.conf.unset(HASH_SECRET)
    return spark.sparkContext.getConf().get(HASH_SECRET) or ""


def _one_row(spark: SparkSession, inner: bytes, outer: bytes) -> DataFrame:
    """One row of two binaries, made in Java: a relation's rows are not shown in plans, and no Python worker is started."""
    jvm, gateway = spark._jvm, spark.sparkContext._gateway
    values = gateway.new_array(jvm.java.lang.Object, 2)
    values[0], values[1] = bytearray(inner), bytearray(outer)
    rows = jvm.java.util.ArrayList()
    rows.add(jvm.org.apache.spark.sql.RowFactory.create(values))
    schema = jvm.org.apache.spark.sql.types.StructType.fromDDL(f"`{_INNER}` binary, `{_OUTER}` binary")
    return DataFrame(spark._jsparkSession.createDataFrame(rows, schema), spark)


def _level(level: Sql, rules: Rules) -> Sql:
    """A level without what is dropped, and with hashes for what is hashed. `rules`: what is left of each path."""
    if is_dropped(below(rules, ANY)):
        return f"map_filter({level}, (k, v) -> false)"
    dropped = _whole_names(rules, is_dropped)
    if dropped:
        level = call("map_filter", level, function(2, lambda k, _: f"NOT {among(k, dropped)}"))
    if all(path[0] in dropped for path, _ in rules):
        return level
    return call("transform_values", level, function(2, lambda k, v: _member(k, v, rules)))


def _member(k: Sql, v: Sql, rules: Rules) -> Sql:
    """What becomes of a member that is not dropped, or of an element, whose name is null."""
    whole, hashed, of_any = _whole_names(rules, is_dropped), _whole_names(rules, _is_only_hashed), below(rules, ANY)
    entered = [name for name in _names(rules) if name not in (*whole, *hashed)]
    cases = [(f"{k} = {literal(name)}", _value(v, below(rules, name))) for name in entered]
    if hashed:
        cases.append((among(k, hashed), _hashed(v)))
    rest = _value(v, of_any) if of_any else v
    return first_of(cases, rest) if cases else rest


def _names(rules: Rules) -> list[str]:
    """The names that the paths begin with."""
    return list(dict.fromkeys(path[0] for path, _ in rules if path[0] != ANY))


def _is_only_hashed(rules: Rules) -> bool:
    """Whether a value is hashed, whatever it is."""
    return is_hashed(rules) and not is_hidden_inside(rules)


def _whole_names(rules: Rules, is_whole: Callable[[Rules], bool]) -> list[str]:
    """The names of which all is dropped (`is_dropped`), or hashed (`_is_only_hashed`)."""
    return [name for name in _names(rules) if is_whole(below(rules, name))]


def _value(value: Sql, rules: Rules) -> Sql:
    """A value with what is inside protected, or hashed itself. Of what is no value nothing stays, for it to be refused."""
    if _is_only_hashed(rules):
        return _hashed(value)
    if is_hashed(rules):
        inside = _value(value, [(path, rule) for path, rule in rules if path])
        return when(f"{has(value, 'M')} OR {has(value, 'L')}", inside, _hashed(value))
    of_any, is_one = below(rules, ANY), f"size({value}) = 1"
    if of_any and not is_dropped(of_any):
        safe = call("map", _of_either(value, "'M'", "'L'"), when(is_one, _inside_json(value, rules)))
        to_be_refused = [(is_set(value), f"map({tag_of(value)}, '[]')")] if is_hashed(of_any) else []
        return first_of([(f"{has(value, 'M')} OR {has(value, 'L')}", safe), *to_be_refused], value)
    cases = [(has(value, "M"), f"map('M', {when(is_one, _level_json(_level(members(value), rules)))})")]
    if of_any:
        cases += [(has(value, "L"), "map('L', '[]')"), (is_set(value), "map('NULL', 'true')")]
    return first_of(cases, value)


def _inside_json(value: Sql, rules: Rules) -> Sql:
    """The inside of an M or L, protected, as JSON: in one expression for both, or each ``*`` of a path would double it."""
    nameless = transform(elements(value), lambda x: struct(key="CAST(NULL AS STRING)", value=x))
    entries = call("coalesce", f"map_entries({members(value)})", nameless)
    if dropped := _whole_names(rules, is_dropped):
        stays = function(1, lambda e: f"{e}.key IS NULL OR NOT {among(f'{e}.key', dropped)}")
        entries = call("filter", entries, stays)
    safe = transform(entries, lambda e: struct(key=f"{e}.key", value=_member(f"{e}.key", f"{e}.value", rules)))
    texts = transform(safe, lambda e: joined(_of_either(value, _before(f"{e}.key"), "''"), _any_json(f"{e}.value")))
    return joined(_of_either(value, "'{'", "'['"), f"array_join({texts}, ',')", _of_either(value, "'}'", "']'"))


def _of_either(value: Sql, of_map: Sql, of_list: Sql) -> Sql:
    """One thing for an M, another for an L."""
    return when(has(value, "M"), of_map, of_list)


def _level_json(level: Sql) -> Sql:
    pairs = transform(f"map_entries({level})", lambda e: joined(_before(f"{e}.key"), _any_json(f"{e}.value")))
    return joined("'{'", f"array_join({pairs}, ',')", "'}'")


def _before(name: Sql) -> Sql:
    """What stands before a member in JSON."""
    return joined(json_of_text(name), "':'")


def _any_json(value: Sql) -> Sql:
    """A value as DynamoDB JSON; one that carries none or several types, as no value does, stays recognisable as such."""
    return when(has_one_type(value), dynamodb_json(value), "'{}'")


def _hashed(value: Sql) -> Sql:
    """The hash as a value. NULL stays, being as good as absent; of what is no value nothing stays, for it to be refused.

    Of maps and lists only the type stays, to be refused as well: their members have no order that a hash could rely on.
    """
    inner = call("sha2", joined(f"`{_INNER}`", f"CAST({_canonical(value)} AS BINARY)"), "256")
    outer = call("sha2", joined(f"`{_OUTER}`", f"unhex({inner})"), "256")
    shown = [
        (has(value, "M"), "map('M', '{}')"),
        (has(value, "L"), "map('L', '[]')"),
        (f"NOT {has_one_type(value)}", "map()"),
        (has(value, "NULL"), value),
    ]
    return first_of(shown, f"map('S', {outer})")


def _canonical(value: Sql) -> Sql:
    """The DynamoDB JSON of a scalar or set: a number as DynamoDB prints it, the elements of a set sorted.

    Without lambdas: this stands inside several already, and Spark's analysis of lambdas inside lambdas costs seconds.
    """
    number = joined('\'{"N":"\'', as_printed(of(value, "N")), "'\"}'")
    in_order = f"to_json(array_sort({strings(f'map_values({value})[0]')}))"
    of_set = joined("'{\"'", tag_of(value), "'\":'", in_order, "'}'")
    return first_of([(has(value, "N"), number), (is_set(value), of_set)], dynamodb_json(value))
