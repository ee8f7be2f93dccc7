"""Point-in-time recovery of the account's tables: their journals, and the two calls that show and switch it."""

from typing import Any

from local.aws.clock import CLOCK
from local.aws.knobs import KNOBS
from local.aws.pitr.images import image_of, key_of
from local.aws.pitr.journal import DEFAULT_RECOVERY_DAYS, Journal, RestorableRange
from local.aws.pitr.requests import Refusal
from local.aws.pitr.times import SECOND, epoch_seconds, whole_seconds

Table = dict[str, Any]  # MiniStack's record of a table

# By TableId, so that a table created anew under the same name has no history. Only tables with recovery on have one.
JOURNALS: dict[str, Journal] = {}


def now_micros() -> int:
    """The virtual present."""
    return CLOCK.time_ns() // 1000


def restorable_range(table: Table) -> RestorableRange | None:
    """What of the table's history can be exported now; None while recovery is off. The latest is a whole second."""
    journal = JOURNALS.get(table["TableId"])
    if journal is None:
        return None
    found = journal.restorable(now_micros(), round(KNOBS.restorable_lag_seconds * SECOND))
    return RestorableRange(found.earliest, max(found.earliest, whole_seconds(found.latest)))


def find_table(name: str | None) -> Table:
    """A table of this account and region by name or ARN. Raises Refusal."""
    from ministack.services import dynamodb

    table: Table | None = dynamodb._tables.get(dynamodb._normalize_table_name(name))
    if table is None:
        raise Refusal("TableNotFoundException", f"Table not found: {name}")
    return table


def items_of(table: Table) -> dict[str, str]:
    """Every item of the table now: key text to image text."""
    items = (item for sorted_items in table["items"].values() for item in sorted_items.values())
    return {key_text(table, item): image_of(item) for item in items}


def key_text(table: Table, item: dict[str, Any]) -> str:
    """The key of one of the table's items."""
    return key_of(item, [name for name in (table["pk_name"], table["sk_name"]) if name])


def describe_continuous_backups(data: dict[str, Any]) -> dict[str, Any]:
    """DescribeContinuousBackups. Raises Refusal."""
    return _description(find_table(data.get("TableName")))


def update_continuous_backups(data: dict[str, Any]) -> dict[str, Any]:
    """UpdateContinuousBackups: off ends the history, on begins a new one. Raises Refusal."""
    from ministack.services import dynamodb

    table = find_table(data.get("TableName"))
    asked = data.get("PointInTimeRecoverySpecification") or {}
    enabled, days = bool(asked.get("PointInTimeRecoveryEnabled")), asked.get("RecoveryPeriodInDays")
    if days is not None and not enabled:
        raise Refusal("ValidationException", "RecoveryPeriodInDays cannot be given when recovery is switched off")
    journal = JOURNALS.get(table["TableId"])
    if not enabled:
        JOURNALS.pop(table["TableId"], None)
    elif journal is None:
        _forget_deleted_tables()
        # The whole second it happened in: history starts where DescribeContinuousBackups says it does.
        JOURNALS[table["TableId"]] = Journal(
            whole_seconds(now_micros()), items_of(table), recovery_days=days or DEFAULT_RECOVERY_DAYS
        )
    elif days is not None:
        journal.keep_for(days, now_micros())
    dynamodb._pitr_settings[table["TableName"]] = enabled
    return _description(table)


def _description(table: Table) -> dict[str, Any]:
    """Continuous backups are "enabled" on every table; only the inner status says whether recovery is on."""
    inner: dict[str, Any] = {"PointInTimeRecoveryStatus": "DISABLED"}
    journal, found = JOURNALS.get(table["TableId"]), restorable_range(table)
    if journal is not None and found is not None:
        inner = {
            "PointInTimeRecoveryStatus": "ENABLED",
            "RecoveryPeriodInDays": journal.recovery_days,
            "EarliestRestorableDateTime": epoch_seconds(_rounded_up(found.earliest)),
            "LatestRestorableDateTime": epoch_seconds(max(_rounded_up(found.earliest), found.latest)),
        }
    return {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": inner,
        }
    }


def _rounded_up(micros: int) -> int:
    """To a whole second: an instant before the earliest one would be refused."""
    return -whole_seconds(-micros)


def _forget_deleted_tables() -> None:
    from ministack.services import dynamodb

    existing = {table["TableId"] for table in dynamodb._tables.all_values()}
    for gone in JOURNALS.keys() - existing:
        del JOURNALS[gone]
