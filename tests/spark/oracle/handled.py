"""The life of a random table to which people do what they like between its runs, and whose jobs die: it must stay whole."""

from __future__ import annotations

from collections.abc import Callable, Collection
from random import Random

from pipeline.errors import KeyDoesNotFit, KeyMismatch, PartitionsKept, RebuildNeeded
from pipeline.identity import KeyAttribute
from pipeline.job_order import JobOrder
from tests.spark.oracle.deaths import dying
from tests.spark.oracle.hands import Hands
from tests.spark.oracle.life import FIRST, STRETCH, Life, Lived
from tests.spark.oracle.values import Value, deep, usual_type, value
from tests.spark.oracle.wishes import NO_WISHES
from tests.spark.shop import Killed, Shop, another_id, minute


class HandledLife(Life):
    """One table's life among people, the same for the same seed; at most so many items and attributes, and so many rounds."""

    #: Among people tables stay small, and lists are of anything.
    everywhere = ()

    def __init__(
        self,
        seed: int,
        make_shop: Callable[..., Shop],
        items: int = 24,
        attributes: int = 12,
        rounds: int = 5,
        *,
        is_tampered_with: bool = True,
    ) -> None:
        super().__init__(seed, make_shop, items, attributes, is_tampered_with=is_tampered_with)
        self._rounds = rounds
        self._fate = Random(f"fate of {seed}")  # noqa: S311  # test data, not a secret
        self.hands = Hands(self._fate, self.shop)
        #: What became of it, in words; what people have done stands there as well.
        self.story = self.hands.done
        self._former_wishes = self.wishes

    def made(self, name: str, dice: Random) -> Value:
        """A value for an attribute: mostly of its usual type."""
        return deep(dice) if dice.random() < 0.01 else value(dice, usual_type(name, dice), self._inner)

    def live(self) -> Lived:
        """A load, and rounds of what people do and what the pipeline does next; verification and maintenance at the end."""
        self.shop.columns = self.wishes.columns
        for _ in range(self._count // 2):
            self._put(1, self._dice.randrange(self._count))
        ends = [FIRST]
        found = self._loaded(FIRST)
        for number in range(self._rounds):
            if not found:
                ends.append(ends[-1] + STRETCH)
                found = self._lived_round(number, ends)
        if not found:
            self._carry_out_or_let_go(lambda: self.shop.maintenance(ends[-1]))
            found = self._compared("maintenance", ends[-1], merged_from=ends[-1]) + self._verified(ends[-1])
        return Lived(len(self._ever), tuple([*found, f"the story: {self.story}"] if found else []))

    def _lived_round(self, number: int, ends: list[int]) -> list[str]:
        """What happens until the last of the ends; differences. Every other time, all that is older goes first."""
        if number % 2:
            self._or_let_go(lambda: self.shop.maintain(ends[-2], snapshot_days=0))
        if self._fate.random() < 0.1:
            self._make_anew(ends[-2])
            return self._loaded(ends[-1])
        if self._fate.random() < 0.2:
            self._say_otherwise(f"round{number}_")
        for _ in range(self._fate.choice((0, 1, 1, 2, 3))):
            self.hands.act()
        self._work(ends[-2] + 1)
        return self._followed(ends)

    def _followed(self, ends: list[int]) -> list[str]:
        """Merge what came since the state that the table shows, or load it anew where that is asked for with an excuse."""
        watermark = self.shop.state.watermark
        bounds = [end for end in ends if watermark and minute(end) >= watermark]
        if len(bounds) < 2:
            return self._loaded(ends[-1])  # it was taken back to before its first load
        self._note_columns()
        try:
            self._carry_out_or_let_go(lambda: self.shop.windows(*bounds))
        except KeyDoesNotFit as reason:  # the numbers of the first keys were whole, and one that came is not
            self.story.append(f"refused: {reason}")
            return self._loaded(ends[-1])
        except (KeyMismatch, RebuildNeeded) as reason:
            self.story.append(f"refused: {reason}")
            return self._loaded(ends[-1]) if self.hands.is_excused else [f"refused without an excuse: {reason}"]
        return self._compared(f"the merge up to minute {ends[-1]}", ends[-1], merged_from=bounds[0])

    def _loaded(self, at: int) -> list[str]:
        """Load everything; with the former settings, where the new ones would take a column that somebody needs."""
        try:
            self._carry_out_or_let_go(lambda: self.shop.full(at))
        except PartitionsKept as reason:
            self.story.append(f"refused: {reason}")
            self.wishes = self._former_wishes
            self.shop.columns = self.wishes.columns
            self._carry_out(self.shop.full(at))
        except RebuildNeeded as reason:
            if not self.hands.has_held_columns:
                raise
            self.story.append(f"refused: {reason}")
            self.hands.name_readably()
            return self._loaded(at)
        self.hands.forget()
        self._former_wishes = self.wishes
        return self._compared(f"the load at minute {at}", at)

    def _is_free(self) -> bool:
        """Whether a load may give every column another type: none that people have sorted or made partitions by."""
        return not self.hands.has_held_columns

    def _of_people(self) -> Collection[int]:
        """The columns of their own, whatever attribute's name they have for a comment."""
        return self.hands.own_columns()

    def _carry_out_or_let_go(self, order: Callable[[], JobOrder]) -> None:
        """Carry an order out; once more without what somebody has kept, where that keeps what has to go."""
        self._or_let_go(lambda: self._carry_out(order()))

    def _or_let_go(self, do: Callable[[], object]) -> None:
        try:
            do()
        except PartitionsKept as reason:
            if not self.hands.has_held_columns:
                raise
            self.story.append(f"refused: {reason}")
            self.hands.let_go()
            do()

    def _carry_out(self, order: JobOrder) -> None:
        """Carry an order out; its job may die before, and be tried again under the same id or another."""
        if self._fate.random() < 0.4:
            self._try_and_die(order)
            if self._fate.random() < 0.5:
                order = another_id(order, f"{order.job_id}-again")
        self.shop.run(order)
        self.story.append(f"{order.job_id} is done")

    def _try_and_die(self, order: JobOrder) -> None:
        with dying(self._fate) as step:
            try:
                self.shop.run(order)
            except Killed:
                self.story.append(f"{order.job_id} dies {step}")

    def _say_otherwise(self, called: str) -> None:
        """Other settings, which a merge may refuse."""
        self.wishes = self.wishes.others(self._dice, self._names, called)
        self.shop.columns = self.wishes.columns
        self.hands.is_excused = True
        self.story.append("other settings")

    def _make_anew(self, at: int) -> None:
        """The source is made anew, with another key of which parts may have been the former's; nothing is said of it."""
        names = [*(part.name for part in self._key), *self._names]
        keys = self._fate.sample(names, self._fate.choice((1, 2)))
        self._names = [name for name in names if name not in keys]
        self._key = tuple(KeyAttribute(name, self._fate.choice("SNB")) for name in keys)
        self.shop.key, self.shop.table_id = self._key, f"0b9ff8a2-0000-4000-8000-{at:012d}"
        self.shop.writes.clear()
        self._held.clear()
        self.wishes = self._former_wishes = NO_WISHES
        self.shop.columns = self.wishes.columns
        for _ in range(self._count // 2):
            self._put(at + 1, self._dice.randrange(self._count))
        self.story.append(f"made anew with the key {self._key}")
