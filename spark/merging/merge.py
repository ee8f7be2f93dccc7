"""Merge: apply windows of changes to the table, whole rows by key, in one commit with the watermark.

All windows are read once and folded into one net change for each key, while what is to be done with them is planned. Where
every value has its cell, they are typed, counted and merged by one command, and committed only if the counts are right.
Else the changes are looked through and counted first, and new attributes get columns, in a commit of their own that is
harmless to repeat. The merge itself reads of the table only keys and write times, and of a large table brings only rows to
the changes whose keys may be among theirs. A backfill is the same over a stretch that ends at the watermark; what each
change will do is then looked up first, and each row of a changed key is written anew, whatever it is now.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NamedTuple

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from pipeline.columns.column_changes import new_columns
from pipeline.columns.growth import grown
from pipeline.columns.in_table.field_ids import check_shown, shown_columns
from pipeline.columns.in_table.table_columns import Columns, columns_of
from pipeline.columns.misfit_paths import placed, without_column
from pipeline.columns.override_checks import check_followed
from pipeline.columns.pins import as_said
from pipeline.columns.profile import Profile
from pipeline.job_order import JobOrder
from pipeline.table.continuity import continuity
from pipeline.table.guard import check_key, is_done
from pipeline.table.marker import JOB_ID, commit_of, had_misfits, read_table_state
from pipeline.table.order_marker import marker_of
from pipeline.table.snapshots import row_count
from spark.caching import kept
from spark.drift import with_columns_made_ready
from spark.exports.reading import Export, packed_bytes, proven, read_exports, records_of
from spark.hiding.contradictions import check_contradictions
from spark.hiding.hidden_alike import check_hidden_alike
from spark.hiding.protection import Protection
from spark.iceberg.commit_properties import last_word
from spark.iceberg.commits import committed, unless_overtaken
from spark.iceberg.former_partitions import has_former_partitions, without_former_partitions
from spark.iceberg.ids_taken import take_gone_ids
from spark.iceberg.table import Table
from spark.iceberg.writable import writable
from spark.merging import accounting, changes, key_filter
from spark.merging.lost_attributes import LostAttributes
from spark.merging.merge_statement import merge_statement
from spark.merging.old_images import OldImages, compared_images
from spark.merging.refused_changes import check_changes
from spark.refusals import Suspected
from spark.report import Committed, listed_misfits
from spark.report_from_commit import committed_earlier
from spark.rows.keys import has_cells
from spark.rows.profiles import exploded, observed_misfits
from spark.rows.projection import looked_through, without_misfits
from spark.shuffles import FEWEST, for_changes, gather_for, share_writing, shuffle_for

_VIEW = "tidemark_changes"
#: How MERGE ends where a change stands there twice, as one that was looked up in a table with two rows of its key.
_SEVERAL = "[MERGE_CARDINALITY_VIOLATION]"
log = logging.getLogger(__name__)


class _Merge(NamedTuple):
    """What every step of one merge needs.

    `images_tell`: whether the images alone say what each change will do. `metadata`: the table's from before. `folded`: the
    changes before they are typed. `changed`: the filter of their keys, to be waited for. `lost`: what items have lost by them.
    `held`: what is kept until the merge has ended. `images`: what comparing old images with the table's rows has found.
    """

    spark: SparkSession
    order: JobOrder
    table: Table
    exports: Sequence[Export]
    images_tell: bool
    protection: Protection
    metadata: Mapping[str, Any]
    folded: DataFrame
    changed: Callable[[], key_filter.KeyFilter]
    lost: LostAttributes
    held: ExitStack
    images: OldImages = OldImages()

    def keep(self, rows: DataFrame) -> DataFrame:
        """The same rows, computed once until the merge has ended."""
        return self.held.enter_context(kept(rows))


class _NotPlain(Exception):
    """Changes that cannot be merged as they are read: something about them is odd, or wrong."""


def merge(spark: SparkSession, order: JobOrder, table: Table, protection: Protection) -> Committed:
    """Carry out a merge or a backfill. Raises a JobRefused or a TableUnfit, the table's content as it was."""
    order.columns.check_key(order.source.key)
    exports = read_exports(spark, order)
    metadata = table.metadata()
    rows, records, images_tell = row_count(metadata), records_of(exports), accounting.images_tell(order, exports)
    tasks = for_changes((export.manifest for export in exports), key_filter.brought(rows, records))
    # Small parts are not joined: a few changes are many files, one or two a bucket, and each takes its time on S3.
    shuffle_for(spark, tasks, joins_small=False, plans_again=tasks > FEWEST)
    check_key(metadata, order)
    metadata = writable(table, metadata)
    before = columns_of(metadata, order.source.key)
    check_shown(metadata)
    check_followed(before, order.columns)
    watermark, rows_there = read_table_state(metadata).watermark, spark.table(table.sql_name)
    shown = shown_columns(metadata, order.source.key)  # of a column that no row has come to, nothing is in the clear
    check_hidden_alike(rows_there, metadata, watermark, order, shown, protection.fingerprint)
    with ExitStack() as held:
        with proven(spark, exports):
            compares = order.compare_old_images and images_tell and records > 0
            lines = changes.numbered_lines(spark, exports)
            if any(export.files_with_records for export in exports):
                gather_for(spark, records, packed_bytes(lines))
            folded = changes.folded(lines, order.source, before, protection, with_lost=images_tell, with_old=compares)
            folded = held.enter_context(kept(folded, at_once=True))
            changed = held.enter_context(key_filter.filtered(folded, changes.keys(before), rows, records))
            lost = held.enter_context(LostAttributes.of(folded, before))
            this = _Merge(spark, order, table, exports, images_tell, protection, metadata, folded, changed, lost, held)
            net = _with_outcomes(this, before)
        if compares:
            images = compared_images(folded, records, _rows_of_changed(this, before), before, protection)
            this = this._replace(images=images)
        done = None
        # Before former partitions go, which nothing brings back, it has to be known that nothing is refused.
        if not (had_misfits(metadata) or has_former_partitions(metadata)):
            # Unless it is kept, Spark takes what was looked up in the table for as large as its join could be.
            net = net if images_tell else this.keep(net)
            done = _merged_as_read(this, net, before)
        return with_columns_made_ready(done or _merged_when_counted(this, net, before), spark, table, order, metadata)


def _with_outcomes(this: _Merge, columns: Columns) -> DataFrame:
    """The net changes, and what each will do."""
    said = this.order.columns
    net = changes.net_changes(this.folded, as_said(columns, said), this.protection, said)
    if this.images_tell:
        return accounting.told_by_images(net)
    key = [field.name for field in columns.key]
    return accounting.told_by_table(net, _rows_of_changed(this, columns), key, this.order)


def _rows_of_changed(this: _Merge, columns: Columns) -> DataFrame:
    """The table's rows, of a large one few more than those whose keys have changed."""
    return this.changed().passed(this.spark.table(this.table.sql_name), [field.name for field in columns.key])


def _merged_as_read(this: _Merge, net: DataFrame, columns: Columns) -> Committed | None:
    """Merge the changes in the pass that counts them; None, nothing committed, where they have to be looked through first."""
    found: dict[str, int] = {}

    def count() -> dict[str, int]:
        found.update(accounting.watched_counts(this.spark))
        if not accounting.is_plain(found, this.exports):
            raise _NotPlain(f"{this.order.job_id}: the changes are looked through before they are merged")
        return found

    rows = without_misfits(accounting.watched(net)).where(has_cells(columns.key))
    try:
        _commit(this, rows, count, columns)
    except _NotPlain as reason:
        log.info(str(reason))
        return None
    except Py4JJavaError as failure:
        if _SEVERAL not in str(failure.java_exception):
            raise
        return None  # the counts show it as well, and then it is told what is wrong
    # Nothing was asked where somebody else had done the work meanwhile.
    return _done(this, found) if found else committed_earlier(this.table, this.order)


def _merged_when_counted(this: _Merge, net: DataFrame, before: Columns) -> Committed:
    """Merge the changes after everything about them is known. Refuses where they are not what the manifests say."""
    (rows, found), said = _looked_through(this, net, before), this.order.columns
    seen = without_column(observed_misfits(exploded(rows, before.key), said), before) if found["misfits"] else []
    # With room for every attribute and nested field that has none.
    columns = grown(before, Profile.of(placed(seen, before)), said) if seen else before
    if columns != before:
        rows, found = _looked_through(this, _with_outcomes(this, columns), columns)
    misfits: list[dict[str, Any]] = []
    if found["misfits"]:
        unfit = exploded(rows, before.key)
        check_contradictions(unfit, said)
        misfits = listed_misfits(unfit, columns)
    # Not before nothing can refuse the changes any more.
    without_former_partitions(this.table, this.metadata)
    if columns != before:
        this.table.evolve(columns)
    _commit(this, rows, lambda: found, columns)
    return replace(_done(this, found), misfits=misfits, new_columns=new_columns(before, columns, seen))


def _looked_through(this: _Merge, net: DataFrame, columns: Columns) -> tuple[DataFrame, dict[str, int]]:
    """The changes with their misfits, and their counts."""
    columns = as_said(columns, this.order.columns)
    rows = this.keep(looked_through(net, columns.all))
    found = accounting.counted(rows)
    suspected = Suspected(
        this.spark, this.order, this.exports, lambda of: changes.readable(of, columns, this.protection), columns.key
    )
    check_changes(suspected, found, rows)
    return rows, found


def _commit(this: _Merge, whole: DataFrame, count: Callable[[], Mapping[str, int]], columns: Columns) -> None:
    """Merge whole rows, with their counts in the same commit. `count` is not asked where the work is done already."""

    def say() -> dict[str, str]:
        found = count()
        if found[changes.LOSES]:
            this.lost.look_for(found[changes.LOSES])
        billed = sum(export.manifest.billed_bytes for export in this.exports)
        return marker_of(this.order, _counts(this, found), billed, fingerprint=this.protection.fingerprint)

    whole.createOrReplaceTempView(_VIEW)
    try:
        committed(this.table, this.order, lambda: _run_unless_done(this, columns, say))
    finally:
        this.spark.catalog.dropTempView(_VIEW)


def _done(this: _Merge, found: Mapping[str, int]) -> Committed:
    """What the job has committed."""
    summary = this.table.summary()
    if summary.get(JOB_ID) != this.order.job_id:
        if not (mine := commit_of(this.table.metadata(), this.order.job_id)):
            return committed_earlier(this.table, this.order)  # somebody else has done the same meanwhile
        summary = mine[0]["summary"]  # somebody has committed since
    counts, differences = _counts(this, found), this.images.differences
    return Committed(counts, continuity=continuity(counts, summary), differences=differences, removed=this.lost.found)


def _counts(this: _Merge, found: Mapping[str, int]) -> dict[str, int]:
    """The counts that the commit carries."""
    return {**accounting.of_commit(found), **this.images.counts}


def _run_unless_done(this: _Merge, columns: Columns, say: Callable[[], Mapping[str, str]]) -> None:
    """Whoever has committed until now is seen here; whoever commits from here on makes the statement fail."""
    keys = this.changed()  # which may be waited for, while others commit
    if not is_done(read_table_state(metadata := this.table.metadata()), this.order):
        share_writing(this.spark)
        take_gone_ids(this.spark, this.table, metadata)
        with last_word(this.spark, unless_overtaken(this.table, this.order, say)):
            this.spark.sql(merge_statement(this.table.sql_name, _VIEW, columns, keys, this.order), keys.arguments)
