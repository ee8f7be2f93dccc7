"""One machine in the place of EMR's image: what `spark-submit` is given here, against the local AWS."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from local import java
from local.aws.emr.secrets_manager import names_of
from local.aws.emr.spark import SparkJob
from local.aws.emr.workers import gigabytes
from local.bare_python import bare_python
from local.surroundings import LOOPBACK, NO_PROFILES

_MASTER = "local[2]"
_MOST_DRIVER_MEMORY = "2g"
_FROM_OUTSIDE = ("PATH", "HOME", "LANG", "JAVA_HOME", "USER", "TZ")
# One attempt and one more: what IAM denies shall fail in seconds, and there is no network in between.
_ATTEMPTS = "2"


@dataclass(frozen=True)
class DriverKind:
    """What is settled when a driver's JVM starts: its heap, and the environment variables that jobs ask for."""

    memory: str
    environment: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, job: SparkJob) -> DriverKind:
        """The kind of driver that a job asks for; the heap as far as this machine goes."""
        asked = job.conf.get("spark.driver.memory", _MOST_DRIVER_MEMORY)
        memory = asked if gigabytes(asked) <= gigabytes(_MOST_DRIVER_MEMORY) else _MOST_DRIVER_MEMORY
        return cls(memory, tuple(sorted(job.driver_environment.items())))


@dataclass(frozen=True)
class Machine:
    """Where jobs run: the endpoint, the region, the jars, what the JVM is told beside."""

    endpoint: str
    region: str
    jars: tuple[Path, ...]
    jvm_options: tuple[str, ...] = ()

    @classmethod
    def here(cls) -> Machine:
        """The endpoint and region of our own process, and the installed jars. Raises JarsMissing."""
        jars = java.installed_jars()
        return cls(os.environ["AWS_ENDPOINT_URL"], os.environ["AWS_REGION"], jars, java.archive_options(jars))

    def arguments(self, job: SparkJob, folder: Path) -> list[str]:
        """What `spark-submit` is given for a job whose files are local; `folder` is the job's own."""
        conf = {**job.own_conf, **self._must_be_so(job, folder)}
        arguments = ["--master", _MASTER]
        hidden = names_of(job.conf)
        if hidden:
            arguments += ["--properties-file", str(secrets_file(folder))]
        conf = {name: value for name, value in conf.items() if name not in hidden}
        for name, value in conf.items():
            arguments += ["--conf", f"{name}={value}"]
        if job.main_class:
            arguments += ["--class", job.main_class]
        return [*arguments, job.entry_point, *job.arguments]

    def driver_command(self, kind: DriverKind) -> list[str]:
        """The command of a JVM that waits for jobs: `spark-submit` as PySpark starts it for an interactive shell."""
        submit = java.folder_of("pyspark") / "bin" / "spark-submit"
        options = {"--driver-memory": kind.memory, "--driver-class-path": java.before_spark()}
        return [str(submit), *(word for option in options.items() for word in option), "pyspark-shell"]

    def driver_environment(self, kind: DriverKind, folder: Path) -> dict[str, str]:
        """The whole environment of that JVM and of its jobs' programs: nothing of the launcher's AWS.

        The credentials of a job's role are not here: the JVM is told them for each job.
        """
        interpreter = str(bare_python(folder))
        return {
            **{name: os.environ[name] for name in _FROM_OUTSIDE if name in os.environ},
            **dict(kind.environment),
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            # Whatever else a job may call must not reach the real AWS.
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_EC2_METADATA_DISABLED": "true",
            **NO_PROFILES,
            "AWS_MAX_ATTEMPTS": _ATTEMPTS,
            **java.environment(self.jars, *self.jvm_options, f"-Djava.io.tmpdir={folder}"),
            "PYSPARK_PYTHON": interpreter,
            "PYSPARK_DRIVER_PYTHON": interpreter,
            "TMPDIR": str(folder),
        }

    def _must_be_so(self, job: SparkJob, folder: Path) -> dict[str, str]:
        s3a = {
            "endpoint": self.endpoint,
            "endpoint.region": self.region,
            "path.style.access": "true",
            "connection.ssl.enabled": "false",
            "aws.credentials.provider": "com.amazonaws.auth.SystemPropertiesCredentialsProvider",
            "attempts.maximum": _ATTEMPTS,
            "retry.limit": _ATTEMPTS,
            "retry.interval": "200ms",
            # EMR's own file system for s3:// makes and removes no markers of directories, so its role needs no rights for it.
            "directory.marker.retention": "keep",
        }
        return {
            "spark.driver.host": LOOPBACK,
            "spark.driver.bindAddress": LOOPBACK,
            "spark.local.dir": str(folder / "spark"),
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


def secrets_file(folder: Path) -> Path:
    """Where the secrets of the job whose folder it is stand, for jobs that name any."""
    return folder / "secrets.properties"
