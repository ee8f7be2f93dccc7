"""Tables' metadata files, as far as snapshots and what they say of themselves go."""

from __future__ import annotations

from pipeline.table.marker import SNAPSHOT, Marker
from tests.pipeline.world import ARN, at

FIRST = Marker(at("10:00"), at("10:00"), "load", "job-1", ARN, "id-of-orders", {"read": 3, "inserted": 3})
SECOND = Marker(at("11:00"), at("10:00"), "merge", "job-2", ARN, "id-of-orders", {"read": 1, "updated": 1})
COMPACTION = {"operation": "replace"}


def metadata(*summaries: dict[str, str], current: int | None = None, **properties: str) -> dict[str, object]:
    """A metadata file whose snapshots 1, 2, … follow each other; `current` is where main points, the newest by default."""
    snapshots = [{"snapshot-id": n, "summary": summary} for n, summary in enumerate(summaries, start=1)]
    for snapshot in snapshots[1:]:
        snapshot["parent-snapshot-id"] = snapshot["snapshot-id"] - 1
    head = len(snapshots) if current is None else current
    return {
        "format-version": 2,
        "current-snapshot-id": head,
        "refs": {"main": {"snapshot-id": head, "type": "branch"}},
        "snapshots": snapshots,
        "properties": {name.replace("_", "."): value for name, value in properties.items()},
    }


def expired(found: dict[str, object], count: int) -> dict[str, object]:
    """The same file after its oldest snapshots have expired; the parent's id stays in the one after them."""
    return {**found, "snapshots": found["snapshots"][count:]}


TWO = metadata(FIRST.to_properties(), SECOND.to_properties())
#: The copy of the marker of snapshot 2.
PROPERTY = {**SECOND.to_properties(), "owner": "tidemark", SNAPSHOT: "2"}
