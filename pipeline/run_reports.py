"""Run reports as a table: the columns of the JSON, a line a job, that jobs leave under ``runs/<source table>/``. Pure.

Registered beside the Iceberg tables (`infra.catalog`), so that the same SQL asks for what became of every record. In
Hive's types, which Athena reads; what a kind of report does not have is null.
"""

from __future__ import annotations

#: How a job ends that its table's commit tells of: by its own, or by one that was there before it looked.
COMMITTED, ALREADY_THERE = "committed", "already_there"
#: How one ends that leaves every row as it was: source and table are equal, or the files are in order.
VERIFIED, MAINTAINED = "verified", "maintained"
#: How one ends that would not, or could not, do its work.
REFUSED = "refused"
#: The name beside the Iceberg tables; none of them may have it.
TABLE = "tidemark_runs"
#: The source table's name, which is the folder's.
PARTITION = "source"
_COUNTED = "count:bigint,example:string"
COLUMNS = {
    "job_id": "string",
    "job": "string",
    "table": "string",
    "start": "string",
    "end": "string",
    "outcome": "string",
    "watermark": "string",
    "snapshot_id": "bigint",
    "counts": "map<string,bigint>",
    "new_columns": f"array<struct<column:string,path:string,type:string,{_COUNTED}>>",
    "changed_columns": f"array<struct<column:string,path:string,before:string,after:string,{_COUNTED}>>",
    "misfits": f"array<struct<path:string,type:string,{_COUNTED}>>",
    "removed_attributes": f"array<struct<path:string,{_COUNTED}>>",
    "continuity": "string",
    "differences": "array<struct<key:string,found:string,values:array<struct<path:string,source:string,table:string>>>>",
    "result": "string",
    "error": "string",
    "message": "string",
    "remedy": "string",
    "passes": "int",
    "seconds": "double",
    "client_token": "string",
}
