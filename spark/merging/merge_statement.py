"""The statement that merges: Iceberg's own MERGE, of whole rows by key."""

from __future__ import annotations

from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.names import MISFITS, WRITE_TIME
from pipeline.job_order import JobOrder
from spark.merging.changes import DELETED
from spark.merging.key_filter import KeyFilter
from spark.rows.table_rows import cells


def merge_statement(table: str, view: str, columns: Columns, changed: KeyFilter, order: JobOrder) -> str:
    """Merge a view of net changes into a table, whole rows by key. Every name in it is the table's own, and has no quote.

    It is run with the arguments of the filter of the keys that have changed.
    A row with the change's write time is that change already; the rest of such a row need not be read or written, but where
    the order `mends`.
    """
    made = {**cells(columns), WRITE_TIME: f"`{WRITE_TIME}`", MISFITS: f"`{MISFITS}`"}
    key = [field.name for field in columns.key]
    same_item = " AND ".join(
        [*(f"t.`{name}` = c.`{name}`" for name in key), *changed.conditions([f"t.`{name}`" for name in key])]
    )
    assignments = ", ".join(f"`{name}` = c.{cell}" for name, cell in made.items())
    listed, values = ", ".join(f"`{name}`" for name in made), ", ".join(f"c.{cell}" for cell in made.values())
    # A change always has a write time.
    is_another = "" if order.mends else f"AND NOT t.`{WRITE_TIME}` <=> c.`{WRITE_TIME}`"
    return f"""
        MERGE INTO {table} t USING {view} c ON {same_item}
        WHEN MATCHED AND c.`{DELETED}` THEN DELETE
        WHEN MATCHED {is_another} THEN UPDATE SET {assignments}
        WHEN NOT MATCHED AND NOT c.`{DELETED}` THEN INSERT ({listed}) VALUES ({values})
    """  # noqa: S608 - no name in it comes from data
