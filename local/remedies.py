"""What a person does about an error of a job on a local table: no schedule tries again there, and nothing is deployed."""

from __future__ import annotations

from pipeline.errors import PipelineError

_NEWER_FULL = (
    "Put a full export into the folder that is newer than the table and every window there: a replay makes the table anew "
    "from it."
)
_ANEW = "Remove the table's folder from the warehouse, and replay again: that makes the table anew from a full export."
_MIRROR_AGAIN = (
    "Mirror the export bucket into the folder again: what lies there is not what DynamoDB wrote. Where the bucket itself "
    f"holds it like that: {_NEWER_FULL}"
)
#: By the error's name: every one that a job, or who looks at a local table, raises.
REMEDIES = {
    "ManifestUnreadable": _MIRROR_AGAIN,
    "DataFileMissing": _MIRROR_AGAIN,
    "ChecksumMismatch": _MIRROR_AGAIN,
    "CountMismatch": _MIRROR_AGAIN,
    "UnreadableLine": _MIRROR_AGAIN,
    "Gap": f"Put the export of the missing stretch into the folder. Where there is none: {_NEWER_FULL}",
    "Overlap": "Take the overlapping export out of the folder, and replay again.",
    "OtherTable": (
        "Give a folder with exports of the source table that the table follows; for another, name another table or warehouse."
    ),
    "OtherTableId": (
        "Name another table or warehouse: a source table that was created anew is another one. Or give a folder with exports "
        "of the one that the table follows."
    ),
    "FilteredExport": "Take the export out of the folder, and replay again.",
    "UnknownFormat": "Take the export out of the folder. Export it again as DYNAMODB_JSON, a full export at a whole second.",
    "KeyMismatch": "Check --key: every attribute of the source table's key with its type, the partition key first.",
    "KeyDoesNotFit": _NEWER_FULL,
    "ConflictingChanges": _NEWER_FULL,
    "OverrideContradicted": (
        "Take the declared type back in the file that --columns names, or declare one that holds the values: string for all "
        "scalars, json for all containers."
    ),
    "RebuildNeeded": f"Say of columns what was said before (--columns). Or: {_NEWER_FULL}",
    "PartitionsKept": "Remove the tags and branches that the message names, and replay again.",
    "PropertyUnfit": "Take the property back that the message names, and replay again.",
    "HashSecretUnfit": "Put a random text of 16 bytes or more into the environment variable TIDEMARK_HASH_SECRET.",
    "VerificationFailed": _ANEW,
    "SettingRefused": "Correct the file that --columns names, and start it again.",
    "WatermarkMissing": "Name a table that a replay has made, or one that does not exist yet.",
    "TableFilesMissing": _ANEW,
    "WatermarkAhead": _NEWER_FULL,
    "WatermarkNotCommitted": "Find out who else writes the table, then replay again.",
    "TableContended": "Find out who else writes the table, then replay again.",
    "TableGone": "Find out who has removed the table, then replay again.",
}


def told(error: PipelineError) -> str:
    """An error as a person reads it who has a folder, a table and a command line.

    What the error itself says to do is kept where it was raised for just this. Its notes follow.
    """
    said = error.remedy if error.remedy != error.default_remedy else REMEDIES.get(error.name, error.remedy)
    return "\n".join([f"{error.name}: {error.message}", f"To do: {said}", *getattr(error, "__notes__", ())])
