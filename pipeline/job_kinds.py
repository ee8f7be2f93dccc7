"""The kinds of job there are, by the names that orders, markers and reports carry. Pure."""

from __future__ import annotations

#: load: replace the table's content by a full export. merge: apply windows that start at the watermark.
#: backfill: apply windows that end at the watermark once more. verify: compare the table with a full export.
#: maintain: put the files of the table in order.
LOAD, MERGE, BACKFILL, VERIFY, MAINTAIN = "load", "merge", "backfill", "verify", "maintain"
JOBS = (LOAD, MERGE, BACKFILL, VERIFY, MAINTAIN)
