"""The Iceberg table of a job: its state, its columns, and the commits that are not Spark's own.

Through Iceberg's Java API, so that attribute names never pass through SQL, and what belongs together is one commit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.columns.in_table.description import description, is_described_by_path
from pipeline.columns.in_table.field_ids import columns_at, field_ids, fields_made_ready
from pipeline.columns.in_table.table_columns import Columns, check_names_free, columns_of
from pipeline.columns.names import REPLACEMENT
from pipeline.columns.rebuild import Target
from pipeline.job_order import JobOrder
from pipeline.table.marker import LOADING, SNAPSHOT, TableState, marker_copied, read_table_state
from spark.iceberg.new_fields import add_fields
from spark.iceberg.properties import first_properties
from spark.iceberg.schemas import optional, table_schema
from spark.iceberg.updates import set_properties, without_columns
from spark.java import causes, iceberg_metadata, iceberg_schema, string_map

MAIN = "main"
#: What Iceberg raises where there is no table, and where what bears its name is none of Iceberg's.
_NO_TABLE = {"NoSuchTableException", "NoSuchIcebergTableException"}
#: Branches of loads begin with this; the rest of the name belongs to the Spark application.
_BRANCH = "tidemark_load_"


class Table:
    """The table that an order names, which may not exist yet."""

    def __init__(self, spark: SparkSession, order: JobOrder) -> None:
        self._spark, self._order = spark, order
        catalog, _, name = order.table.partition(".")
        self._catalog = self._iceberg.spark.Spark3Util.loadIcebergCatalog(spark._jsparkSession, catalog)
        self._identifier = self._iceberg.catalog.TableIdentifier.parse(name)
        self.name = order.table
        self.sql_name = ".".join(f"`{part}`" for part in order.table.split("."))
        #: The ids of the columns and nested fields that the table got by this object.
        self._added: frozenset[int] = frozenset()
        #: Whose metadata were read last: the table's id, and the file.
        self.last_read = ("", "")
        self._metadata: Mapping[str, Any] = {}

    def metadata(self) -> Mapping[str, Any]:
        """The table's current metadata, as Iceberg writes it in JSON; empty where there is no table."""
        try:
            table = self.java()
        except Py4JJavaError as failure:
            # Asking whether it exists would read its metadata once more, each time.
            if not _NO_TABLE.isdisjoint(causes(failure)):
                return {}
            raise
        # Of a table with a week of commits they take a tenth of a second, and a merge asks five times for two of them.
        current = table.operations().current()
        whose = str(current.uuid()), str(current.metadataFileLocation())
        if whose != self.last_read:
            self.last_read, self._metadata = whose, iceberg_metadata(self._spark, table)
        return self._metadata

    def state(self) -> TableState:
        """What the table says of itself now."""
        return read_table_state(self.metadata())

    def columns(self) -> Columns:
        """The table's columns now."""
        return columns_of(self.metadata(), self._order.source.key)

    def columns_at(self, snapshot_id: int) -> Columns:
        """The columns that the table had at a snapshot, by the names that they have now."""
        return columns_at(self.metadata(), snapshot_id, self._order.source.key)

    def rows_at(self, snapshot_id: int) -> DataFrame:
        """The rows that the table showed at a snapshot, whatever is committed meanwhile; in the columns that it has now."""
        return self._spark.read.option("snapshot-id", snapshot_id).table(self.sql_name)

    def summary(self) -> Mapping[str, str]:
        """The summary of the newest snapshot of `MAIN`; empty where there is none."""
        snapshot = self.java().snapshot(MAIN)
        return dict(snapshot.summary()) if snapshot else {}

    def snapshot_id(self) -> int:
        """The id of the newest snapshot of `MAIN`; -1 where there is none."""
        snapshot = self.java().snapshot(MAIN)
        return int(snapshot.snapshotId()) if snapshot else -1

    def create(self, columns: Columns) -> None:
        """Create the table, empty and marked as being loaded; whatever an unfinished load left there is replaced."""
        schema = iceberg_schema(self._spark, table_schema(columns))
        key_ids = self._spark._jvm.java.util.HashSet()
        for field in columns.key:
            key_ids.add(schema.findField(field.name).fieldId())
        schema = self._iceberg.Schema(schema.columns(), key_ids)
        spec = self._iceberg.PartitionSpec.builderFor(schema).bucket(columns.key[0].name, self._order.buckets).build()
        properties = {**first_properties(self.metadata()), LOADING: self._order.job_id}
        transaction = (
            self._catalog.buildTable(self._identifier, schema)
            .withPartitionSpec(spec)
            .withProperties(string_map(self._spark, properties))
            .createOrReplaceTransaction()
        )
        self._describe(transaction, columns)
        transaction.commitTransaction()
        self._refresh()

    def evolve(self, columns: Columns) -> None:
        """Add the columns and nested fields that the table lacks; nothing is changed or removed. One commit.

        Raises TableContended where a name has come to another attribute since the columns were chosen.
        """
        metadata, wanted = self.metadata(), {field.name for field in columns.all}
        there = columns_of(metadata, self._order.source.key).attributes
        check_names_free(there, columns.attributes)
        transaction = self.java().newTransaction()
        add_fields(self._spark, transaction, columns)
        # What is to be replaced or to go stays described until then: it is what readers see.
        left = tuple(field for field in there if field.name not in wanted)
        self._describe(transaction, replace(columns, attributes=columns.attributes + left))
        transaction.commitTransaction()
        self._added |= field_ids(self.metadata()) - field_ids(metadata)

    def new_branch(self) -> str:
        """Start a branch at `MAIN`'s present state, to write to unseen."""
        self.java().manageSnapshots().createBranch(self._branch).commit()
        return self._branch

    @property
    def _branch(self) -> str:
        return _BRANCH + self._spark.sparkContext.applicationId.replace("-", "_")

    def drop_leftovers(self) -> None:
        """Remove what loads have left behind that died: their branches, and columns that were to replace others."""
        table = self.java()
        transaction = table.newTransaction()
        # A tag of such a name is somebody's, and stays.
        refs = dict(table.refs())
        branches = [name for name, ref in refs.items() if name.startswith(_BRANCH) and ref.isBranch()]
        for branch in branches:
            transaction.manageSnapshots().removeBranch(branch).commit()
        replacements = [column.name() for column in table.schema().columns() if column.name().endswith(REPLACEMENT)]
        without_columns(transaction, replacements).commit()
        if branches or replacements:
            transaction.commitTransaction()

    def withdraw(self) -> None:
        """Take back what this load has made: its branch, whose files become orphans, and columns and nested fields.

        What somebody has committed rows with meanwhile stays. A table that it began stays marked as being loaded.
        """
        metadata = self.metadata()
        if self._branch in metadata.get("refs", {}):
            self.java().manageSnapshots().removeBranch(self._branch).commit()
        if metadata and (unused := fields_made_ready(metadata, self._added)):
            transaction = self.java().newTransaction()
            without_columns(transaction, unused).commit()
            transaction.commitTransaction()
        self._added = frozenset()

    def branch_summary(self, name: str) -> Mapping[str, str]:
        """The summary of a branch's newest snapshot."""
        return dict(self.java().snapshot(name).summary())

    def publish(self, branch: str, target: Target, marker: Mapping[str, str]) -> None:
        """Make a branch the table's content, replacements its columns, in one commit with the marker.

        Fails if `MAIN` has moved since the branch was made.
        """
        transaction = self.java().newTransaction()
        # Each such commit is a schema that the metadata keep: so all of it is one.
        update = without_columns(transaction, target.removed)
        for name in target.replaced:
            update = update.renameColumn(name + REPLACEMENT, name)
        update.commit()
        self._describe(transaction, target.columns)
        transaction.manageSnapshots().fastForwardBranch(MAIN, branch).commit()
        closing = transaction.newAppend()
        for name, value in marker.items():
            closing.set(name, value)
        closing.commit()
        transaction.manageSnapshots().removeBranch(branch).commit()
        newest = transaction.table().snapshot(MAIN).snapshotId()
        set_properties(transaction, {**marker, SNAPSHOT: str(newest), LOADING: ""})
        transaction.commitTransaction()
        self._refresh()

    def replace(self, rows: DataFrame, columns: Columns, marker: Mapping[str, str]) -> None:
        """Replace the table by these rows with these columns, in one commit with the marker; no column is required then.

        For what a branch cannot carry, foremost another key or another type of it (`pipeline.columns.rebuild.Target`).
        """
        writer = rows.to(optional(table_schema(columns))).writeTo(self.sql_name).using("iceberg")
        for name, value in {**first_properties(self.metadata()), **description(columns)}.items():
            writer = writer.tableProperty(name, value)
        for name, value in marker.items():
            writer = writer.option(f"snapshot-property.{name}", value)
        # Spark parses this name twice, the second time without its quotes, and then takes a plain 2 for a number.
        quoted_twice = f"```{columns.key[0].name}```"
        writer.partitionedBy(F.bucket(self._order.buckets, quoted_twice)).createOrReplace()
        self._refresh()

    def remember(self, properties: Mapping[str, str]) -> None:
        """Set properties of the table; an empty value removes one."""
        transaction = self.java().newTransaction()
        set_properties(transaction, properties)
        transaction.commitTransaction()

    def settle(self) -> None:
        """Make the properties say what would not outlive the snapshots.

        That is the marker, and by the ids of fields the names and kinds that `replace`, which knows no ids yet, tells by their
        paths. Mostly nothing is to do.
        """
        metadata = self.metadata()
        copied = marker_copied(metadata)
        is_half_done = is_described_by_path(metadata.get("properties", {}))
        if copied or is_half_done:
            transaction = self.java().newTransaction()
            set_properties(transaction, copied)
            if is_half_done:
                self._describe(transaction, self.columns())
            transaction.commitTransaction()

    def _describe(self, transaction: Any, columns: Columns) -> None:
        schema = json.loads(self._iceberg.SchemaParser.toJson(transaction.table().schema()))
        set_properties(transaction, description(columns, schema))

    def _refresh(self) -> None:
        """Let Spark, whose catalog keeps the tables it has loaded, see what was committed beside it."""
        self.java()

    def java(self) -> Any:
        """The table itself, as it stands in the catalog now."""
        table = self._catalog.loadTable(self._identifier)
        table.refresh()
        return table

    @property
    def _iceberg(self) -> Any:
        return self._spark._jvm.org.apache.iceberg
