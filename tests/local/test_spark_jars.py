"""The jars are those of the lock file; Spark's signed ones are laid beside as unsigned ones, with all else that is in them."""

import zipfile
from pathlib import Path

import pytest

from local.spark_jars import COORDINATES, JARS, LOCK, JarsDiffer, check, locked, unsign

_PLAIN = {"META-INF/MANIFEST.MF": b"Name: a/A.class", "a/A.class": b"code", "META-INF/services/a.SF/b": b"kept"}


def jar(file: Path, **entries: bytes) -> Path:
    with zipfile.ZipFile(file, "w") as made:
        for name, content in {**_PLAIN, **entries}.items():
            made.writestr(name, content)
    return file


def content(file: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as found:
        return {name: found.read(name) for name in found.namelist()}


def test_a_copy_of_a_signed_jar_has_all_but_its_signature(tmp_path: Path) -> None:
    signed = jar(tmp_path / "signed.jar", **{"META-INF/OURS.SF": b"digests", "META-INF/ours.rsa": b"certificate"})
    plain = jar(tmp_path / "plain.jar")

    (tmp_path / "unsigned").mkdir()
    jar(tmp_path / "unsigned" / "signed-of-yesterday.jar")
    copies = unsign([plain, signed], tmp_path / "unsigned")

    assert copies == [tmp_path / "unsigned" / "signed.jar"] == [*(tmp_path / "unsigned").iterdir()]
    assert content(copies[0]) == _PLAIN
    assert unsign([plain, signed], tmp_path / "unsigned") == copies  # an installation that is repeated


def test_the_jars_that_are_installed_are_those_of_the_lock_file_and_every_coordinate_is_in_it() -> None:
    check(sorted(JARS.glob("*.jar")))
    for coordinate in COORDINATES:
        assert "_".join(coordinate.split(":")[:2]) + f"-{coordinate.split(':')[2]}.jar" in LOCK.read_text()


@pytest.mark.parametrize("odd", ["changed", "missing", "unknown"])
def test_a_jar_that_is_not_the_one_of_the_lock_file_is_refused_by_name(tmp_path: Path, odd: str) -> None:
    jars = [jar(tmp_path / "a.jar"), jar(tmp_path / "b.jar")]
    lock = tmp_path / "jars.lock"
    lock.write_text(locked(jars))
    check(jars, lock)
    if odd == "changed":
        jar(jars[1], more=b"!")
    fetched = {"changed": jars, "missing": jars[:1], "unknown": [*jars, jar(tmp_path / "c.jar")]}[odd]
    with pytest.raises(JarsDiffer, match=r": c\.jar\." if odd == "unknown" else r": b\.jar\."):
        check(fetched, lock)
