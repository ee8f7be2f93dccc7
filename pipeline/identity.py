"""Who the source table is: its ARN, the id that changes when it is created anew, and its key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

KEY_TYPES = ("S", "N", "B")


@dataclass(frozen=True)
class KeyAttribute:
    """One attribute of the key: its exact name and DynamoDB type (S, N or B)."""

    name: str
    type: str

    def __post_init__(self) -> None:
        """Refuse what DynamoDB does not allow as a key."""
        if not self.name or self.type not in KEY_TYPES:
            said = f"its name is {self.name!r}, its type {self.type!r}"
            raise ValueError(f"a key attribute has a name and one of the types {', '.join(KEY_TYPES)}, as pk:S; {said}")

    @classmethod
    def parse(cls, text: str) -> KeyAttribute:
        """Read ``name:S``; the name may itself hold colons."""
        name, _, kind = text.rpartition(":")
        return cls(name, kind)

    def __str__(self) -> str:
        return f"{self.name}:{self.type}"


@dataclass(frozen=True)
class SourceTable:
    """The source table's identity, as DescribeTable gives it. The key: partition key first, then the sort key if any."""

    arn: str
    id: str
    key: tuple[KeyAttribute, ...]

    @classmethod
    def from_description(cls, table: Mapping[str, Any]) -> SourceTable:
        """Take it from the ``Table`` member of a DescribeTable answer."""
        types = {a["AttributeName"]: a["AttributeType"] for a in table["AttributeDefinitions"]}
        ordered = sorted(table["KeySchema"], key=lambda part: part["KeyType"])  # HASH sorts before RANGE
        key = tuple(KeyAttribute(part["AttributeName"], types[part["AttributeName"]]) for part in ordered)
        return cls(arn=table["TableArn"], id=table["TableId"], key=key)

    @property
    def name(self) -> str:
        """The table's name, the last part of its ARN."""
        return self.arn.rpartition("table/")[2]
