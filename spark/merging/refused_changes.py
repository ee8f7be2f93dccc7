"""Changes that are refused after they were counted: what is wrong with them, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.columns.types import Field
from pipeline.errors import ConflictingChanges, KeyDoesNotFit, KeyMismatch, RebuildNeeded
from pipeline.wording import number_of
from spark.exports.reading import are_told
from spark.exports.records import WEIGHT
from spark.hiding.contradictions import rule_missed
from spark.hiding.missed_rules import CONTRADICTED
from spark.merging import changes
from spark.refusals import Suspected, first_line, miscounted_file, other_total, unreadable_line
from spark.rows.keys import key_cells, of_several, shown


def check_changes(this: Suspected, found: Mapping[str, int], rows: DataFrame) -> None:
    """Refuse the changes of windows by what was counted of them (`accounting.counted`). `rows`: these changes."""
    stretch, declared = f"{this.order.job_id} ({number_of(len(this.exports), 'export')})", this.declared_key
    if found[changes.UNREADABLE] or found["no_value"]:
        raise unreadable_line(this)
    if not are_told(this.exports, found["read"], found[WEIGHT]):
        # A change that was looked up in the table stands there once for each row of its key.
        raise _doubled_rows(this, rows) or miscounted_file(this) or other_total(this, found["read"])
    # Where one kind is looked for there is no line any more of those that are refused before it.
    if found[changes.LACKING]:
        first = first_line(this, F.expr(changes.lacks_whole_key(this.order.source)))
        many = number_of(found[changes.LACKING], "record")
        raise KeyMismatch(f"{stretch}: {many} with another key than {declared}{first}")
    if found[changes.OTHER_KEY]:
        many, such = number_of(found[changes.OTHER_KEY], "record"), _such(rows, changes.OTHER_KEY, this.key)
        raise KeyMismatch(f"{stretch}: {many} with an image of a key that is not its own, {declared}{such}")
    if found[changes.UNFIT]:
        unfit = reduce(or_, (cell.isNull() for cell in key_cells(changes.KEYS, this.key)))
        first = first_line(this, unfit)
        many = number_of(found[changes.UNFIT], "record")
        raise KeyDoesNotFit(f"{stretch}: {many} with a key that {this.order.table} cannot hold{first}")
    if found[changes.CONFLICTS]:
        pairs = f"pairs of records that contradict each other: {found[changes.CONFLICTS]}"
        raise ConflictingChanges(f"{stretch}: {pairs}{_such(rows, changes.CONFLICTS, this.key)}")
    if found[CONTRADICTED]:
        raise rule_missed(rows, this.key)


def _such(rows: DataFrame, problem: str, key: Sequence[Field]) -> str:
    """The key of one of the changes that have a problem, as the end of a sentence."""
    example = F.min(shown(key))
    found: Any = rows.where(F.col(problem) > 0).agg(example).first()
    return f", such as of {found[0]}"


def _doubled_rows(this: Suspected, looked_up: DataFrame) -> RebuildNeeded | None:
    """The refusal of a table that has several rows of one key; None where no change has met any.

    `looked_up`: changes, one row for each row of the table that they met.
    """
    example = F.min(shown(this.key)).alias("example")
    found: Any = of_several(looked_up, this.key).agg(F.count(F.lit(1)).alias("keys"), example).first()
    if not found["keys"]:
        return None
    return RebuildNeeded(
        f"{this.order.table} has several rows of one key, of which {this.order.job_id} met {found['keys']}, such as "
        f"{found['example']}: somebody else has written to it",
        "Replace the table's content by a new full export.",
    )
