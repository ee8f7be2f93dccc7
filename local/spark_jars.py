"""The jars that Spark needs on a machine that is not EMR: resolved once by Spark's own resolver, then used as files.

EMR brings Iceberg, its AWS bundle and S3A with its image; here they come from Maven. The versions are those that EMR
7.14 is built on, as near as they are published. ``python -m local.spark_jars`` fetches them into ``.tools/ivy``, and lays
copies of Spark's signed jars beside them, without their signatures: of a signed jar the JVM archives no class, and checks
the digest of each that it loads, which a job that compiles its first expressions waits for.

Whatever is fetched must be what ``spark_jars.lock`` says, jar by jar; with ``--lock`` that file is written instead.
"""

from __future__ import annotations

import hashlib
import re
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

from local.surroundings import leave_other_spark

JARS = Path(__file__).resolve().parent.parent / ".tools" / "ivy" / "jars"
#: Copies of Spark's own signed jars without their signatures, to be found before those.
UNSIGNED = JARS.with_name("unsigned")
#: SHA-256 and name of every jar, as ``sha256sum`` writes them.
LOCK = Path(__file__).with_suffix(".lock")

ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.1"
COORDINATES = (
    ICEBERG,
    "org.apache.iceberg:iceberg-aws-bundle:1.10.1",
    "org.apache.hadoop:hadoop-aws:3.3.4",
    # S3A of Hadoop 3.3 speaks the old SDK; its bundle weighs 280 MB, these three are what S3A loads of it.
    "com.amazonaws:aws-java-sdk-s3:1.12.262",
    "com.amazonaws:aws-java-sdk-sts:1.12.262",
    "com.amazonaws:aws-java-sdk-dynamodb:1.12.262",
    # Hadoop's own file system starts a `chmod` for every file it makes, which took a tenth of a small merge.
    "com.globalmentor:hadoop-bare-naked-local-fs:0.1.0",
)
LOCAL_FILE_SYSTEM = "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem"
_LEFT_OUT = "com.amazonaws:aws-java-sdk-bundle"
#: What makes a jar a signed one. Source: "JAR File Specification", Signed JAR File.
_SIGNATURE = re.compile(r"META-INF/[^/]+\.(SF|RSA|DSA|EC)", re.IGNORECASE)


class JarsDiffer(Exception):
    """The jars that were fetched are not those of the lock file."""


def resolve(folder: Path = JARS) -> list[Path]:
    """Fetch the jars into `folder` (its name must be ``jars``, Ivy's own) and return them, sorted.

    What was there goes, for an earlier version would be used beside that of today; Ivy's cache has what stays.
    """
    for earlier in folder.glob("*.jar"):
        earlier.unlink()
    leave_other_spark()
    # Only this needs PySpark, which takes most of a second to import.
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.jars.packages", ",".join(COORDINATES))
        .config("spark.jars.excludes", _LEFT_OUT)
        .config("spark.jars.ivy", str(folder.parent))
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    session.stop()
    return sorted(folder.glob("*.jar"))


def locked(jars: Iterable[Path]) -> str:
    """The text of the lock file for these jars."""
    return "".join(f"{hashlib.sha256(jar.read_bytes()).hexdigest()}  {jar.name}\n" for jar in jars)


def check(jars: Iterable[Path], lock: Path = LOCK) -> None:
    """Raise JarsDiffer, with the names, unless these are the jars of the lock file, all of them and no others."""
    found, wanted = ({tuple(line.split()) for line in text.splitlines()} for text in (locked(jars), lock.read_text()))
    if odd := sorted({name for _, name in found ^ wanted}):
        raise JarsDiffer(
            f"not what {lock.name} says, or missing, or not in it: {', '.join(odd)}. Remove {JARS.parent} and install again; "
            "if the same is said then, do not use them."
        )


def unsign(jars: Iterable[Path], folder: Path = UNSIGNED) -> list[Path]:
    """Copy those of the jars that are signed into `folder`, without their signatures, and return the copies, sorted.

    What was there goes: a copy of an earlier version would be found before the jar of today.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for earlier in folder.glob("*.jar"):
        earlier.unlink()
    for jar in jars:
        with zipfile.ZipFile(jar) as content:
            kept = [entry for entry in content.infolist() if not _SIGNATURE.fullmatch(entry.filename)]
            if len(kept) < len(content.infolist()):
                _copy(content, kept, folder / jar.name)
    return sorted(folder.glob("*.jar"))


def _copy(jar: zipfile.ZipFile, entries: Iterable[zipfile.ZipInfo], copy: Path) -> None:
    with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as made:
        for entry in entries:
            made.writestr(entry, jar.read(entry))


def main() -> None:
    """Fetch, check or lock, and unsign; ends with one sentence where the jars are others."""
    import pyspark  # as in `resolve`

    jars = resolve()
    if sys.argv[1:] == ["--lock"]:
        LOCK.write_text(locked(jars))
    try:
        check(jars)
    except JarsDiffer as differ:
        sys.exit(f"JarsDiffer: {differ}")
    unsign((Path(pyspark.__file__).parent / "jars").glob("*.jar"))


if __name__ == "__main__":
    main()
