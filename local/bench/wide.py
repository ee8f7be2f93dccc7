"""Items of many attributes, to see what width costs: the same kinds of values, fifteen or fifteen hundred to an item."""

from __future__ import annotations

import random

from local.bench.orders import key

NARROW, WIDE = 15, 1_500


def item(attributes: int, number: int) -> str:
    """An item of so many attributes besides its key, as DynamoDB JSON: by turns a text, a whole number, an amount."""
    r = random.Random(number)  # noqa: S311 - test data, not a secret
    values = (
        f'"attribute {i}":' + (f'{{"S":"{x:012x}"}}', f'{{"N":"{x}"}}', f'{{"N":"{x // 100}.{x % 9 + 1}"}}')[i % 3]
        for i, x in enumerate(r.getrandbits(40) for _ in range(attributes))
    )
    return f"{{{key(number)},{','.join(values)}}}"
