"""Protection: values that must not come into the table as they are leave the item before anything else looks at it.

A dropped value is gone, a hashed one is a string: the HMAC-SHA-256 of its canonical DynamoDB JSON, in hexadecimal. What
comes after (types, misfits, reports, verifications) never sees the value. All native; the two keys of the HMAC are data,
a one-row relation that is broadcast, because an expression's constants stand in plans, and plans in logs.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.columns.overrides import ANY, Override, Overrides
from pipeline.errors import HashSecretUnfit
from pipeline.spark_submit import HASH_SECRET
from spark.expressions.leaves import without_zeros
from spark.expressions.sql import Sql, call, function, literal, transform, when
from spark.expressions.values import (
    LEVEL_TYPE,
    dynamodb_json,
    elements,
    has,
    has_one_type,
    json_of,
    members,
    of,
    strings,
    tag_of,
)
from spark.hiding.missed_rules import contradicted, is_set

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
    def of(cls, columns: Overrides, secret: str) -> Protection:
        """Of what the settings say. Raises HashSecretUnfit where hashes are wanted without a secret worth the name."""
        if not columns.hashes:
            return cls(columns.protections)
        if len(secret.encode()) < _SHORTEST_SECRET:
            raise HashSecretUnfit(f"the secret has {len(secret.encode())} bytes, a column is hashed")
        return cls(columns.protections, secret.encode())

    @property
    def fingerprint(self) -> str:
        """Tells one secret from another and says nothing of either; empty without one."""
        return hmac.new(self._secret, _FINGERPRINT, hashlib.sha256).hexdigest()[:16] if self._secret else ""

    def protected(self, rows: DataFrame, name: str) -> DataFrame:
        """The rows with the items (levels) of a column protected; all other columns stay."""
        if not self.rules:
            return rows
        safe = _level(f"`{name}`", [(rule.path, rule) for rule in self.rules])
        keyed = self._with_pads(rows) if self._secret else rows
        return keyed.selectExpr(*(f"{safe} AS `{c}`" if c == name else f"`{c}`" for c in rows.columns))

    def contradicted(self, name: str) -> Sql:
        """``#contradicted``, made of protected items (levels) in a column."""
        return contradicted(self.rules, name)

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


_Rules = list[tuple[tuple[str, ...], Override]]


def _level(level: Sql, rules: _Rules) -> Sql:
    """A level without what is dropped, and with hashes for what is hashed. `rules`: what is left of each path."""
    names = list(dict.fromkeys(path[0] for path, _ in rules if path[0] != ANY))
    of_any = _below(ANY, rules)
    dropped = [name for name in names if _is_whole(_below(name, rules), "drop")]
    if _is_whole(of_any, "drop"):
        return f"map_filter({level}, (k, v) -> false)"
    if dropped:
        listed = call("array", *map(literal, dropped))
        level = call("map_filter", level, function(2, lambda k, _: f"NOT array_contains({listed}, {k})"))
    hashed = [name for name in names if _is_whole(_below(name, rules), "hash")]
    entered = [name for name in names if name not in (*dropped, *hashed)]
    if not (hashed or entered or of_any):
        return level

    def safe(k: Sql, v: Sql) -> Sql:
        cases = [f"WHEN {k} = {literal(name)} THEN {_value(v, _below(name, rules))}" for name in entered]
        if hashed:
            cases.append(f"WHEN array_contains({call('array', *map(literal, hashed))}, {k}) THEN {_hashed(v)}")
        rest = _value(v, of_any) if of_any else v
        return f"CASE {' '.join(cases)} ELSE {rest} END" if cases else rest

    return call("transform_values", level, function(2, safe))


def _below(step: str, rules: _Rules) -> _Rules:
    """What is left of the paths for what lies under a step; what is said of any name holds for each."""
    return [(path[1:], rule) for path, rule in rules if path and path[0] in (step, ANY)]


def _is_whole(rules: _Rules, what: str) -> bool:
    return any(not path and getattr(rule, what) for path, rule in rules)


def _value(value: Sql, rules: _Rules) -> Sql:
    """A value with what is inside protected, or hashed itself. Of what is no value nothing stays, for it to be refused."""
    if _is_whole(rules, "hash"):
        return _hashed(value)
    is_one = f"size({value}) = 1"
    safe = when(is_one, _level_json(_level(members(value), rules)))
    cases = [f"WHEN {has(value, 'M')} THEN map('M', {safe})"]
    of_any = _below(ANY, rules)
    if _is_whole(of_any, "drop"):
        cases.append(f"WHEN {has(value, 'L')} THEN map('L', '[]') WHEN {is_set(value)} THEN map('NULL', 'true')")
    elif of_any:
        texts = transform(transform(elements(value), lambda x: _value(x, of_any)), _any_json)
        kept = when(is_one, f"concat('[', array_join({texts}, ','), ']')")
        cases.append(f"WHEN {has(value, 'L')} THEN map('L', {kept})")
    if _is_whole(of_any, "hash"):
        cases.append(f"WHEN {is_set(value)} THEN map({tag_of(value)}, '[]')")  # to be refused
    return f"CASE {' '.join(cases)} ELSE {value} END"


def _level_json(level: Sql) -> Sql:
    pairs = transform(
        f"map_entries({level})", lambda e: f"concat({json_of(f'{e}.key')}, ':', {_any_json(f'{e}.value')})"
    )
    return f"concat('{{', array_join({pairs}, ','), '}}')"


def _any_json(value: Sql) -> Sql:
    """A value as DynamoDB JSON; one that carries none or several types, as no value does, stays recognisable as such."""
    return when(has_one_type(value), dynamodb_json(value), "'{}'")


def _hashed(value: Sql) -> Sql:
    """The hash as a value. NULL stays, being as good as absent; of what is no value nothing stays, for it to be refused.

    Of maps and lists only the type stays, to be refused as well: their members have no order that a hash could rely on.
    """
    inner = f"unhex(sha2(concat(`{_INNER}`, binary({_canonical(value)})), 256))"
    return (
        f"CASE WHEN {has(value, 'M')} THEN map('M', '{{}}') WHEN {has(value, 'L')} THEN map('L', '[]') "
        f"WHEN NOT {has_one_type(value)} THEN map() WHEN {has(value, 'NULL')} THEN {value} "
        f"ELSE map('S', sha2(concat(`{_OUTER}`, {inner}), 256)) END"
    )


def _canonical(value: Sql) -> Sql:
    """The DynamoDB JSON of a scalar or set: no needless zeros behind a number's point, the elements of a set sorted.

    Without lambdas: this stands inside several already, and Spark's analysis of lambdas inside lambdas costs seconds.
    """
    number = f"concat('{{\"N\":\"', {without_zeros(of(value, 'N'))}, '\"}}')"
    tags = call("array", "'SS'", "'NS'", "'BS'")
    in_order = f"to_json(array_sort({strings(f'map_values({value})[0]')}))"
    of_set = f"concat('{{\"', {tag_of(value)}, '\":', {in_order}, '}}')"
    return (
        f"CASE WHEN {has(value, 'N')} THEN {number} WHEN array_contains({tags}, {tag_of(value)}) THEN {of_set} "
        f"ELSE {dynamodb_json(value)} END"
    )
