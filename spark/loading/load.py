"""Load: a table's whole content from a full export, unseen until every item is accounted for, published in one commit.

Types are decided from a sample, all of it where the export is small. The rows go to a branch in one pass over the data,
which counts as it writes (`spark.loading.passes`). Where the sample was wrong in a way that another type or another column mends,
the branch is written once more, and again where that leaves others without room. Then one transaction makes the branch the
table's content, with the marker. Refusing leaves the table's content as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.columns.growth import first_columns
from pipeline.columns.in_table.field_ids import shown_columns, used_by_layout
from pipeline.columns.in_table.kept_names import kept_names
from pipeline.columns.in_table.table_columns import columns_of, has_key, is_made_here
from pipeline.columns.item_sample import items_of, observed_items
from pipeline.columns.profile import Observed, Profile, at_least, weighed
from pipeline.columns.rebuild import Target, rebuilt
from pipeline.errors import ITEM_WITHOUT_KEY, CountMismatch, KeyMismatch, TableContended
from pipeline.job_order import JobOrder
from pipeline.table.marker import read_table_state
from pipeline.wording import number_of
from spark.drift import drifted
from spark.exports.reading import proven, read_exports
from spark.hiding.contradictions import check_contradictions
from spark.hiding.protection import Protection
from spark.iceberg.commit_properties import counted_so_far, last_word
from spark.iceberg.commits import committed
from spark.iceberg.names_given_back import with_names_given_back
from spark.iceberg.table import Table
from spark.iceberg.writable import without_requirements
from spark.loading.passes import Counted, Load, Written, counted, counts_of, rows_in, written
from spark.loading.sampling import items_each, often_null, sampled_lines
from spark.report import Committed
from spark.rows.profiles import exploded
from spark.rows.table_rows import unpacked
from spark.shuffles import for_load, shuffle_for

_REPLACED = "tidemark_replaced"
#: In the second pass every attribute has a column. What no longer fits then, because a type has made room for other values,
#: is counted in it, and decides the types of the third.
_MOST_PASSES = 3


def load(spark: SparkSession, order: JobOrder, table: Table, protection: Protection) -> Committed:
    """Carry out a load. Raises a JobRefused or a TableUnfit, the table's content as it was."""
    order.columns.check_key(order.source.key)
    metadata = with_names_given_back(table, table.metadata(), order.source.key)
    kept = kept_names(metadata)
    if not read_table_state(metadata).exists:
        metadata = {}  # what a load that died has left is begun anew
    follows = metadata and is_made_here(metadata) and has_key(metadata, order.source.key)
    if follows:
        metadata = without_requirements(table, metadata)
    existing = columns_of(metadata, order.source.key) if follows else None
    (export,) = read_exports(spark, order)
    with proven(spark, [export]):
        seen = observed_items(items_of(sampled_lines(spark, export)), order.columns)
        shuffle_for(spark, for_load(order.buckets))
        this = Load(spark, order, table, export, metadata, existing, protection, kept)
        # Of a small export all items have a say about the types, which leaves few misfits, mostly none.
        this = replace(this, often_null=often_null(export.manifest, seen), expects_misfits=not this.is_small)
        target = _target(this, seen, all_seen=this.is_small)
        rows = counted(this, target)
    try:
        return _carried_out(this, seen, target, rows)
    except Exception:
        # Why the load has ended matters more than that something is left, which maintenance finds.
        with suppress(Py4JJavaError, PySparkException):
            table.withdraw()
        raise


def _carried_out(this: Load, seen: list[Observed], target: Target, rows: Counted) -> Committed:
    """Write, twice or thrice where the first look was wrong, and publish. `seen`: by the sample, which decided the target."""
    held, passes = written(this, target, rows), 1
    if held.found["odd"] and not this.expects_misfits:
        this, passes = replace(this, expects_misfits=True), 2
        held = written(this, target, counted(this, target))
    misfits = held.seen
    # What does not fit though all items had their say was outvoted; counted again it would weigh twice.
    while not this.is_small and passes < _MOST_PASSES:
        if this.existing is None:
            this = replace(this, kept=kept_names(this.table.metadata()))  # of what the pass before has made
        better = _target(this, weighed(seen, items_each(this.manifest), misfits))
        if better == target:
            break
        this.table.withdraw()
        target, passes = better, passes + 1
        held = written(this, target, counted(this, target))
        # What fitted until now was not counted: of room for more decimals, large numbers may pay the price.
        misfits = at_least(misfits, held.seen)
    return _publish(this, target, held, passes)


def _target(this: Load, seen: list[Observed], *, all_seen: bool = True) -> Target:
    profile, key, said = Profile.of(seen), this.order.source.key, this.order.columns
    if this.existing is None:
        first = first_columns(key, profile, said, this.kept, all_seen=all_seen)
        return Target(first, is_another=bool(this.metadata))
    fixed = used_by_layout(this.metadata)
    return rebuilt(this.existing, key, profile, said, fixed, this.kept, all_seen=all_seen)


def _publish(this: Load, target: Target, held: Written, passes: int) -> Committed:
    """Make what was written the table's content, if it is whole."""
    if held.found["unfit"]:
        unfit = number_of(held.found["unfit"], "item")
        raise KeyMismatch(f"{unfit} of {this.manifest.export_arn} with a key that is no number", ITEM_WITHOUT_KEY)
    counts = {**counts_of(this.manifest), "misfits": held.found["misfits"]}
    if counts["misfits"]:
        check_contradictions(exploded(held.rows, target.columns.key), this.order.columns)
    properties = this.marker(counts)
    if target.replaces_key:
        committed(this.table, this.order, lambda: _replace(this, target, held.rows, properties))
    else:
        _check_all(this, rows_in(this, held.branch))
        committed(this.table, this.order, lambda: this.table.publish(held.branch, target, properties))
    rows, columns = this.spark.table(this.table.sql_name), target.columns
    before = shown_columns(this.metadata, this.order.source.key) if this.existing else columns
    return replace(drifted(rows, before, columns, counts), passes=passes)


def _replace(this: Load, target: Target, held: DataFrame, properties: Mapping[str, str]) -> None:
    """Replace the table by rows that were counted, but not written, before.

    Raises CountMismatch where there are fewer of them now, and TableContended where somebody has committed meanwhile. What
    is committed while the rows are written is replaced as well: Iceberg holds a replacement against nothing.
    """
    read = this.metadata.get("current-snapshot-id", -1)
    if this.table.snapshot_id() != (-1 if read is None else read):  # as from format 3 on an empty table has it
        raise TableContended(f"{this.order.table} was changed while {this.order.job_id} read its export")
    rows = unpacked(held, target.columns).observe(_REPLACED, F.count(F.lit(1)).alias("rows"))

    def check() -> dict[str, str]:
        # A task that was done again may have counted twice; that rows are lost is what nothing else would show.
        _check_all(this, min(counted_so_far(this.spark, _REPLACED).get("rows", 0), this.manifest.item_count))
        return {}

    with last_word(this.spark, check):
        this.table.replace(rows, target.columns, properties)


def _check_all(this: Load, written: int) -> None:
    """Refuse another number of rows than the export has items."""
    if written != this.manifest.item_count:
        raise CountMismatch(
            f"read: {number_of(this.manifest.item_count, 'item')}, written: {number_of(written, 'row')}"
        )
