"""Paths as a person has typed them."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from local.failed import Failed


def meant(text: str) -> Path:
    """The path that is meant: a shell leaves the ~ of ``--warehouse=~/here`` as it is; one of nobody's home stays."""
    return Path(os.path.expanduser(text))  # noqa: PTH111 - that of Path raises where there is no such home


def folder(text: str) -> Path:
    """The folder that is meant. Raises ArgumentTypeError where there is none."""
    place, _ = _looked_at(text)
    if not place.is_dir():
        raise ArgumentTypeError(f"{text!r} is not a folder")
    return place


def folder_to_be(text: str) -> Path:
    """The folder that is meant, there or to be made. Raises ArgumentTypeError where it cannot be."""
    place, file = _looked_at(text)
    if file:
        allowed = "allowed is a folder, or the name of one to be made"
        raise ArgumentTypeError(f"{text!r} cannot be a folder, for {str(file)!r} is a file; {allowed}")
    return place


def file_at(place: Path) -> Path | None:
    """What is no folder in the place of one, or of one above it; None where there is nothing of the kind.

    Raises Failed where nobody can tell: below a folder that is another user's, or of a name longer than any file's.
    """
    try:
        return next((one for one in (place, *place.parents) if one.exists() and not one.is_dir()), None)
    except OSError as failed:
        raise Failed(f"{place} cannot be looked at: {failed.strerror}; name another folder.") from failed


def called(name: str, top: Path) -> Iterator[Path]:
    """What has this name in a folder or below it, each once; what a link leads to after all that lies there itself.

    Raises Failed where a folder may not be read: what it holds would be missed without a word.
    """
    to_walk, seen = deque([top]), set[str]()
    while to_walk:
        for place, below, files in os.walk(to_walk.popleft(), onerror=_missed):
            if (real := os.path.realpath(place)) in seen:
                below.clear()
                continue
            seen.add(real)
            if name in (*below, *files):
                yield Path(place, name)
            to_walk += [path for one in below if (path := Path(place, one)).is_symlink()]


def _missed(failed: OSError) -> None:
    raise Failed(
        f"{failed.filename} cannot be read: {failed.strerror}; what lies there would be missed. Let it be read, or name a "
        "folder without it."
    ) from failed


def _looked_at(text: str) -> tuple[Path, Path | None]:
    """The path that is meant, and what is no folder in its place. Raises ArgumentTypeError where nobody can tell."""
    try:
        return (place := meant(text)), file_at(place)
    except Failed as failed:
        raise ArgumentTypeError(str(failed)) from failed
