"""The documents as the tests read them: sections, blocks of code, and the statements that a person is to run."""

from __future__ import annotations

import re
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent.parent / "docs"
OPERATIONS, SETTINGS, TABLES = ((_FOLDER / f"{name}.md").read_text() for name in ("operations", "settings", "tables"))


def section(document: str, heading: str) -> str:
    """What stands below a heading, given with its signs (``## Mails``), up to the next one of its level."""
    return document.split(f"{heading}\n")[1].split(f"\n{heading.split()[0]} ")[0]


def blocks(text: str, language: str = "") -> list[str]:
    """The blocks of code in a language, indented ones too; "" is none."""
    found = re.findall(r"^ *```(\w*)\n(.*?)^ *```$", text, flags=re.MULTILINE | re.DOTALL)
    return [block for told, block in found if told == language]


def statement(beginning: str, **places: str) -> str:
    """The one statement of SQL in the manual that begins so, with its `places` filled in."""
    lines = [line.strip() for block in blocks(OPERATIONS, "sql") for line in block.splitlines()]
    (found,) = (line.removesuffix(";") for line in lines if line.startswith(beginning))
    return filled(found, **places)


def filled(text: str, **places: str) -> str:
    """A text with names in the places of ``<…>``."""
    for place, name in places.items():
        text = text.replace(f"<{place}>", name)
    return text
