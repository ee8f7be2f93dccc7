"""The names by which the stack, the functions and the jobs find the same things: folders of the bucket, parameters. Pure."""

from __future__ import annotations

#: Folders of the bucket: what DynamoDB exports, the Iceberg tables, the reports of jobs (`pipeline.run_reports`), their logs.
EXPORTS, WAREHOUSE, RUNS, LOGS = "exports", "warehouse", "runs", "logs"
#: A table's parameters, below its path. Its claims are below `CLAIMS`, each by its number.
SETTINGS, CONTROL, LAST_EXPORT_TIME, TOLD, CLAIMS = "settings", "control", "last-export-time", "told", "run"
#: What `CONTROL` may say: whether new work is planned.
RUN, PAUSE = "RUN", "PAUSE"
