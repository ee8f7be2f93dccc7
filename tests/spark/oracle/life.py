"""The life of a random table: items come, change and go over a full export and windows; the table must follow them.

What the source held is told by its own history, what the table shows by PyIceberg; neither shares code with the jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from random import Random
from typing import Any

from local.aws.pitr.oddities import ODDITIES
from local.compare import Table
from local.reader import columns
from pipeline.identity import KeyAttribute
from tests.spark.large import always_filtered
from tests.spark.oracle.lost import wrongly_told
from tests.spark.oracle.needless import needless_after_load, needless_after_merge
from tests.spark.oracle.planted import wrongly_verified
from tests.spark.oracle.values import Value, deep, holds_maps, names, usual_type, value
from tests.spark.oracle.wishes import NO_WISHES, SECRET, Wishes
from tests.spark.shop import BOTH_IMAGES, NEW_ONLY, Shop
from tests.spark.verifying import verify

#: How long each stretch between two exports is, in minutes; DynamoDB's windows have 15 at least.
STRETCH = 15
FIRST = 5
#: Together these two would make a record without images the newest of its key.
_APART = ("duplicate_key", "timestamp_outside_window")
Item = dict[str, Value]


@dataclass(frozen=True)
class Lived:
    """What became of a table: how many items lived, and every difference that was found, with when."""

    items: int
    differences: tuple[str, ...]


class Life:
    """One table's life, the same for the same seed; at most so many items and attributes."""

    #: Attributes that every table has, beside its own: of lists of maps, as most people's lists are.
    everywhere: Sequence[str] = ("bids",)

    def __init__(
        self,
        seed: int,
        make_shop: Callable[..., Shop],
        items: int = 120,
        attributes: int = 40,
        *,
        is_tampered_with: bool = True,
    ) -> None:
        self._dice = dice = Random(seed)  # noqa: S311  # test data, not a secret
        self._seed, self._is_tampered_with = seed, is_tampered_with
        self._count = items
        self._names = names(dice, dice.randrange(8, attributes + 1))
        self._inner = names(dice, attributes // 5)
        key_names = names(dice, dice.choice((1, 1, 2)))
        # Iceberg names the partitions of a table so.
        partitions = f"{key_names[0]}_bucket"
        self._names = [name for name in self._names if name not in key_names] + [partitions, *self.everywhere]
        self._key = tuple(KeyAttribute(name, dice.choice("SNB")) for name in key_names)
        apart = dice.choice(_APART)
        self.shop = make_shop(
            key=self._key,
            view=dice.choice((BOTH_IMAGES, BOTH_IMAGES, NEW_ONLY)),
            oddities=tuple(name for name in ODDITIES if name != apart and dice.random() < 0.3),
            compare_old_images=True,
            secret=SECRET,
        )
        said_of = [name for name in self._names if dice.random() < 0.6]
        #: What is said of the columns until the rebuild, and then from the rebuild on.
        self.wishes = Wishes.of(dice, said_of, self._inner) if seed % 3 == 0 else NO_WISHES
        self._is_looked_after = seed % 2 == 1
        self._held: dict[int, Item] = {}
        self._ever: set[int] = set()
        #: The columns before the last merge.
        self._before: Table | None = None

    def live(self) -> Lived:
        """From the first full export over merges of one to three windows to verification, backfill, maintenance and rebuild.

        The second merge is done as into a large table. Backfill and maintenance are every other table's. The rebuild comes
        with other wishes, where there are any.
        """
        found, at = self.begun(), FIRST
        for windows, is_filtered in zip(self._dice.sample((1, 2, 3), 2), (False, True), strict=True):
            bounds = [at + STRETCH * number for number in range(windows + 1)]
            self.change(bounds)
            with always_filtered() if is_filtered else nullcontext():
                found += self.merged(bounds)
            at = bounds[-1]
        found += self._verified(at)
        if self._is_looked_after:
            self.shop.run(self.shop.windows(at - STRETCH, at, job="backfill"))
            found += self._compared("the backfill", at, merged_from=at - STRETCH)
            self.shop.maintain(at)
            found += self._compared("maintenance", at, merged_from=at - STRETCH)
        self.wishes = self.wishes.others(self._dice, self._names)
        self.shop.columns = self.wishes.columns
        self.shop.load(at)
        found += self._compared("the rebuild", at)
        return Lived(len(self._ever), tuple(found))

    def begun(self) -> list[str]:
        """The first items and the first full export; what is wrong."""
        self.shop.columns = self.wishes.columns
        for _ in range(self._count // 2):
            self._put(1, self._dice.randrange(self._count))
        self.shop.load(FIRST)
        return self._compared("the load", FIRST)

    def change(self, bounds: Sequence[float]) -> None:
        """Let happen what happens within each of the windows between minutes."""
        for start in bounds[:-1]:
            self._work(start + 1)

    def merged(self, bounds: Sequence[float]) -> list[str]:
        """Merge those windows; what is wrong, first what the product says of it."""
        self._note_columns()
        report = self.shop.merge(*bounds)
        said = self._continued(report) + self._lost(report, bounds)
        return said + self._compared(f"the merge up to minute {bounds[-1]}", bounds[-1], merged_from=bounds[0])

    def _work(self, at: float) -> None:
        """What happens within a window: some items more than once."""
        for step in range(self._count // 3):
            number, moment = self._dice.randrange(self._count), at + step / 60
            if number in self._held and self._dice.random() < 0.35:
                self.shop.delete(moment, self._key_of(number))
                del self._held[number]
            else:
                self._put(moment, number)

    def _put(self, at: float, number: int) -> None:
        """A new item, or one that differs from what is there: attributes more, fewer, or of another type."""
        dice, before = self._dice, self._held.get(number, {})
        share = dice.choice((0.0, 0.3, 0.6, 1.0))
        item = {name: kept for name, kept in before.items() if dice.random() < 0.7}
        for name in self._names:
            if dice.random() < share * 0.6:
                item[name] = self.made(name, dice)
        item = self.wishes.obeyed(item, dice)
        self._held[number] = item
        self._ever.add(number)
        self.shop.put(at, {**item, **self._key_of(number)})

    def made(self, name: str, dice: Random) -> Value:
        """A value for an attribute: mostly of its usual type, and of many attributes lists are mostly of maps."""
        usual = value(dice, usual_type(name, dice), self._inner, of_maps=holds_maps(name))
        return deep(dice) if dice.random() < 0.01 else usual

    def _key_of(self, number: int) -> Item:
        """The key of an item: the same number in other spellings is the same key."""
        first, *second = self._key
        key = {first.name: {first.type: _KEYS[first.type](number // 2 if second else number)}}
        return key | {part.name: {part.type: _KEYS[part.type](number)} for part in second}

    def _compared(self, after: str, at: float, merged_from: float | None = None) -> list[str]:
        """What is wrong. `merged_from`: what was written since then was merged last, with the columns that there are."""
        wrong = self.shop.differences(at, self.wishes.shown)
        wrong += self.wishes.broken(columns(self.shop.table), self._of_people())
        if merged_from is None:
            wrong += needless_after_load(self.shop, is_free=self._is_free())
        else:
            assert self._before  # noted before every merge
            wrong += needless_after_merge(self.shop, merged_from, at, self._before.columns)
        return [f"after {after}: {found}" for found in wrong]

    def _note_columns(self) -> None:
        """Remember the columns before a merge."""
        self._before = columns(self.shop.table)

    def _is_free(self) -> bool:
        """Whether a load may give every column another type."""
        return True

    def _of_people(self) -> Collection[int]:
        """The field ids of columns that people have added for themselves."""
        return ()

    def _continued(self, report: Mapping[str, Any]) -> list[str]:
        """Every old image must be what the table showed."""
        compared = {name: count for name, count in report["counts"].items() if "image" in name}
        is_wrong = bool(report["continuity"]) or bool(compared) is not (self.shop.view == BOTH_IMAGES)
        return [f"a merge says: {report['continuity']} {compared}"] if is_wrong else []

    def _lost(self, report: Mapping[str, Any], bounds: Sequence[float]) -> list[str]:
        """What items have lost must be told where there are old images, and nowhere else."""
        told = report["removed_attributes"]
        if self.shop.view == NEW_ONLY:
            return [f"a merge without old images says: {told}"] if told else []
        assert self._before  # noted before every merge
        return wrongly_told(told, self.shop, bounds, self._before, self.wishes.shown)

    def _verified(self, at: float) -> list[str]:
        """What our own verification says must be what the comparison says, of the table as it is and as somebody leaves it."""
        report = verify(self.shop, at)
        if report["result"] != "0 differences":
            return [f"the verification says: {report['result']}"]
        return self.wrongly_verified(at) if self._is_tampered_with else []

    def wrongly_verified(self, at: float) -> list[str]:
        """What is wrong with a verification of the table with differences planted in it, and with what is none."""
        # Dice of its own: a life is the same without.
        dice = Random(f"planted in {self._seed}")  # noqa: S311  # test data, not a secret
        return wrongly_verified(dice, self.shop, at, self.wishes.shown)


def _number(number: int) -> str:
    """A number for a key, whole or broken, as DynamoDB returns it."""
    return str(number) if number % 3 else f"{number}.25"


_KEYS: dict[str, Callable[[int], Any]] = {
    "S": lambda number: f"k {number}/ü'\"\\",
    "N": _number,
    "B": lambda number: number.to_bytes(2, "big"),
}
