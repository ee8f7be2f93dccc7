"""The Java that Spark runs on here: its jars, its archive of classes, and what it is told when it starts.

The jars are what EMR 7.14 carries: Iceberg with its AWS clients, and S3A. They stand at the end of Spark's class path
and not in `spark.jars`, which would copy 116 MB for every job and load each class without the JVM's shared archive. At
its beginning stand unsigned copies of Spark's signed jars, because that archive takes nothing of signed ones.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from local.failed import Failed
from local.spark_jars import JARS, UNSIGNED
from local.surroundings import LOOPBACK
from pipeline.spark_submit import LESS_INLINING

# A folder of jars to use in place of the project's own.
JARS_VARIABLE = "TIDEMARK_SPARK_JARS"
ARCHIVES = JARS.parents[1] / "spark-classes"

# Jobs here are small and many: the first compiler only, which halves the time a small job keeps the processors busy.
# A load of a hundred megabytes then takes a fifth more than with both.
_LAUNCHER = ("-XX:TieredStopAtLevel=1", "-Xshare:auto")
_LOGS = f"-Dlog4j.configurationFile={Path(__file__).with_name('log4j2.properties')}"
# Java takes the whole heap apart the first time its classes outgrow 21 MB, which every job's do.
_ANY_JOB = (
    "-XX:MetaspaceSize=256m",
    # Without beans by which nobody asks it anything, and with its configuration from the start, a twentieth of a second less.
    "-Dlog4j2.disableJmx=true",
    _LOGS,
)


@dataclass(frozen=True)
class Start:
    """How Java is started. `is_prepared`: with what is laid ready here for it to start sooner, which EMR's images have not."""

    options: tuple[str, ...]
    is_prepared: bool = True


#: With one compiler only, Java has a fifth of the room for compiled code, which many jobs in one JVM fill.
#: The serial collector costs the least processor time on a heap of this size.
SMALL_JOB = Start((*_LAUNCHER, *_ANY_JOB, "-XX:ReservedCodeCacheSize=240m", "-XX:+UseSerialGC"))
# Nobody waits for the pauses of a job: the collector that stops for all its work takes a fifth less processor time of a
# load than Java's default, which collects beside it. Code that grows less by inlining is a third less work for the
# second compiler, and runs about as fast.
# So much a load needs in the end; Java takes all of its heap apart each time that grows, in the middle of the sort.
BULK_JOB = Start((*_ANY_JOB, "-XX:+UseParallelGC", "-Xms1200m", *LESS_INLINING))
#: As Spark starts it by itself; and with what our jobs tell EMR Serverless to tell it.
PLAIN = Start((_LOGS,), is_prepared=False)
OURS_ON_EMR = Start((_LOGS, *LESS_INLINING), is_prepared=False)


def start_of(*, is_bulk: bool) -> Start:
    """How Java is started for a job, by whether it goes through so much data that making its code fast pays."""
    return BULK_JOB if is_bulk else SMALL_JOB


class JarsMissing(Failed):
    """Spark's jars have not been fetched."""


def environment(jars: Sequence[Path], *options: str, start: Start = SMALL_JOB) -> dict[str, str]:
    """What Spark's scripts must find in the environment to start Java with these jars. `options`: more of the JVM's own."""
    return {
        # Where it does not stand, the scripts start a Python to look for it; where it stands, they take whatever it names.
        "SPARK_HOME": str(folder_of("pyspark")),
        # Spark would look for the machine's name in the network, and offer itself to it.
        "SPARK_LOCAL_IP": LOOPBACK,
        **_names_of_files(),
        "SPARK_DIST_CLASSPATH": ":".join(map(str, jars)),
        # For the Java that does nothing but spell out the command of the other.
        "SPARK_LAUNCHER_OPTS": shlex.join(_LAUNCHER if start.is_prepared else ()),
        "SPARK_SUBMIT_OPTS": shlex.join([*start.options, *options]),
    }


def _names_of_files() -> dict[str, str]:
    """What lets Java name files as this process does: in the locale C, which holds where none is set, Python takes UTF-8.

    On a Mac Java does the same, and not every Mac has the locale C.UTF-8.
    """
    is_utf_8 = sys.getfilesystemencoding() == "utf-8" and sys.platform != "darwin"
    return {"LC_ALL": "C.UTF-8"} if is_utf_8 else {}


def installed_jars() -> tuple[Path, ...]:
    """The jars that stand in for EMR's image, sorted. Raises JarsMissing."""
    folder = Path(os.environ.get(JARS_VARIABLE) or JARS)
    jars = tuple(sorted(folder.glob("*.jar")))
    if not jars:
        raise JarsMissing(f"There are no jars for Spark in {folder}; run `make install`")
    return jars


def before_spark() -> str:
    """What the class path of every driver begins with, before Spark's own jars."""
    return ":".join(map(str, _unsigned()))


def _unsigned() -> list[Path]:
    return sorted(UNSIGNED.glob("*.jar"))


def folder_of(package: str) -> Path:
    """Where a package is installed, found without importing it. Raises ModuleNotFoundError."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"{package} is not installed; run `make install`")
    # As it was installed: a class path by way of a link would be another one for the archive of classes.
    return Path(found.origin).resolve().parent


def archive_options(jars: Sequence[Path]) -> tuple[str, ...]:
    """What makes the JVM use the archive of Spark's classes with these jars; nothing where there is none."""
    archive = archive_of(jars)
    # An archive that does not fit is left aside by the JVM, whose warnings would be lines of the job's output.
    return (f"-XX:SharedArchiveFile={archive}", "-Xlog:disable") if archive.exists() else ()


def archive_of(jars: Sequence[Path]) -> Path:
    """Where that archive lies or would lie; another Java or another jar is another archive."""
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else shutil.which("java")
    of_spark = sorted((folder_of("pyspark") / "jars").glob("*.jar"))
    files = [Path(java).resolve() if java else Path("java"), *_unsigned(), *of_spark, *jars]
    known = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files if file.exists()]
    return ARCHIVES / f"{hashlib.sha256(repr(known).encode()).hexdigest()[:16]}.jsa"
