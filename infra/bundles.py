"""The two bundles: archives of the source as it is, the same bytes from the same tree.

Entries are sorted and carry no times or owners; the functions' have compiled files beside them. An archive is written again
only when its content has changed; ``python -m infra.bundles`` writes them without a synth.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from infra.compiled import compile_all
from infra.libraries import LibrariesMissing, installed
from infra.paths import ROOT

LAMBDA_PACKAGES = ("pipeline", "lambdas")
SPARK_PACKAGES = ("pipeline", "spark")
#: Bumped when archives of the same files would come out differently.
_FORM = b"2"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first instant that a zip file can hold
_MODE = 0o100644 << 16


@dataclass(frozen=True)
class Bundle:
    """An archive and what names its content: the digest of the entries, which no compressor can change."""

    path: Path
    digest: str


def lambda_bundle(root: Path = ROOT) -> Bundle:
    """`pipeline`, `lambdas` and the locked libraries, compiled. Raises LibrariesMissing."""
    return _bundle(root, "lambda", LAMBDA_PACKAGES, installed(root))


def spark_bundle(root: Path = ROOT) -> Bundle:
    """`pipeline` and `spark`, for ``--py-files``."""
    return _bundle(root, "spark", SPARK_PACKAGES)


def _bundle(root: Path, name: str, packages: tuple[str, ...], libraries: Path | None = None) -> Bundle:
    sources = sorted(_sources(root, packages))
    # The libraries' folder is named by its content and never changed: its name stands for it, which keeps synth fast.
    digest = _digest(root, sources, libraries.name if libraries else "")
    path = root / "build" / f"{name}.zip"
    if _digest_of(path) != digest:
        entries = {str(source.relative_to(root)): source for source in sources}
        with tempfile.TemporaryDirectory() as folder:
            if libraries:
                entries = _files(libraries) | _compiled(entries, Path(folder))
            _write(path, entries, digest)
    return Bundle(path, digest)


def _compiled(entries: dict[str, Path], folder: Path) -> dict[str, Path]:
    """The same entries and what they are compiled to, as files in a folder that has to stay until they are read."""
    for name, source in entries.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / name)
    compile_all(folder)
    return _files(folder)


def _files(folder: Path) -> dict[str, Path]:
    return {str(file.relative_to(folder)): file for file in folder.rglob("*") if file.is_file()}


def _sources(root: Path, packages: tuple[str, ...]) -> Iterator[Path]:
    for package in packages:
        yield from (root / package).rglob("*.py")


def _digest(root: Path, sources: list[Path], of_libraries: str) -> str:
    digest = hashlib.sha256(_FORM + of_libraries.encode())
    for source in sources:
        content = source.read_bytes()
        digest.update(f"{source.relative_to(root)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _digest_of(path: Path) -> str:
    """The digest that an archive says it is of, or "" where there is none that can be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.comment.decode()
    except (OSError, zipfile.BadZipFile):
        return ""


def _write(path: Path, entries: dict[str, Path], digest: str) -> None:
    """Write the archive beside its place and move it there: a reader never meets half of one."""
    path.parent.mkdir(exist_ok=True)
    descriptor, unfinished = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(descriptor, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = digest.encode()
        for name in sorted(entries):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr, entry.compress_type = _MODE, zipfile.ZIP_DEFLATED
            archive.writestr(entry, entries[name].read_bytes())
    Path(unfinished).chmod(0o644)
    Path(unfinished).replace(path)


def main() -> None:
    """Write both archives, or end with one sentence."""
    try:
        lambda_bundle()
    except LibrariesMissing as missing:
        sys.exit(f"LibrariesMissing: {missing}")
    spark_bundle()


if __name__ == "__main__":
    main()
