"""Wording: how numbers, lengths of time and the names that others have given are written for people. Pure."""

from __future__ import annotations

from datetime import timedelta


def number_of(count: int, one: str, several: str = "") -> str:
    """The number and what it is of, such as 1 item and 2 items; `several` where an s behind `one` does not make it."""
    return f"{count} {one}" if count == 1 else f"{count} {several or one + 's'}"


def words(length: timedelta) -> str:
    """A length of time as a person would say it."""
    minutes, seconds = divmod(int(length.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} days {hours % 24} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def on_one_line(text: str) -> str:
    """A pointer or key for people: what does not print is escaped, so that no name looks like lines of a mail."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def cut(text: str, longest: int) -> str:
    """A text of no more than so many characters. What is cut says so: half a key looks like a key, and finds no item."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
