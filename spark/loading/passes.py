"""A pass of a load over all items: typed rows go to a branch, unseen, and are counted on the way.

The counts refuse an export that is not what its manifest says, and show where the types that were decided are wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from pipeline.columns.in_table.kept_names import KeptNames
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.misfit_paths import placed
from pipeline.columns.names import WRITE_TIME
from pipeline.columns.pins import as_said
from pipeline.columns.profile import Observed
from pipeline.columns.rebuild import Target
from pipeline.errors import TableContended
from pipeline.exports.manifests import ExportManifest
from pipeline.job_order import JobOrder
from pipeline.table.order_marker import marker_of
from spark.exports.reading import Export
from spark.exports.records import WEIGHT, items, items_of_files
from spark.expressions.sql import when
from spark.hiding.excluded_types import excluded
from spark.hiding.missed_rules import CONTRADICTED
from spark.hiding.protection import Protection
from spark.iceberg.table import Table
from spark.loading.sampling import sample_size
from spark.refusals import Suspected, check_items
from spark.rows.keys import LACKS_KEY, has_cells, lacks_key, observed_room
from spark.rows.profiles import exploded, observed_misfits
from spark.rows.projection import IS_ODD, ITEM, misfit_count, rows_told_odd, rows_with_misfits, unreadable
from spark.rows.table_rows import aligned

_COUNTED = ("items", WEIGHT, "unreadable", "lacking", "unfit", "contradicting", "odd", "misfits")


@dataclass(frozen=True)
class Load:
    """What every step of one load needs.

    `metadata`: that of the table that is there, empty where there is none. `existing`: its columns; None for another key,
    and for a table that the product has not made. `kept`: by what is there, also if unfinished.
    `often_null`: attributes that are NULL in many items. `expects_misfits`: odd rows are looked through, not only counted.
    """

    spark: SparkSession
    order: JobOrder
    table: Table
    export: Export
    metadata: Mapping[str, Any]
    existing: Columns | None
    protection: Protection
    kept: KeptNames
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
        return marker_of(self.order, counts, fingerprint=self.protection.fingerprint)


class Counted(NamedTuple):
    """Typed rows of all items, and what is counted as they pass."""

    typed: DataFrame
    counts: Observation


@dataclass(frozen=True)
class Written:
    """Rows in a branch, what was counted, and what that adds to the profile.

    Without a branch (empty name) they were only counted, and are made anew by whoever reads them.
    """

    branch: str
    rows: DataFrame
    found: dict[str, Any]
    seen: list[Observed]


def _items(this: Load) -> DataFrame:
    return items_of_files(this.spark, this.export.files_with_records)


def written(this: Load, target: Target, rows: Counted) -> Written:
    """Write all rows to a branch, or nowhere where no branch can carry them, counting as they pass.

    Raises a JobRefused for an export that is not what its manifest says, and TableContended where somebody else has made the
    table, or given a name of its columns away, meanwhile. Who carries on without what was written takes it back
    (`Table.withdraw`).
    """
    branch = "" if target.replaces_key else _new_branch(this, target)
    if branch:
        _write(this, target, branch, rows.typed)
    else:
        rows.typed.write.format("noop").mode("overwrite").save()
    return _checked(this, target, branch, rows)


def _found(this: Load, counts: Observation) -> dict[str, Any]:
    """What was counted. Of an export without records Spark writes nothing, and an observation would be waited for in vain."""
    return {**dict.fromkeys(_COUNTED, 0), **(counts.get if this.export.files_with_records else {})}


def _new_branch(this: Load, target: Target) -> str:
    """A branch of a table that has all columns which are to be written."""
    if this.existing:
        this.table.drop_leftovers()
        this.table.evolve(target.written)
    else:
        if this.table.state().exists:
            raise TableContended(f"another load has made {this.order.table} while {this.order.job_id} read its export")
        this.table.create(target.written)
        this.table.drop_leftovers()
    return this.table.new_branch()


def _write(this: Load, target: Target, branch: str, typed: DataFrame) -> None:
    rows = aligned(typed, target.written, this.spark.table(this.table.sql_name).schema)
    writer = rows.writeTo(f"{this.table.sql_name}.`branch_{branch}`")
    for name, value in this.marker(counts_of(this.manifest)).items():
        writer = writer.option(f"snapshot-property.{name}", value)
    writer.overwrite(F.lit(True))


def counted(this: Load, target: Target) -> Counted:
    """Every item as a row, with internal columns, counted on the way; those without a whole key are counted and left out."""
    columns, counts_of_pass = target.columns if target.replaces_key else target.written, Observation()
    rows = _rows(_items(this), this, columns)
    whole_key = has_cells(columns.key)
    # An item may be counted more than once: what is refused first leaves nothing of the later counts to be told.
    counts = {
        "items": F.count(F.lit(1)),
        WEIGHT: F.coalesce(F.sum(WEIGHT), F.lit(0)),
        "unreadable": F.count_if(unreadable()),
        "lacking": F.count_if(LACKS_KEY),
        "unfit": F.count_if(~whole_key),
        "contradicting": F.count(CONTRADICTED),
        **({"misfits": F.sum(misfit_count())} if this.expects_misfits else {"odd": F.count_if(IS_ODD)}),
    }
    observed = rows.observe(counts_of_pass, *(c.alias(n) for n, c in counts.items()))
    return Counted(observed.where(whole_key).withColumn(WRITE_TIME, F.lit(None).cast("timestamp")), counts_of_pass)


def _rows(of: DataFrame, this: Load, columns: Columns) -> DataFrame:
    """Typed rows of items, with ``#readable``, ``#lacks_key``, perhaps ``#is_odd``; other columns are carried along."""
    said = this.order.columns
    columns = as_said(columns, said)
    # A cell of the key is made of nothing but the declared type: only where one is missing, the item is asked for its key.
    no_cell = " OR ".join(f"`{field.name}` IS NULL" for field in columns.key)
    lacking = f"{when(no_cell, lacks_key(f'`{ITEM}`', this.order.source.key), 'false')} AS `{LACKS_KEY}`"
    also = [lacking, this.protection.contradicted(ITEM, excluded(columns, said, ITEM))]
    made = rows_with_misfits if this.expects_misfits else rows_told_odd
    return made(this.protection.protected(of, ITEM), columns, this.often_null, also)


def _checked(this: Load, target: Target, branch: str, rows: Counted) -> Written:
    """Refuse where a count is not what the manifest says; else what was written, and what there is to learn from it."""
    found, said = _found(this, rows.counts), this.order.columns
    columns = target.columns
    suspected = Suspected(
        this.spark, this.order, [this.export], lambda of: _rows(items(of), this, columns), columns.key
    )
    check_items(suspected, {**found, **_held(this, branch, found)})
    held = this.spark.table(f"{this.table.sql_name}.`branch_{branch}`") if branch else rows.typed
    if found["misfits"] and found["items"] != this.manifest.item_count:
        # Some task was done twice: what is written is there once.
        found["misfits"] = held.agg(F.sum(misfit_count())).first()[0]  # type: ignore[index]  # an aggregate has a row
    seen = _room_of_keys(this, found["unfit"]) if found["unfit"] else []
    seen += placed(observed_misfits(exploded(held), said), columns) if found["misfits"] else []
    return Written(branch, held, found, seen)


def _held(this: Load, branch: str, found: Mapping[str, int]) -> dict[str, int]:
    """How many items there are, and their weight, where some task was done twice: the rows that were written tell.

    That happens where an executor is lost with what it had made. How many each file holds is not known then, but that all
    items are there; none need be read again.
    """
    said = this.manifest.item_count
    if branch and found["items"] > said == rows_in(this, branch):
        return {"items": said, WEIGHT: this.export.weight}
    return {}


def rows_in(this: Load, branch: str) -> int:
    """How many rows a branch holds, as Iceberg has counted what it wrote there in place of all others.

    Its sum of all rows begins at nothing with each branch that somebody else has made by writing to it.
    """
    return int(this.table.branch_summary(branch).get("added-records", 0))


def _room_of_keys(this: Load, unfit: int) -> list[Observed]:
    all_items = this.protection.protected(_items(this), ITEM)
    return observed_room(all_items, f"`{ITEM}`", this.order.source.key, unfit)


def counts_of(manifest: ExportManifest) -> dict[str, int]:
    """What a load's commits say of its records: all that the manifest tells of are rows."""
    return dict.fromkeys(("read", "inserted"), manifest.item_count)
