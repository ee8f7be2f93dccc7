"""Spark's signed jars are laid beside as unsigned ones, with all else that is in them."""

import zipfile
from pathlib import Path

from local.spark_jars import unsign

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
