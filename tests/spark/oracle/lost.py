"""What a merge says that items have lost, held against the source's own history of writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pyiceberg.types import IcebergType, ListType, MapType, StructType

from local.compare import Table, key_text, pointer
from tests.spark.oracle.values import Value
from tests.spark.shop import Shop

Item = dict[str, Value]
#: So many are told, the most frequent.
_MOST_TOLD = 50


def wrongly_told(
    told: Sequence[Mapping[str, Any]], shop: Shop, bounds: Sequence[float], before: Table, shown: Callable[[Item], Item]
) -> list[str]:
    """Where a report is wrong about what items have lost between the first and the last of some minutes.

    Every name has to be told of that the columns of `before` the merge lead to, and nothing that was not lost. `shown`: what
    the table shows of an item.
    """
    key = tuple(part.name for part in shop.key)
    then, now = (
        {key_text({name: item[name] for name in key}, key): shown(item) for item in shop.items(at)}
        for at in (bounds[0], bounds[-1])
    )
    types = {name: column.field_type for name, column in before.columns.items()}
    lost = Counter(path for item in then.keys() & now for path in _lost([then[item]], [now[item]], types, before))
    said = {one["path"]: one["count"] for one in told}
    asked = said if len(told) == _MOST_TOLD else {**lost, **said}
    return [
        f"{path}: {lost[path]} items have lost it, and {said.get(path, 0)} are told of"
        for path in sorted(asked)
        if lost[path] != said.get(path, 0)
    ]


def _lost(
    then: Sequence[Item], now: Sequence[Item], types: Mapping[str, IcebergType], table: Table, path: str = ""
) -> Iterator[str]:
    """What some of these maps had then and none has now, if there are any; and so inside, where there are columns."""
    if then and now:
        yield from (pointer(path, name) for name in {*_all(then)} - {*_all(now)})
    for name, type_ in types.items():
        inside = ([item[name] for item in items if name in item] for items in (then, now))
        yield from _lost_inside(*inside, type_, table, pointer(path, name))


def _lost_inside(
    then: Sequence[Value], now: Sequence[Value], type_: IcebergType, table: Table, path: str
) -> Iterator[str]:
    if isinstance(type_, StructType):
        fields = {name: field.field_type for name, field in table.by_attribute(type_.fields).items()}
        yield from _lost(*([v["M"] for v in values if "M" in v] for values in (then, now)), fields, table, path)
    elif isinstance(type_, MapType):
        inside = ([one for v in values if "M" in v for one in v["M"].values()] for values in (then, now))
        yield from _lost_inside(*inside, type_.value_type, table, f"{path}/*")
    elif isinstance(type_, ListType):
        inside = ([one for v in values if "L" in v for one in v["L"]] for values in (then, now))
        yield from _lost_inside(*inside, type_.element_type, table, f"{path}/*")


def _all(items: Sequence[Item]) -> Iterator[str]:
    return (name for item in items for name in item)
