"""What the settings say of the columns of all tables, as one file, which the deployment lays down beside the jobs.

Neither a parameter nor a job's argument has room for it: a standard parameter holds 4,096 characters, an argument 10,280,
and the types of 1,500 attributes alone take 40,000.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pipeline.columns.declared.overrides import Overrides


def to_file(columns: Mapping[str, Overrides]) -> str:
    """The file's text, from what is said of the columns of each source table, by its name."""
    return json.dumps({table: said.to_json() for table, said in columns.items() if said.rules}, sort_keys=True)


def from_file(text: bytes, table: str) -> Overrides:
    """What the file says of one source table's columns."""
    return Overrides.parse(json.loads(text).get(table, {}))
