"""One machine in the place of EMR's image: `spark-submit` in a fresh process, against the local AWS.

The jars are what EMR 7.14 carries: Iceberg with its AWS clients, and S3A. They stand at the end of Spark's class path
and not in `spark.jars`, which would copy 116 MB for every job and load each class without the JVM's shared archive.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from local.aws.emr.class_archive import jvm_options
from local.aws.emr.secrets_manager import names_of
from local.aws.emr.spark import SparkJob
from local.aws.emr.workers import gigabytes

# A folder of jars to use in place of the project's own.
JARS_VARIABLE = "TIDEMARK_SPARK_JARS"

_MASTER = "local[2]"
_MOST_DRIVER_MEMORY_GB = 2
_FROM_OUTSIDE = ("PATH", "HOME", "LANG", "JAVA_HOME", "USER", "TZ")
# Jobs here are small and many: the first compiler only, which halves the time a small job keeps the processors busy.
# A load of a hundred megabytes then takes a fifth more than with both.
_JVM = ("-XX:TieredStopAtLevel=1", "-Xshare:auto")
# One attempt and one more: what IAM denies shall fail in seconds, and there is no network in between.
_ATTEMPTS = "2"


class JarsMissing(Exception):
    """Spark's jars have not been fetched."""


@dataclass(frozen=True)
class Machine:
    """Where a job runs: a folder of its own, the endpoint, the role session's credentials, the jars."""

    folder: Path
    endpoint: str
    region: str
    credentials: Mapping[str, str]
    jars: tuple[Path, ...]
    jvm_options: tuple[str, ...] = ()

    @classmethod
    def here(cls, folder: Path, credentials: Mapping[str, str]) -> Machine:
        """The endpoint and region of our own process, and the installed jars. Raises JarsMissing."""
        endpoint, region = os.environ["AWS_ENDPOINT_URL"], os.environ["AWS_REGION"]
        plain = cls(folder, endpoint, region, credentials, installed_jars())
        return replace(plain, jvm_options=jvm_options(plain.class_path))

    @property
    def class_path(self) -> tuple[Path, ...]:
        """Every jar that a job's JVM sees: Spark's own, then ours."""
        return (*sorted((folder_of("pyspark") / "jars").glob("*.jar")), *self.jars)

    @property
    def secrets_file(self) -> Path:
        """Where a job's secrets stand, for jobs that name any."""
        return self.folder / "secrets.properties"

    def command(self, job: SparkJob) -> list[str]:
        """The `spark-submit` command of a job whose files are local."""
        conf = {**self._may_be_overridden(), **job.own_conf, **self._must_be_so(job)}
        command = [str(folder_of("pyspark") / "bin" / "spark-submit"), "--master", _MASTER]
        hidden = names_of(job.conf)
        if hidden:
            command += ["--properties-file", str(self.secrets_file)]
        conf = {name: value for name, value in conf.items() if name not in hidden}
        for name, value in conf.items():
            command += ["--conf", f"{name}={value}"]
        if job.main_class:
            command += ["--class", job.main_class]
        return [*command, job.entry_point, *job.arguments]

    def environment(self, job: SparkJob) -> dict[str, str]:
        """The whole environment of the job's process: nothing of the launcher's AWS, all of the role's."""
        interpreter = self._interpreter()
        return {
            **{name: os.environ[name] for name in _FROM_OUTSIDE if name in os.environ},
            **job.driver_environment,
            **self.credentials,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            # Whatever else a job may call must not reach the real AWS.
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_MAX_ATTEMPTS": _ATTEMPTS,
            "SPARK_HOME": str(folder_of("pyspark")),
            "SPARK_DIST_CLASSPATH": ":".join(map(str, self.jars)),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_SUBMIT_OPTS": shlex.join([*_JVM, *self.jvm_options, f"-Djava.io.tmpdir={self.folder}"]),
            "SPARK_LAUNCHER_OPTS": " ".join(_JVM),
            "PYSPARK_PYTHON": str(interpreter),
            "PYSPARK_DRIVER_PYTHON": str(interpreter),
            "TMPDIR": str(self.folder),
        }

    def _interpreter(self) -> Path:
        """Our own Python with PySpark and nothing else, so that a module missing from a bundle is missed here too.

        PySpark is found as a folder: from Spark's own archive, its modules would be compiled anew for every job.
        """
        packages = self.folder / "packages"
        packages.mkdir(exist_ok=True)
        for name in ("pyspark", "py4j"):
            (packages / name).symlink_to(folder_of(name))
        command = self.folder / "python"
        here, python = shlex.quote(str(packages)), shlex.quote(sys.executable)
        command.write_text(f'#!/bin/sh\nPYTHONPATH={here}:"$PYTHONPATH" exec {python} -S "$@"\n')
        command.chmod(0o755)
        return command

    @staticmethod
    def _may_be_overridden() -> dict[str, str]:
        return {"spark.sql.shuffle.partitions": "4"}

    def _must_be_so(self, job: SparkJob) -> dict[str, str]:
        asked = job.conf.get("spark.driver.memory", f"{_MOST_DRIVER_MEMORY_GB}g")
        memory = asked if gigabytes(asked) <= _MOST_DRIVER_MEMORY_GB else f"{_MOST_DRIVER_MEMORY_GB}g"
        s3a = {
            "endpoint": self.endpoint,
            "endpoint.region": self.region,
            "path.style.access": "true",
            "connection.ssl.enabled": "false",
            "aws.credentials.provider": "com.amazonaws.auth.EnvironmentVariableCredentialsProvider",
            "attempts.maximum": _ATTEMPTS,
            "retry.limit": _ATTEMPTS,
            "retry.interval": "200ms",
            # EMR's own file system for s3:// makes and removes no markers of directories, so its role needs no rights for it.
            "directory.marker.retention": "keep",
        }
        return {
            "spark.driver.memory": memory,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": str(self.folder / "spark"),
            "spark.ui.enabled": "false",
            "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
            **{f"spark.hadoop.fs.s3a.{name}": value for name, value in s3a.items()},
            **{f"{catalog}.{name}": value for catalog in job.catalogs for name, value in self._catalog().items()},
        }

    def _catalog(self) -> dict[str, str]:
        """What an Iceberg catalog needs to reach this endpoint."""
        return {
            "glue.endpoint": self.endpoint,
            "s3.endpoint": self.endpoint,
            "s3.path-style-access": "true",
            "client.region": self.region,
            "s3.retry.num-retries": "1",
        }


def installed_jars() -> tuple[Path, ...]:
    """The jars that stand in for EMR's image, sorted. Raises JarsMissing."""
    # Not at the top: it imports PySpark, which the launcher has no other need of.
    from local.spark_jars import JARS

    folder = Path(os.environ.get(JARS_VARIABLE) or JARS)
    jars = tuple(sorted(folder.glob("*.jar")))
    if not jars:
        raise JarsMissing(f"There are no jars for Spark in {folder}; run `make install`")
    return jars


def folder_of(package: str) -> Path:
    """Where a package is installed, found without importing it. Raises ModuleNotFoundError."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"{package} is not installed; run `make install`")
    return Path(found.origin).parent
