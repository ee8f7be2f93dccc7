"""Numbers: exact, or not at all. DynamoDB's have 38 digits and exponents from -130 to 125, and come as text.

DynamoDB prints plain digits without needless zeros. Other spellings of the same number are read as well: 1, 1.0 and 1e0
are one number, and as a key they are one key.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipeline.columns.types import ColumnType, Kind
from spark.expressions.sql import Sql, call, first_of, joined, literal, when

#: A number as DynamoDB prints it, as a regular expression.
_PLAIN = r"0|-?[1-9][0-9]*|-?(?:0|[1-9][0-9]*)\.[0-9]*[1-9]"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
#: Of a number: its decimals up to the last that is not zero.
_DECIMALS = r"^[^.eE]*[.]?([0-9]*?)0*(?:[eE].*)?$"
#: Of a number with a point: zeros before it but one, those at its end, the point if nothing is behind it, the sign of zero.
_NEEDLESS = r"(?<=^|^-)0+(?![.])|[.]?0*$|^-(?=[0.]*$)"


def number(type_: ColumnType, text: Sql) -> Sql:
    """A number in the type of a number column; null if it does not fit exactly."""
    if type_.kind is Kind.DIGITS:
        return plain_number(text)
    if type_.kind is Kind.DECIMAL:
        as_decimal = f"cast({text} AS decimal({type_.digits},{type_.scale}))"
        # Anchored at its start, which is looked at once; a search for what needs care would begin at every digit.
        usual = literal(f"^-?[0-9]*(?:[.][0-9]{{0,{type_.scale}}})?$")
        return when(f"{text} RLIKE {usual} OR {decimals(text)} <= {type_.scale}", as_decimal)
    # A cast to bigint would cut decimals off, and is null for an exponent; one from decimal would wrap around.
    usual = f"CAST(replace({text}, '.', 'x') AS BIGINT)"
    spelled_otherwise = when(f"{decimals(text)} <= 0", f"CAST(CAST(CAST({text} AS DECIMAL(38,0)) AS STRING) AS BIGINT)")
    return call("coalesce", usual, spelled_otherwise)


def decimals(text: Sql) -> Sql:
    """How many decimals a number has, counted from its text; never too few."""
    return f"length(regexp_extract({text}, {literal(_DECIMALS)}, 1)) - {_exponent(text)}"


def plain_number(text: Sql) -> Sql:
    """A number as DynamoDB prints it, so that equal numbers are equal text. Null for what is no number."""
    return _plain_or(text, "NULL")


def as_printed(text: Sql) -> Sql:
    """The same for a number, however it is spelled; of what is no number, the text as it is."""
    return _plain_or(text, text)


def is_number(text: Sql) -> Sql:
    """Whether a text is a number, for which `plain_number` is not null; null for null."""
    return f"{text} RLIKE {literal(_NUMBER)}"


def room(plain: Sql) -> tuple[Column, Column, Column]:
    """Aggregates over plain numbers: the most digits before the point, the most behind it, whether all fit a bigint."""
    # Zero before the point is no digit, and a plain number begins with one only if nothing else stands there.
    integer = f"length(trim(LEADING '-0' FROM substring_index({plain}, '.', 1)))"
    has_point = f"contains({plain}, '.')"
    fraction = when(has_point, f"length(substring_index({plain}, '.', -1))", "0")
    fits_long = when(f"{plain} IS NOT NULL", f"NOT {has_point} AND CAST({plain} AS BIGINT) IS NOT NULL")
    return F.max(F.expr(integer)), F.max(F.expr(fraction)), F.min(F.expr(fits_long))


def _plain_or(text: Sql, otherwise: Sql) -> Sql:
    is_plain = f"{text} RLIKE {literal(f'^(?:{_PLAIN})$')}"
    return first_of([(is_plain, text), (is_number(text), _moved_point(text))], otherwise)


def _moved_point(text: Sql) -> Sql:
    """A number with its exponent carried out and without needless zeros."""
    exponent, before = _exponent(text), f"regexp_extract({text}, '^[+-]?([0-9]*)', 1)"
    # Zeros on the side that the point moves to; one before it in any case.
    behind = f"regexp_extract({text}, '[.]([0-9]*)', 1)"
    digits = joined("'0'", f"repeat('0', -{exponent})", before, behind, f"repeat('0', {exponent})")
    place = f"length({before}) + greatest({exponent}, 0) + 2"
    signed = joined(f"regexp_extract({text}, '^-?', 0)", f"overlay({digits} PLACING '.' FROM {place} FOR 0)")
    return call("regexp_replace", signed, literal(_NEEDLESS), literal(""))


def _exponent(text: Sql) -> Sql:
    return f"CAST(regexp_extract({text} || 'e0', '[eE]([^eE]*)', 1) AS INT)"
