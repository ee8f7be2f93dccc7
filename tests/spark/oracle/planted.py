"""What somebody plants into a table that is its source: differences that the verification must find, and what is none.

What is a difference, `local.compare` says, which shares no code with the verification.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

from pyspark.sql import functions as F

from local.compare import Table, differences, key_text, pointer, row_key
from local.reader import columns, rows
from pipeline.columns.names import MISFITS
from pipeline.errors import VerificationFailed
from tests.spark.oracle.cells import changed, mutable, places, respelled
from tests.spark.oracle.spellings import tagged
from tests.spark.oracle.values import TYPES, Value, value
from tests.spark.shop import Shop, as_written
from tests.spark.verifying import verify_order

Item = Mapping[str, Value]
#: Differences in cells that are planted at once at most: a report shows 20 keys, and rows are planted as well.
_MOST_CHANGED = 15


@dataclass
class Planted:
    """What was planted. Keys are those of `local.compare`."""

    #: By keys, the JSON pointer of the attribute that was changed there, and how.
    changed: dict[str, tuple[str, str]] = field(default_factory=dict)
    #: By keys, what must make no difference.
    respelled: dict[str, str] = field(default_factory=dict)


def wrongly_verified(dice: Random, shop: Shop, at: float, shown: Callable[[Item], Item]) -> list[str]:
    """Plant into a table that shows all that the source held at a minute, verify it, and take it back; what is wrong.

    `shown`: what the table shows of an item.
    """
    before, key = shop.metadata["current-snapshot-id"], tuple(part.name for part in shop.key)
    table, items = columns(shop.table), {key_text(item, key): item for item in map(shown, shop.items(at))}
    found = [mutable(row, shop.table.schema().as_struct()) for row in rows(shop.table)]
    planted, tampered = _plant(dice, found, items, table, key)
    try:
        _write(shop, tampered)
        judged: dict[str, list[str]] = {}
        for one in differences(items.values(), rows(shop.table), table, key):
            judged.setdefault(one.key, []).append(one.path)
        return _held_against(planted, judged, _verified(shop, at, key))
    finally:
        shop.roll_back(before)


def _plant(
    dice: Random, found: Sequence[dict[str, Any]], items: Mapping[str, Item], table: Table, key: tuple[str, ...]
) -> tuple[Planted, list[dict[str, Any]]]:
    """What is planted, a row each, and all rows with it: one is gone, one doubled, one invented, others are changed."""
    planted, tampered = Planted(), dice.sample(list(found), len(found))
    for number, row in enumerate(tampered[3:]):
        text = row_key(row, table, key)
        if number % 2 and len(planted.changed) < _MOST_CHANGED:
            planted.changed[text] = _change(dice, row, items[text], table, key)
        elif done := _respell(dice, row, items[text], table, key):
            planted.respelled[text] = done
    if len(tampered) > 2:
        _, doubled, copied = tampered[:3]
        name = table.columns[dice.choice(key)].name
        tampered = [*tampered[1:], doubled, {**copied, name: _another_key(copied[name])}]
    return planted, tampered


def _another_key(cell: Any) -> Any:
    """Text stays text, and the digits of a number, too."""
    if isinstance(cell, (str, bytes)):
        return cell + ("7" if isinstance(cell, str) else b"7")
    return cell + 10**6


def _change(dice: Random, row: dict[str, Any], item: Item, table: Table, key: tuple[str, ...]) -> tuple[str, str]:
    """Change one place of a row, or one of its misfits: the attribute's pointer, and what was done."""
    if dice.random() < (0.4 if row.get(MISFITS) else 0.1):
        return _change_misfit(dice, row, table, key)
    there = list(places(row, item, table, key))
    held = [place for place in there if place.cell is not None]
    among = held if held and dice.random() < 0.8 else there
    # Every attribute as often: most places are in a few large ones.
    attribute = dice.choice(sorted({place.attribute for place in among}))
    place = dice.choice([place for place in among if place.attribute == attribute])
    was = place.cell
    place.put(changed(dice, place))
    return pointer("", place.attribute), f"{place}: {was!r} becomes {place.cell!r}"


def _change_misfit(dice: Random, row: dict[str, Any], table: Table, key: tuple[str, ...]) -> tuple[str, str]:
    misfits = dict(row.get(MISFITS) or {})
    names = [name for name in table.columns if name not in key]
    path = dice.choice(sorted(misfits)) if misfits and dice.random() < 0.8 else pointer("", dice.choice(names))
    was = misfits.pop(path, None)
    if was is None or dice.random() < 0.6:
        kind = next(iter(json.loads(was))) if was and dice.random() < 0.5 else dice.choice(TYPES)
        misfits[path] = json.dumps(as_written(value(dice, kind, ["a", "b"])))
    row[MISFITS] = misfits or None
    return "/" + path.split("/")[1], f"the misfit {path}: {was} becomes {misfits.get(path)}"


def _respell(dice: Random, row: dict[str, Any], item: Item, table: Table, key: tuple[str, ...]) -> str:
    """Write some of a row otherwise without another meaning; what was done, if there was anything to write so."""
    misfits = row.get(MISFITS) or {}
    if misfits and dice.random() < 0.3:
        row[MISFITS] = {path: tagged(dice, json.loads(misfits[path])) for path in sorted(misfits, reverse=True)}
        return f"misfits are {row[MISFITS]}"
    if dice.random() < 0.2:
        return _keep_beside(dice, row, item, table, key)
    done = []
    for place in reversed(list(places(row, item, table, key))):  # what is inside first
        if (other := respelled(dice, place)) is not None:
            done.append(f"{place}: {place.cell!r} becomes {other!r}")
            place.put(other)
    return "; ".join(done)


def _keep_beside(dice: Random, row: dict[str, Any], item: Item, table: Table, key: tuple[str, ...]) -> str:
    """Keep an attribute as a misfit, as rows do that are older than its column."""
    name = dice.choice([*item])
    if name in key or "NULL" in item[name]:
        return ""
    path, column = pointer("", name), table.columns.get(name)
    others = {at: text for at, text in (row[MISFITS] or {}).items() if not f"{at}/".startswith(f"{path}/")}
    row[MISFITS] = {**others, path: tagged(dice, as_written(item[name]))}
    if column:
        row[column.name] = None
    return f"kept beside its column: {path}"


def _write(shop: Shop, tampered: Sequence[Mapping[str, Any]]) -> None:
    """Put these rows in the place of all that the table has."""
    name = f"glue.shop.{shop.name}"
    schema = shop.spark.table(name).schema
    shop.spark.createDataFrame([dict(row) for row in tampered], schema).writeTo(name).overwrite(F.lit(True))


def _verified(shop: Shop, at: float, key: tuple[str, ...]) -> dict[str, list[str]]:
    """What the verification finds: the paths by the keys."""
    order = verify_order(shop, at)
    try:
        shop.run(order)
    except VerificationFailed:
        told = shop.report(order)["differences"]
        return {_key_told(one["key"], shop): [value["path"] for value in one["values"]] for one in told}
    return {}


def _key_told(text: str, shop: Shop) -> str:
    """The key of a report, JSON, as `local.compare` writes it."""
    told = json.loads(text, parse_int=Decimal, parse_float=Decimal)
    read = {"S": str, "N": Decimal, "B": base64.b64decode}
    return key_text({part.name: {part.type: read[part.type](told[part.name])} for part in shop.key}, tuple(told))


def _held_against(
    planted: Planted, judged: Mapping[str, Sequence[str]], told: Mapping[str, Sequence[str]]
) -> list[str]:
    """Where the verification tells of others than those that the comparison takes for differences, or of other places."""
    wrong = [
        f"what is no difference is one to the comparison: {key} {planted.respelled[key]}"
        for key in planted.respelled.keys() & judged
    ]
    every = {**{key: how for key, (_, how) in planted.changed.items()}, **planted.respelled}
    wrong += [f"the verification does not find {key}: {every.get(key, 'a row')}" for key in judged.keys() - told.keys()]
    wrong += [f"the verification finds {key} {told[key]}: {every.get(key, '')}" for key in told.keys() - judged.keys()]
    for key in planted.changed.keys() & judged.keys() & told.keys():
        attribute, how = planted.changed[key]
        if not told[key] or not all(_is_below(path, attribute) for path in told[key]):
            wrong.append(f"the verification finds {key} at {told[key]}: {how}")
    return wrong


def _is_below(path: str, attribute: str) -> bool:
    """Whether a path that is told is an attribute's or below it."""
    return f"{path}/".startswith(f"{attribute}/")
