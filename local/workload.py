"""A realistic workload for the demo: orders of a shop, written through the ordinary DynamoDB API.

Deterministic: the same seed writes the same items. All ten attribute types occur, items grow and lose attributes,
numbers have up to 38 digits, some attributes appear only later, and a few change their type.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

KEY = ("customer", "order")
_CITIES = ("Lisbon", "Oslo", "Kyoto", "Quito", "Perth", "Zürich", "São Paulo")
_STATES = ("placed", "paid", "packed", "sent", "delivered", "returned")
_BATCH = 25  # BatchWriteItem takes no more


def create_table(dynamodb: Any, name: str) -> None:
    """Create the source table, on demand, with point-in-time recovery on."""
    dynamodb.create_table(
        TableName=name,
        KeySchema=[
            {"AttributeName": KEY[0], "KeyType": "HASH"},
            {"AttributeName": KEY[1], "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": KEY[0], "AttributeType": "S"},
            {"AttributeName": KEY[1], "AttributeType": "N"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    dynamodb.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
    recovery = {"PointInTimeRecoveryEnabled": True}
    dynamodb.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification=recovery)


class Shop:
    """The shop's orders, and what happens to them. `items` is what the source table must hold."""

    def __init__(self, dynamodb: Any, table: str, seed: int = 7) -> None:
        self._dynamodb = dynamodb
        self._table = table
        self._random = random.Random(seed)  # noqa: S311  # test data, not a secret
        self._next = 0
        self._keys: list[dict[str, Any]] = []
        self.writes = {"inserted": 0, "updated": 0, "deleted": 0}

    @property
    def progress(self) -> Any:
        """How far the shop has come, to set again when the table is put back to how it was then."""
        return copy.deepcopy((self._random.getstate(), self._next, self._keys, self.writes))

    @progress.setter
    def progress(self, reached: Any) -> None:
        state, self._next, self._keys, self.writes = copy.deepcopy(reached)
        self._random.setstate(state)

    def open_orders(self, count: int, *, late: bool = False) -> None:
        """Insert `count` new orders; `late` ones carry attributes and types the first ones did not have."""
        requests = [{"PutRequest": {"Item": self._order(late=late)}} for _ in range(count)]
        self._write(requests)
        self.writes["inserted"] += count

    def change_orders(self, count: int) -> None:
        """Update `count` orders: new state and total, sometimes an attribute removed or added or of another type."""
        for key in self._random.sample(self._keys, count):
            sets, values = ["#s = :s", "#t = :t"], {":s": _text(self._random.choice(_STATES)), ":t": self._money()}
            names = {"#s": "order state", "#t": "total"}
            names["#gone"] = self._random.choice(("coupon", "note", "gift"))
            if self._random.random() < 0.1:
                sets.append("#w = :w")
                names["#w"] = "weight"
                values[":w"] = self._random.choice([_number("12.5"), _number("1E-20"), _text("about two kilos")])
            self._dynamodb.update_item(
                TableName=self._table,
                Key=key,
                UpdateExpression=f"SET {', '.join(sets)} REMOVE #gone",
                ExpressionAttributeNames=names,
                ExpressionAttributeValues=values,
            )
        self.writes["updated"] += count

    def delete_orders(self, count: int) -> None:
        """Delete `count` orders."""
        gone = self._random.sample(self._keys, count)
        self._write([{"DeleteRequest": {"Key": key}} for key in gone])
        taken = {id(key) for key in gone}
        self._keys = [key for key in self._keys if id(key) not in taken]
        self.writes["deleted"] += count

    def open_and_delete(self, count: int) -> None:
        """Insert orders and delete them at once: inside one window they leave no trace."""
        before = len(self._keys)
        self.open_orders(count)
        self._write([{"DeleteRequest": {"Key": key}} for key in self._keys[before:]])
        self._keys = self._keys[:before]
        self.writes["deleted"] += count

    def _write(self, requests: list[dict[str, Any]]) -> None:
        for first in range(0, len(requests), _BATCH):
            left = {self._table: requests[first : first + _BATCH]}
            while left:
                left = self._dynamodb.batch_write_item(RequestItems=left).get("UnprocessedItems", {})

    def _order(self, *, late: bool) -> dict[str, Any]:
        key = {"customer": _text(f"c{self._random.randrange(900):04d}"), "order": _number(str(self._next))}
        self._next += 1
        self._keys.append(key)
        return {**key, **dict(self._attributes(late=late))}

    def _attributes(self, *, late: bool) -> Iterator[tuple[str, dict[str, Any]]]:
        r = self._random
        yield "order state", _text(r.choice(_STATES))
        yield "total", self._money()
        yield "paid", {"BOOL": r.random() < 0.7}
        yield "lines", {"L": [self._line() for _ in range(r.randrange(1, 5))]}
        yield "ship.to", {"M": {"city": _text(r.choice(_CITIES)), "Zip-Code": _text(f"{r.randrange(99999):05d}")}}
        yield "tags", {"SS": sorted({r.choice(("new", "vip", "bulk", "ätherisch")) for _ in range(2)})}
        yield "slots", {"NS": sorted({str(r.randrange(24)) for _ in range(3)})}
        yield "label", {"B": r.randbytes(12)}
        yield "seals", {"BS": [r.randbytes(4)]}
        yield ("coupon", {"NULL": True}) if r.random() < 0.5 else ("coupon", _text("SPRING"))
        if r.random() < 0.3:
            yield "note", _text('Leave at the door; `ring` twice "please" 🙂')
        if r.random() < 0.02:
            yield "serial", _number("12345678901234567890123456789012345678")
        if late:
            yield "gift", {"M": {"wrap": {"BOOL": True}, "from": _text("A. Nonymous")}}
            yield "total after tax", self._money()

    def _line(self) -> dict[str, Any]:
        r = self._random
        return {"M": {"sku": _text(f"SKU-{r.randrange(5000)}"), "quantity": _number(str(r.randrange(1, 9)))}}

    def _money(self) -> dict[str, Any]:
        return _number(f"{self._random.randrange(100, 500000) / 100:.2f}")


def _text(value: str) -> dict[str, str]:
    return {"S": value}


def _number(value: str) -> dict[str, str]:
    return {"N": value}
