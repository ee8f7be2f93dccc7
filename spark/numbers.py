"""Numbers: exact, or not at all. DynamoDB's have 38 digits and exponents from -130 to 125, and come as text.

DynamoDB prints plain digits without needless zeros. Other spellings of the same number are read as well: 1, 1.0 and 1e0
are one number, and as a key they are one key.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipeline.column_types import ColumnType, Kind
from spark.sql import Sql, call, let, literal, struct, when

#: A number as DynamoDB prints it, as a regular expression.
PLAIN = r"0|-?[1-9][0-9]*|-?(?:0|[1-9][0-9]*)\.[0-9]*[1-9]"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"


def number(type_: ColumnType, text: Sql, *, is_plain: bool = False) -> Sql:
    """A number in the type of a number column; null if it does not fit exactly. `is_plain`: `plain_number` has been there."""
    if type_.kind is Kind.DIGITS:
        return plain_number(text)
    if type_.kind is Kind.DECIMAL:
        as_decimal = f"cast({text} AS decimal(38,{type_.scale}))"
        # Anchored at its start, which is looked at once; a search for what needs care would begin at every digit.
        is_usual = call("rlike", text, literal(f"^-?[0-9]*(?:[.][0-9]{{0,{type_.scale}}})?$"))
        if is_plain:
            return when(is_usual, as_decimal)
        return when(f"{is_usual} OR {decimals(text)} <= {type_.scale}", as_decimal)
    # A cast to bigint cuts decimals off and is null for an exponent; one from decimal would wrap around, from text not.
    usual = when(f"instr({text}, '.') = 0", f"CAST({text} AS BIGINT)")
    if is_plain:
        return usual
    spelled_otherwise = when(f"{decimals(text)} <= 0", f"CAST(CAST(CAST({text} AS DECIMAL(38,0)) AS STRING) AS BIGINT)")
    return call("coalesce", usual, spelled_otherwise)


def decimals(text: Sql) -> Sql:
    """How many decimals a number has, counted from its text; never too few."""
    mantissa = f"substring_index(lower({text}), 'e', 1)"
    written = f"if(instr({mantissa}, '.') = 0, 0, length(trim(TRAILING '0' FROM substring_index({mantissa}, '.', -1))))"
    exponent = f"if(instr(lower({text}), 'e') = 0, 0, CAST(substring_index(lower({text}), 'e', -1) AS INT))"
    return f"({written} - {exponent})"


def plain_number(text: Sql) -> Sql:
    """A number as DynamoDB prints it, so that equal numbers are equal text. Null for what is no number."""
    spelled_otherwise = when(is_number(text), let(f"lower({text})", _moved_point))
    return when(call("rlike", text, literal(f"^(?:{PLAIN})$")), text, spelled_otherwise)


def is_number(text: Sql) -> Sql:
    """Whether a text is a number, for which `plain_number` is not null; null for null."""
    return call("rlike", text, literal(_NUMBER))


def room(plain: Column) -> tuple[Column, Column, Column]:
    """Aggregates over plain numbers: the most digits before the point, the most behind it, whether all fit a bigint."""
    fraction = F.when(F.contains(plain, F.lit(".")), F.length(F.substring_index(plain, ".", -1))).otherwise(0)
    whole = F.translate(F.substring_index(plain, ".", 1), "-", "")
    integer = F.when(whole == "0", 0).otherwise(F.length(whole))
    fits_long = (fraction == 0) & plain.cast("bigint").isNotNull()
    return F.max(integer), F.max(fraction), F.min(F.when(plain.isNotNull(), fits_long))


def _moved_point(text: Sql) -> Sql:
    bare = f"regexp_replace({text}, '^[+-]', '')"
    mantissa = f"substring_index({bare}, 'e', 1)"
    exponent = when(f"instr({bare}, 'e') > 0", f"int(substring_index({bare}, 'e', -1))", "0")
    digits = f"replace({mantissa}, '.', '')"
    point = f"length(substring_index({mantissa}, '.', 1)) + {exponent}"
    unsigned = let(struct(digits=digits, point=point), _with_point)
    return let(unsigned, lambda plain: when(f"{plain} <> '0' AND {text} LIKE '-%'", f"concat('-', {plain})", plain))


def _with_point(parts: Sql) -> Sql:
    """Digits with the point set after the first `point` of them, without needless zeros."""
    digits, point = f"{parts}.digits", f"{parts}.point"
    filled = f"rpad(substr({digits}, 1, {point}), {point}, '0')"
    before = f"regexp_replace({when(f'{point} > 0', filled, literal(''))}, '^0+', '')"
    rest = f"concat(repeat('0', greatest(-{point}, 0)), substr({digits}, greatest({point}, 0) + 1))"
    behind = f"regexp_replace({rest}, '0+$', '')"
    return let(
        struct(before=before, behind=behind),
        lambda p: f"concat(if({p}.before = '', '0', {p}.before), if({p}.behind = '', '', concat('.', {p}.behind)))",
    )
