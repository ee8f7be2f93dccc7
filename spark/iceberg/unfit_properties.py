"""What somebody has set of a table and Iceberg does not take: found once a job has failed of it.

Iceberg lets every value in, and looks at most of them only where it reads or writes, some in the tasks of a job.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import IllegalArgumentException, NumberFormatException, PySparkException

from pipeline.errors import PropertyUnfit
from spark.iceberg.properties import first_properties
from spark.iceberg.table import Table

#: What the properties begin with that say how a table is read and written.
_SAY_HOW = ("commit.", "history.", "read.", "write.")
#: Values that are taken nearly everywhere, and may stand in what is said of anything else, as nothing at all does.
_TAKEN = re.compile(r"(true|false|[1-9][0-9]*)?")
#: What is raised of a value that is not taken, and what it says.
_NOT_TAKEN = re.compile(r"(?:IllegalArgument|NumberFormat)Exception: (.*)")


def unfit_property(table: Table, failure: Exception) -> PropertyUnfit | None:
    """The refusal of a property of the table that a failure is about; None for other failures."""
    said = _said(failure)
    if not said:
        return None
    try:
        properties = table.metadata().get("properties", {})
    except (Py4JError, PySparkException):
        return None  # there is something else, and the first failure tells of it
    ours = first_properties({})
    for key, value in _set_by_somebody(properties, ours).items():
        if re.search(rf"(?<![\w-]){re.escape(value)}(?!\w)", said, re.IGNORECASE):
            mended = f"SET TBLPROPERTIES ('{key}' = '{ours[key]}')" if key in ours else f"UNSET TBLPROPERTIES ('{key}')"
            return PropertyUnfit(
                f"{table.name} cannot be read or written as its property {key} says, which is {value}: {said.splitlines()[0]}",
                f"In a Spark shell on the tables: ALTER TABLE {table.sql_name} {mended}, then start a run.",
            )
    return None


def _set_by_somebody(properties: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, str]:
    suspects = {key: value for key, value in properties.items() if key.startswith(_SAY_HOW) and value != ours.get(key)}
    return {key: value for key, value in suspects.items() if not _TAKEN.fullmatch(value)}


def _said(failure: Exception) -> str:
    """What a failure says of a value that was not taken; empty for other failures."""
    if isinstance(failure, (IllegalArgumentException, NumberFormatException)):
        return str(failure)
    return "\n".join(_NOT_TAKEN.findall(str(failure))) if isinstance(failure, Py4JJavaError) else ""
