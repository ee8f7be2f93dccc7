"""What people do to a table between its runs, at random.

Most of it takes nothing from the table, and the next run must carry on as if it had not been. What does take something,
or contradicts the settings, is an excuse for a run to ask for a full export instead.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from random import Random
from typing import Any

from pipeline.columns.in_table.field_ids import used_by_layout
from pipeline.columns.in_table.table_columns import current_schema
from pipeline.columns.names import OWN_COLUMNS, REPLACEMENT
from pipeline.table.marker import NAMES
from pipeline.table.snapshots import ancestors_of_main
from tests.spark.oracle.given_names import given_name, given_type, is_refused, places_in, quoted, text
from tests.spark.shop import Shop

_PROPERTIES = (
    ("write.merge.mode", "copy-on-write"),
    ("write.delete.mode", "copy-on-write"),
    ("write.metadata.metrics.default", "none"),
    ("write.distribution-mode", "none"),
    ("write.distribution-mode", "range"),
    ("write.delete.granularity", "file"),
    ("gc.enabled", "false"),
    ("write.parquet.compression-codec", "gzip"),
)


class Hands:
    """Somebody who changes a table behind the jobs' back."""

    def __init__(self, dice: Random, shop: Shop) -> None:
        self._dice, self._shop, self._named = dice, shop, 0
        #: All that was done, in words.
        self.done: list[str] = []
        self._added: set[int] = set()
        #: Whether a run may ask for a full export since the last one.
        self.is_excused = False
        #: Whether a column may have to stay for the sake of what was done.
        self.has_held_columns = False

    def act(self) -> None:
        """Do something."""
        self._dice.choice(_ACTS)(self)

    def forget(self) -> None:
        """A full export has made everything good."""
        self.is_excused = False

    def own_columns(self) -> Collection[int]:
        """The field ids of the columns that were added, but for such as hold an attribute by now."""
        holding = json.loads(self._shop.metadata["properties"].get(NAMES, "{}"))
        return {id_ for id_ in self._added if str(id_) not in holding}

    def name_readably(self) -> None:
        """Columns whose names jobs do not carry get others, as a person is asked to do where a full export cannot."""
        for place in reversed(self._places()):  # what is inside a column first, while that has its name
            if is_refused(place):
                self._alter(f"RENAME COLUMN {quoted(place)} TO {self._plain_name()}")

    def let_go(self) -> None:
        """Nothing is held any more by tags, nor by the table's own word."""
        for tag in [name for name, ref in self._shop.metadata.get("refs", {}).items() if ref["type"] == "tag"]:
            self._alter(f"DROP TAG {tag}")
        self._alter("UNSET TBLPROPERTIES ('gc.enabled')")

    def _rename(self) -> None:
        """Another name for a column or for a field of a struct."""
        place = self._place()
        name = self._new_name(place[:-1])
        self._alter(f"RENAME COLUMN {quoted(place)} TO {quoted([name])}")
        self.is_excused |= self._has_said_names or is_refused([*place[:-1], name])

    def _exchange(self) -> None:
        """Two columns exchange their names, where the settings give none."""
        columns = list(self._columns())
        if len(columns) < 2 or self._has_said_names:
            return
        self._exchange_names(*self._dice.sample(columns, 2))

    def _exchange_names(self, one: str, other: str) -> None:
        between = self._plain_name()
        for old, new in ((one, between), (other, one), (between, other)):
            self._alter(f"RENAME COLUMN {quoted([old])} TO {quoted([new])}")

    def _comment(self) -> None:
        """A comment of one's own, or one that is the name of a column."""
        comment = self._dice.choice(["", self._new_name([]), *self._columns()])
        self._alter(f"ALTER COLUMN {quoted(self._place())} COMMENT {text(comment)}")

    def _clear_comments(self) -> None:
        for name in self._columns():
            self._alter(f"ALTER COLUMN {quoted([name])} COMMENT ''")

    def _move(self) -> None:
        self._alter(f"ALTER COLUMN {quoted([self._dice.choice(list(self._columns()))])} FIRST")

    def _add(self) -> None:
        """A column of one's own, perhaps within a struct, or with the name of an attribute for a comment."""
        within = self._dice.choice([[], *(place[:-1] for place in self._places() if len(place) > 1)])
        place = [*within, self._new_name(within)]
        type_, attributes = given_type(self._dice), json.loads(self._shop.metadata["properties"].get(NAMES, "{}"))
        comment = self._dice.choice(sorted(attributes.values())) if attributes and self._dice.random() < 0.5 else ""
        before = self._shop.metadata["last-column-id"]
        self._alter(f"ADD COLUMN {quoted(place)} {type_} COMMENT {text(comment)}")
        self._added |= set(range(before + 1, self._shop.metadata["last-column-id"] + 1))
        self.is_excused |= is_refused(place, type_)

    def _drop(self) -> None:
        """A column goes, with what is in it."""
        keys, metadata = {part.name for part in self._shop.key}, self._shop.metadata
        exact, used = json.loads(metadata["properties"].get(NAMES, "{}")), used_by_layout(metadata)
        named = {name: exact.get(str(field["id"])) for name, field in self._columns().items()}
        free = [name for name, attribute in named.items() if attribute not in keys and name not in used]
        if free:
            self._alter(f"DROP COLUMN {quoted([self._dice.choice(free)])}")
            self.is_excused = True

    def _take_own(self) -> None:
        """One of the product's own columns gets another name, or goes, or another takes its place."""
        own = [field for field in current_schema(self._shop.metadata)["fields"] if field["name"] in OWN_COLUMNS]
        if not own:
            return
        name = self._dice.choice(own)["name"]
        self._dice.choice((self._rename_own, self._drop_own, self._replace_own, self._exchange_own))(name)
        self.is_excused = True

    def _rename_own(self, name: str) -> None:
        self._alter(f"RENAME COLUMN {quoted([name])} TO {quoted([self._new_name([])])}")

    def _drop_own(self, name: str) -> None:
        self._alter(f"DROP COLUMN {quoted([name])}")

    def _replace_own(self, name: str) -> None:
        self._dice.choice((self._drop_own, self._rename_own))(name)
        self._alter(f"ADD COLUMN {quoted([name])} {self._dice.choice(('string', 'map<string, string>'))}")

    def _exchange_own(self, name: str) -> None:
        fields = current_schema(self._shop.metadata)["fields"]
        self._exchange_names(name, self._dice.choice([field["name"] for field in fields if field["name"] != name]))

    def _roll_back(self) -> None:
        """The table goes back to an earlier state."""
        if before := ancestors_of_main(self._shop.metadata)[1:]:
            chosen = self._dice.choice(before)["snapshot-id"]
            self._shop.roll_back(chosen)
            self.done.append(f"back to {chosen}")
            self.is_excused = True

    def _compact(self) -> None:
        self._call("rewrite_data_files(table => 'TABLE', options => map('rewrite-all', 'true'))")

    def _expire(self) -> None:
        if self._shop.metadata["properties"].get("gc.enabled") != "false":  # with which Iceberg refuses it
            how = "retain_last => 1, clean_expired_metadata => true"  # schemas of before go, too, as in maintenance
            self._call(f"expire_snapshots(table => 'TABLE', older_than => TIMESTAMP '2100-01-01', {how})")

    def _tag(self) -> None:
        self._alter(f"CREATE TAG {self._plain_name()}")
        self.has_held_columns = True

    def _sort(self) -> None:
        self._alter(
            self._dice.choice(("WRITE UNORDERED", f"WRITE ORDERED BY {quoted([self._dice.choice(self._scalars())])}"))
        )
        self.has_held_columns = True

    def _partition(self) -> None:
        """A partition of one's own, or one that was goes."""
        metadata = self._shop.metadata
        (spec,) = (spec for spec in metadata["partition-specs"] if spec["spec-id"] == metadata["default-spec-id"])
        added = [field["name"] for field in spec["fields"] if field["name"].startswith("hand")]
        if added:
            self._alter(f"DROP PARTITION FIELD {added[0]}")
        else:
            # By a hash: a text as it is may be longer than the name of a folder.
            name = self._dice.choice([name for name in self._scalars() if self._columns()[name]["type"] != "boolean"])
            self._alter(f"ADD PARTITION FIELD bucket(3, {quoted([name])}) AS {self._plain_name()}")
        self.has_held_columns = True

    def _set(self) -> None:
        name, value = self._dice.choice(_PROPERTIES)
        self._alter(f"SET TBLPROPERTIES ('{name}' = '{value}')")
        self.has_held_columns |= name == "gc.enabled"

    def _alter(self, what: str) -> None:
        self.done.append(what)
        self._shop.change(f"alter table TABLE {what}")

    def _call(self, what: str) -> None:
        self.done.append(what)
        self._shop.change(f"CALL glue.system.{what}")

    def _plain_name(self) -> str:
        self._named += 1
        return f"hand{self._named}"

    def _new_name(self, within: list[str]) -> str:
        """Another name for a column, or for a field of the struct at this place."""
        self._named += 1
        beside = [place[-1] for place in self._places() if place[:-1] == within]
        name = given_name(self._dice, self._named, beside)
        # What is called as a replacement goes with the next load, which Iceberg refuses of what rows are sorted by.
        return f"hand{self._named}" if self.has_held_columns and name.endswith(REPLACEMENT) else name

    @property
    def _has_said_names(self) -> bool:
        """Whether the settings name columns, which then have to be called so."""
        return any(rule.name for rule in self._shop.columns.rules)

    def _columns(self) -> dict[str, dict[str, Any]]:
        """The columns that are not the product's own, as the table's metadata have them."""
        fields = current_schema(self._shop.metadata)["fields"]
        return {field["name"]: field for field in fields if field["name"] not in OWN_COLUMNS}

    def _places(self) -> list[list[str]]:
        """The columns, and the fields of structs in them, as steps."""
        return [place for field in self._columns().values() for place in places_in([], field)]

    def _place(self) -> list[str]:
        return self._dice.choice(self._places())

    def _scalars(self) -> list[str]:
        """The columns that rows may be sorted by."""
        scalars = (name for name, field in self._columns().items() if isinstance(field["type"], str))
        return [name for name in scalars if not name.endswith(REPLACEMENT)]


_ACTS: tuple[Callable[[Hands], None], ...] = (
    Hands._rename,
    Hands._exchange,
    Hands._comment,
    Hands._clear_comments,
    Hands._move,
    Hands._add,
    Hands._drop,
    Hands._take_own,
    Hands._roll_back,
    Hands._compact,
    Hands._expire,
    Hands._tag,
    Hands._sort,
    Hands._partition,
    Hands._set,
)
