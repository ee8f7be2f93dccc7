"""What was seen at each path of many items: the ground that column types are decided on.

A path is a tuple of steps: ``.name`` for a member of an item or map, ``[]`` for an element of a list or number set.
The Spark side counts; this side holds the counts as a tree. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass, field, replace

from pipeline.columns.declared.overrides import ANY

MEMBER, ELEMENT = ".", "[]"

Path = tuple[str, ...]


def member_step(name: str) -> str:
    """The step to a member of an item or map."""
    return MEMBER + name


def name_of(step: str) -> str:
    """The name of the member that a step leads to."""
    return step[len(MEMBER) :]


def rule_path(path: Path) -> tuple[str, ...]:
    """A path as rules write it: names, and `ANY` for any element."""
    # Of thousands of names in a map each is asked for: nothing is called for a step.
    return tuple(ANY if one == ELEMENT else one[len(MEMBER) :] for one in path)


@dataclass(frozen=True)
class Observed:
    """How often one DynamoDB type was seen at one path; for N also how much room its values need.

    `example`: the key of an item that has such a value, as JSON, where it was asked for. `found_at`: of a misfit, and what
    is inside it, how many steps lead to the misfit; 0 where all values were looked at.
    """

    path: Path
    tag: str
    count: int
    integer_digits: int = 0
    fraction_digits: int = 0
    fits_long: bool = True
    example: str = ""
    found_at: int = 0


def weighed(sample: Sequence[Observed], items_each: float, counted: Iterable[Observed]) -> list[Observed]:
    """A sample's counts, each of its items standing for `items_each`, beside what was counted of all items.

    What was counted may be in the sample as well: of one type at one path, the larger number stands.
    """
    scaled = [replace(row, count=round(row.count * items_each)) for row in sample]
    left: Counter[tuple[Path, str]] = Counter()
    for row in scaled:
        left[row.path, row.tag] += row.count
    beside = []
    for row in counted:
        known = min(row.count, left[row.path, row.tag])
        left[row.path, row.tag] -= known
        beside.append(replace(row, count=row.count - known))
    return scaled + beside


def at_least(first: Iterable[Observed], second: Iterable[Observed]) -> list[Observed]:
    """What two looks at the same items have counted, each at some of their values, perhaps at the same ones.

    Of one type at one path the larger number stands, and room for both.
    """
    one, other = _added(first), _added(second)
    return [
        _with_room(row, other.get(place, row), max(row.count, other.get(place, row).count))
        for place, row in {**other, **one}.items()
    ]


def _added(look: Iterable[Observed]) -> dict[tuple[Path, str], Observed]:
    total: dict[tuple[Path, str], Observed] = {}
    for row in look:
        known = total.get((row.path, row.tag))
        total[row.path, row.tag] = _with_room(known, row, known.count + row.count) if known else row
    return total


def _with_room(row: Observed, other: Observed, count: int) -> Observed:
    return replace(
        row,
        count=count,
        integer_digits=max(row.integer_digits, other.integer_digits),
        fraction_digits=max(row.fraction_digits, other.fraction_digits),
        fits_long=row.fits_long and other.fits_long,
    )


@dataclass
class Profile:
    """Everything seen at one path and below it. `tags`: DynamoDB type to number of values.

    `pin`, `name`: the type and the column name that the user has declared, which win over what was seen; `pin_of_any`: the
    type of whatever is inside.
    """

    tags: dict[str, int] = field(default_factory=dict)
    integer_digits: int = 0
    fraction_digits: int = 0
    fits_long: bool = True
    members: dict[str, Profile] = field(default_factory=dict)
    elements: Profile | None = None
    pin: str = ""
    name: str = ""
    pin_of_any: str = ""

    @classmethod
    def of(cls, rows: Iterable[Observed]) -> Profile:
        """Build the tree of an item from its counts; several counts of one path and type add up."""
        root = cls()
        for row in rows:
            root._at(row.path)._add(row)
        return root

    @property
    def values(self) -> dict[str, int]:
        """The types seen, without NULL: it says nothing about a type, and is the same as absent."""
        return {tag: count for tag, count in self.tags.items() if tag != "NULL"}

    @property
    def count(self) -> int:
        """How many values were seen here, NULL included."""
        return sum(self.tags.values())

    @property
    def any_member(self) -> Profile:
        """All members as if they were one: what a dictionary's values look like."""
        together = _together(self.members.values())
        return replace(together, pin=self.pin_of_any or together.pin)

    @property
    def rank(self) -> tuple[bool, int]:
        """Where it stands among others of which not all can have a column: before them what is declared, then the frequent."""
        return not (self.pin or self.name), -self.count

    def without(self, names: Container[str]) -> Profile:
        """The same without the members of these names."""
        return replace(self, members={name: one for name, one in self.members.items() if name not in names})

    def limited(self, most: int) -> Profile:
        """The same with so many members at most that show a type: first the declared ones, then the most frequent."""
        if len(self.members) <= most:
            return self
        typed = {name: one for name, one in self.members.items() if one.values or one.pin}
        first = sorted(typed, key=lambda name: (typed[name].rank, name))
        return replace(self, members={name: typed[name] for name in first[: max(most, 0)]})

    def _at(self, path: Path) -> Profile:
        here = self
        for step in path:
            if step == ELEMENT:
                here.elements = here.elements or Profile()
                here = here.elements
            else:
                here = here.members.setdefault(name_of(step), Profile())
        return here

    def _add(self, row: Observed) -> None:
        self.tags[row.tag] = self.tags.get(row.tag, 0) + row.count
        if row.tag == "N":
            self._widen(row.integer_digits, row.fraction_digits, row.fits_long)

    def _widen(self, integer_digits: int, fraction_digits: int, fits_long: bool) -> None:
        self.integer_digits = max(self.integer_digits, integer_digits)
        self.fraction_digits = max(self.fraction_digits, fraction_digits)
        self.fits_long = self.fits_long and fits_long


def _together(profiles: Collection[Profile]) -> Profile:
    """All as if they were one. What is declared for some of them only says nothing of the others, which share their type."""
    merged, members = Profile(), dict[str, list[Profile]]()
    merged.pin, merged.pin_of_any = _common(one.pin for one in profiles), _common(one.pin_of_any for one in profiles)
    for one in profiles:
        for tag, count in one.tags.items():
            merged.tags[tag] = merged.tags.get(tag, 0) + count
        merged._widen(one.integer_digits, one.fraction_digits, one.fits_long)
        for name, member in one.members.items():
            members.setdefault(name, []).append(member)
    # All of a name at once: two by two, the members of a thousand maps would be gone through for each of these.
    merged.members = {name: _as_one(found) for name, found in members.items()}
    elements = [one.elements for one in profiles if one.elements]
    merged.elements = _as_one(elements) if elements else None
    return merged


def _as_one(profiles: Sequence[Profile]) -> Profile:
    return _together(profiles) if len(profiles) > 1 else profiles[0]


def _common(pins: Iterable[str]) -> str:
    different = set(pins)
    return different.pop() if len(different) == 1 else ""
