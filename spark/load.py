"""Load: a table's whole content from a full export, unseen until every item is accounted for, published in one commit.

Types are decided from a sample, all of it where the export is small. The rows go to a branch in one pass over the data,
which counts as it writes: items, unreadable lines, keys, misfits. Where the sample was wrong in a way that another type
or another column mends, the branch is written once more. Then one transaction makes the branch the table's content,
with the marker. Refusing leaves the table as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from pipeline.column_growth import Target, first_columns, rebuilt
from pipeline.column_names import WRITE_TIME
from pipeline.column_profile import Observed, Profile, weighed
from pipeline.errors import CountMismatch, JobRefused, KeyMismatch, PipelineError
from pipeline.item_sample import items_of, observed_items
from pipeline.job_order import JobOrder
from pipeline.manifests import ExportManifest
from pipeline.marker import read_table_state
from pipeline.table_columns import Columns, columns_of, has_key, resolved, shown_columns
from spark.commits import committed, marker
from spark.contradictions import check_contradictions
from spark.drift import drifted
from spark.keys import has_cells, lacks_key, observed_room
from spark.profiles import exploded, observed_misfits
from spark.projection import IS_ODD, ITEM, READABLE, misfit_count, rows_told_odd, rows_with_misfits, unreadable
from spark.protection import CONTRADICTED, Protection
from spark.reading import Export, proven, read_exports
from spark.records import items, items_of_files
from spark.refusals import check_items
from spark.report import Committed
from spark.sampling import items_each, often_null, sample_size, sampled_lines
from spark.shuffles import for_load, shuffle_for
from spark.sql import when
from spark.table import Table
from spark.table_rows import aligned, unpacked

_LACKS_KEY = "#lacks_key"
_COUNTED = ("items", "unreadable", "lacking", "unfit", "contradicting", "odd", "misfits")


@dataclass(frozen=True)
class _Load:
    """What every step of one load needs.

    `metadata`: that of the table that is there, empty where there is none. `existing`: its columns; None for another key.
    `often_null`: attributes that are NULL in many items. `expects_misfits`: odd rows are looked through, not only counted.
    """

    spark: SparkSession
    order: JobOrder
    table: Table
    export: Export
    metadata: Mapping[str, Any]
    existing: Columns | None
    protection: Protection
    often_null: Sequence[str] = ()
    expects_misfits: bool = False

    @property
    def manifest(self) -> ExportManifest:
        """What the export says of itself."""
        return self.export.manifest

    @property
    def is_small(self) -> bool:
        """Whether all of it is looked at before its types are decided."""
        return sample_size(self.manifest) == self.manifest.item_count

    def marker(self, counts: dict[str, int]) -> dict[str, str]:
        """What the commits of this load say of themselves."""
        return marker(self.order, counts, fingerprint=self.protection.fingerprint)


class _Counted(NamedTuple):
    """Typed rows of all items, and what is counted as they pass."""

    typed: DataFrame
    counts: Observation


@dataclass(frozen=True)
class _Written:
    """Rows in a branch (empty name: only counted), what was counted, and what that adds to the profile."""

    branch: str
    found: dict[str, Any]
    seen: list[Observed]


def load(spark: SparkSession, order: JobOrder, table: Table, protection: Protection) -> Committed:
    """Carry out a load. Raises a JobRefused, the table as it was."""
    order.columns.check_key(order.source.key)
    metadata = there if read_table_state(there := table.metadata()).exists else {}
    existing = columns_of(metadata, order.source.key) if metadata and has_key(metadata, order.source.key) else None
    (export,) = read_exports(spark, order)
    with proven(spark, [export]):
        seen = observed_items(items_of(sampled_lines(spark, export)), protection.rules)
        shuffle_for(spark, for_load(order.buckets))
        this = _Load(spark, order, table, export, metadata, existing, protection)
        # Of a small export all items have a say about the types, which leaves few misfits, mostly none.
        this = replace(this, often_null=often_null(export.manifest, seen), expects_misfits=not this.is_small)
        target = _target(this, seen)
        rows = _counted(this, target)
    written, passes = _pass(this, target, rows), 1
    if written.found["odd"] and not this.expects_misfits:
        this, passes = replace(this, expects_misfits=True), 2
        written = _pass(this, target, _counted(this, target))
    # What does not fit though all items had their say was outvoted; counted again it would weigh twice.
    better = target if this.is_small else _target(this, weighed(seen, items_each(this.manifest), written.seen))
    if better != target:
        target, passes = better, passes + 1
        written = _pass(this, target, _counted(this, target))
    try:
        return _publish(this, target, written, passes)
    except JobRefused:
        this.table.drop_branch(written.branch, target.written, this.existing)
        raise


def _target(this: _Load, seen: list[Observed]) -> Target:
    profile, key, said = Profile.of(seen), this.order.source.key, this.order.columns
    target = rebuilt(this.existing, key, profile, said) if this.existing else Target(first_columns(key, profile, said))
    return replace(target, other_key=bool(this.metadata) and this.existing is None)


def _items(this: _Load) -> DataFrame:
    return items_of_files(this.spark, this.export.files_with_records)


def _pass(this: _Load, target: Target, rows: _Counted) -> _Written:
    """Write all rows to a branch, counting as they pass; the branch goes again where that fails, or the counts refuse."""
    if target.replaces_key:
        rows.typed.write.format("noop").mode("overwrite").save()
        return _checked(this, target, "", _found(this, rows.counts))
    branch = _new_branch(this, target)
    try:
        _write(this, target, branch, rows.typed)
        return _checked(this, target, branch, _found(this, rows.counts))
    except (PipelineError, Py4JJavaError):
        this.table.drop_branch(branch, target.written, this.existing)
        raise


def _found(this: _Load, counts: Observation) -> dict[str, Any]:
    """What was counted. Of an export without records Spark writes nothing, and an observation would be waited for in vain."""
    return {**dict.fromkeys(_COUNTED, 0), **(counts.get if this.export.files_with_records else {})}


def _new_branch(this: _Load, target: Target) -> str:
    """A branch of a table that has all columns which are to be written."""
    if this.existing:
        this.table.evolve(target.written)
    else:
        this.table.create(target.written)
    return this.table.new_branch()


def _write(this: _Load, target: Target, branch: str, typed: DataFrame) -> None:
    rows = aligned(typed, target.written, this.spark.table(this.table.sql_name).schema)
    writer = rows.writeTo(f"{this.table.sql_name}.`branch_{branch}`")
    for name, value in this.marker(_counts(this.manifest)).items():
        writer = writer.option(f"snapshot-property.{name}", value)
    writer.overwrite(F.lit(True))


def _counted(this: _Load, target: Target) -> _Counted:
    """Every item as a row, with internal columns, counted on the way; those without a whole key are counted and left out."""
    columns, counted = target.columns if target.replaces_key else target.written, Observation()
    rows = _rows(_items(this), this, columns)
    whole_key, readable, lacking = has_cells(columns.key), F.col(READABLE), F.col(_LACKS_KEY)
    counts = {
        "items": F.count(F.lit(1)),
        "unreadable": F.count_if(unreadable()),
        "lacking": F.count_if(readable & lacking),
        "unfit": F.count_if(readable & ~lacking & ~whole_key),
        "contradicting": F.count(CONTRADICTED),
        **({"misfits": F.sum(misfit_count())} if this.expects_misfits else {"odd": F.count_if(IS_ODD)}),
    }
    observed = rows.observe(counted, *(c.alias(n) for n, c in counts.items()))
    return _Counted(observed.where(whole_key).withColumn(WRITE_TIME, F.lit(None).cast("timestamp")), counted)


def _rows(of: DataFrame, this: _Load, columns: Columns) -> DataFrame:
    """Typed rows of items, with ``#readable``, ``#lacks_key``, perhaps ``#is_odd``; other columns are carried along."""
    # A cell of the key is made of nothing but the declared type: only where one is missing, the item is asked for its key.
    no_cell = " OR ".join(f"`{field.name}` IS NULL" for field in columns.key)
    lacking = f"{when(no_cell, lacks_key(f'`{ITEM}`', this.order.source.key), 'false')} AS `{_LACKS_KEY}`"
    also = [lacking, this.protection.contradicted(ITEM)]
    made = rows_with_misfits if this.expects_misfits else rows_told_odd
    return made(this.protection.protected(of, ITEM), columns, this.often_null, also)


def _checked(this: _Load, target: Target, branch: str, found: dict[str, Any]) -> _Written:
    """Refuse where a count is not what the manifest says; else what was written, and what there is to learn from it."""
    key, typed = target.columns.key, lambda of: _rows(items(of), this, target.columns)
    check_items(this.spark, this.order, this.export, found, typed, key)
    seen = _room_of_keys(this, found["unfit"]) if found["unfit"] else []
    if found["misfits"] and branch:
        misfits = exploded(this.spark.table(f"{this.table.sql_name}.`branch_{branch}`"))
        seen += [replace(row, path=resolved(row.path, target.columns)) for row in observed_misfits(misfits)]
    return _Written(branch, found, seen)


def _room_of_keys(this: _Load, unfit: int) -> list[Observed]:
    all_items = this.protection.protected(_items(this), ITEM)
    return observed_room(all_items, f"`{ITEM}`", this.order.source.key, unfit)


def _publish(this: _Load, target: Target, written: _Written, passes: int) -> Committed:
    """Make what was written the table's content, if it is whole."""
    if written.found["unfit"] and not target.replaces_key:
        raise KeyMismatch(f"{written.found['unfit']} items of {this.manifest.export_arn} have a key that is no number")
    counts = {**_counts(this.manifest), "misfits": written.found["misfits"]}
    if counts["misfits"]:
        _check_types(this, target, written.branch)
    properties = this.marker(counts)
    if target.replaces_key:
        rows = unpacked(_counted(this, target).typed, target.columns)
        committed(this.table, this.order, lambda: this.table.replace(rows, target.columns, properties))
    else:
        _check_branch(this, written.branch)
        committed(this.table, this.order, lambda: this.table.publish(written.branch, target, properties))
    rows, columns = this.spark.table(this.table.sql_name), target.columns
    before = shown_columns(this.metadata, this.order.source.key) if this.existing else columns
    return replace(drifted(rows, before, columns, counts), passes=passes)


def _check_types(this: _Load, target: Target, branch: str) -> None:
    rows = this.spark.table(f"{this.table.sql_name}.`branch_{branch}`") if branch else None
    key = [field.name for field in target.columns.key]
    check_contradictions(exploded(rows or _counted(this, target).typed, key), this.order.columns)


def _check_branch(this: _Load, branch: str) -> None:
    """Refuse a branch that holds another number of rows than the export has items: Iceberg counted what it wrote."""
    held = int(this.table.branch_summary(branch).get("total-records", -1))
    if held != this.manifest.item_count:
        raise CountMismatch(f"{this.manifest.item_count} items were read, {held} rows were written")


def _counts(manifest: ExportManifest) -> dict[str, int]:
    return dict.fromkeys(("read", "inserted"), manifest.item_count)
