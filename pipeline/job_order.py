"""What a Spark job is asked to do: one frozen value, sent as one argument of the entry point.

PrepareJob writes it, the job reads it, the replay builds it by hand. The exports' windows are not repeated here: the job
reads them from the manifests, which are the truth, and holds them against what the order expects.
"""

from __future__ import annotations

import json
import os.path
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipeline.columns.declared.overrides import NO_OVERRIDES, Overrides
from pipeline.identity import KeyAttribute, SourceTable
from pipeline.instants import format_instant, parse_instant
from pipeline.job_kinds import BACKFILL, JOBS, MAINTAIN
from pipeline.settings import TableSettings

#: EMR Serverless takes entry point arguments of up to 10,280 characters (botocore's model of StartJobRun).
LONGEST_ARGUMENT = 10_280


@dataclass(frozen=True)
class JobOrder:
    """One job: what to read, into which table, and under which id.

    `job_id` names the work, not the try: a job whose id is already in the table does nothing and ends well.
    `table` is ``catalog.database.table``. `exports` are the URIs of manifest summaries, in the order of their windows.
    `start` and `end`: for load and verify both are the export time; for merge and backfill the bounds of the touching windows;
    for maintain both are the watermark.
    `report_uri` is where the job writes its report (JSON), whether it committed or refused, and `client_token` names the try
    there; "" where there is none.
    `columns`: what the settings say of columns; of an order that names a `columns_file` the job reads it there
    (`pipeline.columns.declared.columns_file`). `compare_old_images`: a merge compares them with the table's rows.
    `snapshot_days`: how many days before the watermark can still be looked at after maintenance.
    """

    job: str
    job_id: str
    table: str
    source: SourceTable
    exports: tuple[str, ...]
    start: datetime
    end: datetime
    buckets: int
    report_uri: str
    columns: Overrides = NO_OVERRIDES
    columns_file: str = ""
    compare_old_images: bool = False
    snapshot_days: int = TableSettings.snapshot_days
    client_token: str = ""

    def __post_init__(self) -> None:
        """Refuse an order no job could carry out."""
        if self.job not in JOBS:
            raise ValueError(f"job is {self.job!r}; allowed are {', '.join(JOBS)}")
        if bool(self.exports) is (self.job == MAINTAIN):
            raise ValueError("a job order names at least one export, but for maintenance, which has none")

    @property
    def mends(self) -> bool:
        """Whether rows of the change's own write time are written anew, too: somebody may have changed their other columns."""
        return self.job == BACKFILL

    def to_arguments(self) -> list[str]:
        """Write the order as the entry point's arguments: one JSON text, in ASCII.

        Java stands between: where its machine says nothing of a locale, it hands on ``?`` for every byte that is no ASCII.
        """
        text = json.dumps(self.to_json(), separators=(",", ":"))
        if len(text) > LONGEST_ARGUMENT:
            raise ValueError(f"the order takes {len(text)} characters, EMR Serverless takes {LONGEST_ARGUMENT}")
        return [text]

    def to_json(self) -> dict[str, Any]:
        """Write the order as plain JSON values.

        What all exports' URIs begin with is written once: 36 of them with the longest table name would be too much.
        """
        root = os.path.commonprefix(self.exports)  # noqa: RUF071 - texts, of which any common part may be cut off
        return {
            "job": self.job,
            "job_id": self.job_id,
            "table": self.table,
            "source_arn": self.source.arn,
            "source_id": self.source.id,
            "key": [str(part) for part in self.source.key],
            "exports_root": root,
            "exports": [export[len(root) :] for export in self.exports],
            "start": format_instant(self.start),
            "end": format_instant(self.end),
            "buckets": self.buckets,
            "report_uri": self.report_uri,
            "columns": self.columns_file or self.columns.to_json(),
            "compare_old_images": self.compare_old_images,
            "snapshot_days": self.snapshot_days,
            "client_token": self.client_token,
        }

    @classmethod
    def from_arguments(cls, arguments: list[str]) -> JobOrder:
        """Read what `to_arguments` wrote. Raises ValueError, KeyError or TypeError for anything else."""
        if len(arguments) != 1:
            raise ValueError(f"expected one argument, the order as JSON; got {len(arguments)}")
        raw = json.loads(arguments[0])
        key = tuple(KeyAttribute.parse(part) for part in raw["key"])
        columns = raw["columns"]
        in_file = isinstance(columns, str)
        return cls(
            job=raw["job"],
            job_id=raw["job_id"],
            table=raw["table"],
            source=SourceTable(arn=raw["source_arn"], id=raw["source_id"], key=key),
            exports=tuple(raw["exports_root"] + export for export in raw["exports"]),
            start=parse_instant(raw["start"]),
            end=parse_instant(raw["end"]),
            buckets=raw["buckets"],
            report_uri=raw["report_uri"],
            columns=NO_OVERRIDES if in_file else Overrides.parse(columns),
            columns_file=columns if in_file else "",
            compare_old_images=raw["compare_old_images"],
            snapshot_days=raw["snapshot_days"],
            client_token=raw["client_token"],
        )
