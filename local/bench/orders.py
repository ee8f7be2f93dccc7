"""The benchmark's orders: about 700 bytes an item, of all ten types, and the changes they undergo.

Deterministic: an order is made of its number and its version alone, so any part of the table can be written by any
process, and the change stream knows every old image without keeping it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count
from math import gcd

from pipeline.identity import KeyAttribute

KEY = (KeyAttribute("customer", "S"), KeyAttribute("order", "N"))
#: Of the changes, every tenth inserts and every tenth deletes; the others update.
_INSERTS, _DELETES = 0, 1
_STATES = ("placed", "paid", "packed", "sent", "delivered", "returned")
_CITIES = ("Lisbon", "Oslo", "Kyoto", "Quito", "Perth", "Zürich", "São Paulo")


def key(number: int) -> str:
    """The key of an item, as members of DynamoDB JSON."""
    return f'"customer":{{"S":"c{number % 9973:06d}"}},"order":{{"N":"{number}"}}'


def order(number: int, version: int = 0) -> str:
    """An order as DynamoDB JSON. All ten types occur; a fiftieth of the orders has an odd value somewhere."""
    r = random.Random(number * 2 + version)  # noqa: S311 - test data, not a secret
    x = r.getrandbits(62)
    lines = ",".join(
        f'{{"M":{{"sku":{{"S":"SKU-{(x >> i) % 50000:05d}"}},"quantity":{{"N":"{(x >> (i + 3)) % 9 + 1}"}},'
        f'"price":{{"N":"{(x >> i) % 90000 / 100:.2f}"}}}}}}'
        for i in range(1 + x % 3)
    )
    rare = ',"note":{"S":"Leave at the door; `ring` twice \\"please\\""}' if x % 10 == 0 else ""
    weight = '{"S":"about two kilos"}' if x % 50 == 0 else f'{{"N":"{(x >> 7) % 5000 / 100:g}"}}'
    return (
        f'{{{key(number)},"order state":{{"S":"{_STATES[(x >> 9) % 6]}"}},"total":{{"N":"{(x >> 5) % 5000000 / 100:.2f}"}}'
        f',"paid":{{"BOOL":{"true" if x & 1 else "false"}}},"lines":{{"L":[{lines}]}}'
        f',"ship.to":{{"M":{{"city":{{"S":"{_CITIES[(x >> 11) % 7]}"}},"Zip-Code":{{"S":"{(x >> 13) % 99999:05d}"}}'
        f',"street":{{"S":"{x:019d} Long Street"}}}}}},"tags":{{"SS":["new","vip{x % 7}"]}}'
        f',"slots":{{"NS":["{x % 24}","{24 + x % 5}"]}}'
        f',"label":{{"B":"{x:016x}"}},"seals":{{"BS":["{x % 65536:04x}"]}},"coupon":{{"NULL":true}},"weight":{weight}'
        f',"version":{{"N":"{version}"}},"created":{{"N":"{1760000000 + number}"}},"trace":{{"S":"{x:032x}"}}{rare}}}'
    )


def changes(items: int, first: int, end: int, begin_micros: int) -> Iterator[str]:
    """The changes `first` to `end` of a table of `items` orders, each of another order, spread over all of it.

    `begin_micros`: the write time of change `first`, in microseconds; each is a millisecond after the one before.
    """
    for change in range(first, end):
        kind = change % 10
        number = items + change if kind == _INSERTS else change * _stride(items) % items
        old = "" if kind == _INSERTS else f',"OldImage":{order(number)}'
        new = "" if kind == _DELETES else f',"NewImage":{order(number, 1)}'
        micros = begin_micros + 1_000 * (change - first)
        yield f'{{"Metadata":{{"WriteTimestampMicros":{{"N":"{micros}"}}}},"Keys":{{{key(number)}}}{old}{new}}}'


def merge_statement(table: str, changes: str, columns: Sequence[str]) -> str:
    """One MERGE of a view of net changes: ``key_<name>`` for the key, ``is_deleted``, and whole rows."""
    same = " AND ".join(f"t.`{part.name}` = c.`key_{part.name}`" for part in KEY)
    assignments = ", ".join(f"t.`{name}` = c.`{name}`" for name in columns)
    listed, values = ", ".join(f"`{name}`" for name in columns), ", ".join(f"c.`{name}`" for name in columns)
    return f"""
        MERGE INTO {table} t USING {changes} c ON {same}
        WHEN MATCHED AND c.is_deleted THEN DELETE
        WHEN MATCHED THEN UPDATE SET {assignments}
        WHEN NOT MATCHED AND NOT c.is_deleted THEN INSERT ({listed}) VALUES ({values})
    """  # noqa: S608 - the names are the benchmark's own


@cache
def _stride(items: int) -> int:
    """From one changed order to the next: a good part of the table, and without a divisor in common with its size."""
    return next(stride for stride in count(round(items * 0.618)) if gcd(stride, items) == 1)
