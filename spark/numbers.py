"""Numbers: exact, or not at all. DynamoDB's have 38 digits and exponents from -130 to 125, and come as text.

DynamoDB prints plain digits without needless zeros. Other spellings of the same number are accepted, by a slower way:
1, 1.0 and 1e0 are one number, and as a key they are one key.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipeline.column_types import ColumnType, Kind
from spark.values import let

_PLAIN = r"^(0|-?[1-9][0-9]*|-?(0|[1-9][0-9]*)\.[0-9]*[1-9])$"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"


def number(type_: ColumnType, text: Column) -> Column:
    """A number in the type of a number column; null if it does not fit exactly, or is no number."""
    if type_.kind is Kind.DIGITS:
        return plain_number(text)
    # The slow way stands inside a lambda, where it is not compiled a thousand times for a thousand columns.
    slow = F.when(text.isNotNull(), let(text, lambda t: let(plain_number(t), lambda plain: _exact(type_, plain))))
    return F.coalesce(_exact(type_, text), slow)


def _exact(type_: ColumnType, text: Column) -> Column:
    """The number if this text, which may be plain or not, shows without more ado that it fits."""
    point = F.instr(text, ".")
    if type_.kind is Kind.LONG:
        return F.when(point == 0, text.cast("bigint"))  # null for an exponent and for what is too large
    fits = (point == 0) | (F.length(text) - point <= type_.scale)
    has_exponent = F.contains(text, F.lit("e")) | F.contains(text, F.lit("E"))
    return F.when(fits & ~has_exponent, text.cast(f"decimal(38,{type_.scale})"))


def plain_number(text: Column) -> Column:
    """A number as DynamoDB prints it, so that equal numbers are equal text. Null for what is no number."""
    spelled_otherwise = F.when(text.rlike(_NUMBER), let(F.lower(text), _moved_point))
    return F.when(text.rlike(_PLAIN), text).otherwise(spelled_otherwise)


def room(plain: Column) -> tuple[Column, Column, Column]:
    """Aggregates over plain numbers: the most digits before the point, the most behind it, whether all fit a bigint."""
    fraction = F.when(F.contains(plain, F.lit(".")), F.length(F.substring_index(plain, ".", -1))).otherwise(0)
    whole = F.translate(F.substring_index(plain, ".", 1), "-", "")
    integer = F.when(whole == "0", 0).otherwise(F.length(whole))
    fits_long = (fraction == 0) & plain.cast("bigint").isNotNull()
    return F.max(integer), F.max(fraction), F.min(F.when(plain.isNotNull(), fits_long))


def _moved_point(text: Column) -> Column:
    bare = F.regexp_replace(text, "^[+-]", "")
    mantissa = F.substring_index(bare, "e", 1)
    exponent = F.when(F.contains(bare, F.lit("e")), F.substring_index(bare, "e", -1).cast("int")).otherwise(0)
    point = F.length(F.substring_index(mantissa, ".", 1)) + exponent
    digits = F.regexp_replace(mantissa, r"\.", "")
    unsigned = let(F.struct(digits.alias("digits"), point.alias("point")), _with_point)
    return F.when((unsigned != "0") & text.startswith("-"), F.concat(F.lit("-"), unsigned)).otherwise(unsigned)


def _with_point(parts: Column) -> Column:
    """Digits with the point set after the first `point` of them, without needless zeros."""
    digits, point = parts["digits"], parts["point"]
    none = F.lit(0)
    filled = F.concat(digits.substr(F.lit(1), point), _zeros(F.greatest(point - F.length(digits), none)))
    before = F.regexp_replace(F.when(point > 0, filled).otherwise(""), "^0+", "")
    rest = digits.substr(F.greatest(point, none) + 1, F.length(digits))
    behind = F.regexp_replace(F.concat(_zeros(F.greatest(-point, none)), rest), "0+$", "")
    whole = F.when(before == "", F.lit("0")).otherwise(before)
    return F.when(behind == "", whole).otherwise(F.concat(whole, F.lit("."), behind))


def _zeros(count: Column) -> Column:
    return F.call_function("repeat", F.lit("0"), count)  # PySpark's own `repeat` takes no column as a count
