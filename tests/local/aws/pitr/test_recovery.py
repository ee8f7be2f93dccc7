"""Point-in-time recovery on the running local AWS: what it says, and that its journal misses no write."""

from datetime import timedelta

import pytest

pytestmark = pytest.mark.local_aws


def images(records):
    """(old total, new total) by partition key; None where there is no image."""

    def total(record, name):
        return record.get(name, {}).get("total", {}).get("N")

    return {record["Keys"]["pk"]["S"]: (total(record, "OldImage"), total(record, "NewImage")) for record in records}


def test_recovery_is_off_until_it_is_switched_on(aws, source):
    source.switch_recovery(False)
    answer = aws.client("dynamodb").describe_continuous_backups(TableName="orders")["ContinuousBackupsDescription"]
    assert answer == {
        "ContinuousBackupsStatus": "ENABLED",
        "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
    }


def test_the_restorable_range_begins_where_recovery_was_switched_on_and_trails_the_present(aws, source):
    first = source.recovery()
    assert first["EarliestRestorableDateTime"] == first["LatestRestorableDateTime"]
    assert first["PointInTimeRecoveryStatus"] == "ENABLED"
    assert first["RecoveryPeriodInDays"] == 35
    now = aws.advance(3600)
    later = source.recovery()
    assert later["EarliestRestorableDateTime"] == first["EarliestRestorableDateTime"]
    assert abs(now - timedelta(seconds=300) - later["LatestRestorableDateTime"]) < timedelta(seconds=5)
    assert later["LatestRestorableDateTime"].microsecond == 0
    aws.set_knobs(restorable_lag_seconds=0)
    assert source.recovery()["LatestRestorableDateTime"] > later["LatestRestorableDateTime"]


def test_history_older_than_the_recovery_period_is_gone(aws, source):
    source.switch_recovery(True, RecoveryPeriodInDays=2)
    now = aws.advance(5 * 86_400)
    earliest = source.recovery()["EarliestRestorableDateTime"]
    assert timedelta(0) <= earliest - (now - timedelta(days=2)) < timedelta(seconds=5)
    assert source.switch_recovery(True)["RecoveryPeriodInDays"] == 2


def test_off_and_on_again_begins_a_new_history(aws, source, refusal):
    aws.advance(3600)
    source.switch_recovery(False)
    assert source.switch_recovery(True)["EarliestRestorableDateTime"] > source.at(59)
    aws.advance(3600)
    code, message = refusal(source.window, 30, 90)
    assert code == "InvalidExportTimeException"
    assert "less than the table creation time" in message


def test_calls_about_recovery_that_are_refused(aws, source, refusal):
    dynamodb = aws.client("dynamodb")
    assert refusal(dynamodb.describe_continuous_backups, TableName="nosuch")[0] == "TableNotFoundException"
    assert refusal(source.switch_recovery, False, RecoveryPeriodInDays=5)[0] == "ValidationException"
    assert refusal(source.switch_recovery, True, RecoveryPeriodInDays=36)[0] == "ValidationException"


def test_the_journal_sees_every_way_of_writing(aws, source):
    dynamodb = aws.client("dynamodb")

    def key(pk):
        return {"pk": {"S": pk}, "sk": {"N": "1"}}

    def item(pk, total):
        return {**key(pk), "total": {"N": total}}

    for pk in ("updated", "deleted", "batched", "transacted", "stated", "unstated", "rolled-back", "same"):
        source.put(pk, total={"N": "1"})
    aws.advance(1200)
    source.put("put", total={"N": "1"})
    source.put("same", total={"N": "1"})
    dynamodb.update_item(
        TableName="orders",
        Key=key("updated"),
        UpdateExpression="SET #total = #total + :one",
        ExpressionAttributeNames={"#total": "total"},
        ExpressionAttributeValues={":one": {"N": "1"}},
    )
    source.delete("deleted")
    source.delete("never-there")
    dynamodb.batch_write_item(
        RequestItems={
            "orders": [{"PutRequest": {"Item": item("batched", "2")}}, {"PutRequest": {"Item": item("new", "2")}}]
        }
    )
    dynamodb.transact_write_items(
        TransactItems=[
            {"Put": {"TableName": "orders", "Item": item("by-transaction", "3")}},
            {"Delete": {"TableName": "orders", "Key": key("transacted")}},
        ]
    )
    insert = "INSERT INTO orders VALUE {'pk': 'inserted', 'sk': 1, 'total': 4}"
    dynamodb.execute_statement(Statement=insert)
    dynamodb.execute_statement(Statement="UPDATE orders SET total = 5 WHERE pk = 'stated' AND sk = 1")
    dynamodb.execute_statement(Statement="DELETE FROM orders WHERE pk = 'unstated' AND sk = 1")
    with pytest.raises(dynamodb.exceptions.TransactionCanceledException):
        dynamodb.execute_transaction(
            TransactStatements=[
                {"Statement": "INSERT INTO orders VALUE {'pk': 'never', 'sk': 1, 'total': 9}"},
                {"Statement": insert},
            ]
        )
    aws.advance(1200)

    assert images(source.records(source.window(18, 38))) == {
        "put": (None, "1"),
        "updated": ("1", "2"),
        "deleted": ("1", None),
        "batched": ("1", "2"),
        "new": (None, "2"),
        "by-transaction": (None, "3"),
        "transacted": ("1", None),
        "inserted": (None, "4"),
        "stated": ("1", "5"),
        "unstated": ("1", None),
    }


def test_what_was_in_the_table_before_recovery_was_on_is_in_full_exports_and_in_no_window(aws, source):
    source.switch_recovery(False)
    source.put("early", total={"N": "1"})
    source.enabled_at = source.switch_recovery(True)["EarliestRestorableDateTime"]
    aws.advance(1800)
    full = source.full(ExportTime=source.at(0))
    assert [record["Item"]["pk"]["S"] for record in source.records(full)] == ["early"]
    assert source.records(source.window(0, 20)) == []


def test_windows_that_touch_lead_from_a_full_export_to_the_table(aws, source):
    for number in range(40):
        source.put(f"p{number % 7}", number, total={"N": str(number)})
    aws.advance(1500)
    for number in range(0, 40, 3):
        source.delete(f"p{number % 7}", number)
        source.put(f"q{number % 5}", number, total={"N": "0"})
    aws.advance(1500)
    for number in range(0, 40, 2):
        source.put(f"p{number % 7}", number, total={"N": "-1"}, more={"SS": ["b", "a"]})
    aws.advance(1500)

    rows = {}
    for record in source.records(source.full(ExportTime=source.at(20))):
        rows[record["Item"]["pk"]["S"], record["Item"]["sk"]["N"]] = record["Item"]
    for start, end in ((20, 40), (40, 55), (55, 70)):
        for record in source.records(source.window(start, end, view="NEW_IMAGE")):
            key = record["Keys"]["pk"]["S"], record["Keys"]["sk"]["N"]
            assert "OldImage" not in record
            rows.pop(key, None)
            if "NewImage" in record:
                rows[key] = record["NewImage"]

    def comparable(item):
        return {name: sorted(value["SS"]) if "SS" in value else value for name, value in item.items()}

    items = aws.client("dynamodb").scan(TableName="orders")["Items"]
    assert {(i["pk"]["S"], i["sk"]["N"]): comparable(i) for i in items} == {k: comparable(i) for k, i in rows.items()}


def test_overlapping_windows_set_the_ghost_row_trap(aws, source):
    aws.advance(18 * 60)
    source.put("ghost")
    aws.advance(10 * 60)
    source.delete("ghost")
    aws.advance(10 * 60)
    assert list(images(source.records(source.window(0, 20)))) == ["ghost"]
    assert source.records(source.window(15, 35)) == []
