"""What a merge says that items have lost, held against the source's own history of writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from local.compare import key_text, pointer
from tests.spark.oracle.values import Value
from tests.spark.shop import Shop

Item = dict[str, Value]
#: So many are told, the most frequent.
_MOST_TOLD = 50


def wrongly_told(
    told: Sequence[Mapping[str, Any]], shop: Shop, since: float, until: float, shown: Callable[[Item], Item]
) -> list[str]:
    """Where a report is wrong about what items have lost between two minutes. `shown`: what the table shows of an item.

    Every attribute has to be told of, and nothing that was not lost. Which maps are structs, only the table knows.
    """
    key = tuple(part.name for part in shop.key)
    before, after = (
        {key_text({name: item[name] for name in key}, key): shown(item) for item in shop.items(at)}
        for at in (since, until)
    )
    lost = Counter(path for item in before.keys() & after for path in _lost(before[item], after[item]))
    said = {one["path"]: one["count"] for one in told}
    asked = {*said, *(path for path in lost if path.count("/") == 1 and len(told) < _MOST_TOLD)}
    return [
        f"{path}: {lost[path]} items have lost it, and {said.get(path, 0)} are told of"
        for path in sorted(asked)
        if lost[path] != said.get(path, 0)
    ]


def _lost(before: Item, after: Item, path: str = "") -> Iterator[str]:
    for name, value in before.items():
        if name not in after:
            yield pointer(path, name)
        elif "M" in value and "M" in after[name]:
            yield from _lost(value["M"], after[name]["M"], pointer(path, name))
