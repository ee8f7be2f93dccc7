"""A Spark job as it was asked for: parameters understood as `spark-submit` understands them.

What only EMR has is told apart here, by name; what a machine must add to run the job is `machine`'s.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Options of spark-submit that stand for a setting.
_OPTIONS = {
    "--py-files": "spark.submit.pyFiles",
    "--jars": "spark.jars",
    "--files": "spark.files",
    "--archives": "spark.archives",
    "--name": "spark.app.name",
    "--driver-memory": "spark.driver.memory",
    "--driver-cores": "spark.driver.cores",
    "--executor-memory": "spark.executor.memory",
    "--executor-cores": "spark.executor.cores",
    "--num-executors": "spark.executor.instances",
}
# Settings that list files, each of which may lie in S3.
_LISTS = ("spark.submit.pyFiles", "spark.jars", "spark.files", "spark.archives")
# Where the image of EMR keeps its libraries; here they are on the class path already.
_IMAGE = re.compile(r"(local://|file://)?/usr/(share|lib)/")
# Settings of the service or of a cluster, which mean nothing to one process.
_ELSEWHERE = re.compile(
    r"spark\.(emr-serverless\..*|executor\..*|executorEnv\..*|dynamicAllocation\..*|kubernetes\..*|eventLog\..*|ui\..*"
    r"|master|submit\.deployMode|driver\.cores|driver\.memory|driver\.memoryOverhead\w*)"
)
_DRIVER_ENVIRONMENT = "spark.emr-serverless.driverEnv."
# These name an interpreter of EMR's image, or of an archive built for it.
_INTERPRETERS = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
_CATALOG = re.compile(r"spark\.sql\.catalog\.[^.]+")


class JobUnreadable(ValueError):
    """The parameters are not what spark-submit takes, or need what is not here."""


@dataclass(frozen=True)
class SparkJob:
    """What to run, with which arguments and which settings; `spark-submit`'s options are settings too."""

    entry_point: str
    arguments: tuple[str, ...]
    conf: Mapping[str, str]
    main_class: str | None = None

    @classmethod
    def parse(cls, driver: Mapping[str, Any], *configurations: list[Mapping[str, Any]]) -> SparkJob:
        """Read a job driver's `sparkSubmit`, over the `spark-defaults` of the configurations, the last one winning.

        Raises JobUnreadable.
        """
        conf: dict[str, str] = {}
        for configuration in configurations:
            for classification in configuration:
                if classification["classification"] == "spark-defaults":
                    conf |= classification.get("properties", {})
        main_class = None
        for option, value in _options(driver.get("sparkSubmitParameters", "")):
            if option == "--class":
                main_class = value
            elif option == "--conf":
                name, given, setting = value.partition("=")
                if not given:
                    raise JobUnreadable(f"--conf {value} is not NAME=VALUE")
                conf[name.strip()] = setting
            elif option in _OPTIONS:
                conf[_OPTIONS[option]] = value
            else:
                raise JobUnreadable(f"sparkSubmitParameters: the local AWS does not know the option {option}")
        return cls(driver["entryPoint"], tuple(driver.get("entryPointArguments", [])), conf, main_class)

    def with_files(self, fetch: Callable[[str], Path]) -> SparkJob:
        """The same job on local files: what lies in S3 is fetched, what EMR's image holds is left out."""
        listed = {name: self._local(self.conf[name], fetch) for name in _LISTS if name in self.conf}
        entry = str(fetch(self.entry_point)) if self.entry_point.startswith("s3://") else self.entry_point
        conf = {**self.conf, **listed}
        return dataclasses.replace(self, entry_point=entry, conf={name: v for name, v in conf.items() if v})

    @property
    def own_conf(self) -> dict[str, str]:
        """The settings that mean the same on any machine."""
        return {name: value for name, value in self.conf.items() if not _ELSEWHERE.fullmatch(name)}

    @property
    def driver_environment(self) -> dict[str, str]:
        """The environment variables that the job asks for in its driver."""
        names = [name for name in self.conf if name.startswith(_DRIVER_ENVIRONMENT)]
        asked = {name.removeprefix(_DRIVER_ENVIRONMENT): self.conf[name] for name in names}
        return {name: value for name, value in asked.items() if name not in _INTERPRETERS}

    @property
    def catalogs(self) -> list[str]:
        """The settings that name a catalog's class: `spark.sql.catalog.<name>`."""
        return [name for name in self.conf if _CATALOG.fullmatch(name)]

    def _local(self, uris: str, fetch: Callable[[str], Path]) -> str:
        """A comma-separated list with local paths; an archive keeps the name it is unpacked under (`#name`)."""
        found = []
        for uri in filter(None, (one.strip() for one in uris.split(","))):
            if _IMAGE.match(uri):
                continue
            address, hash_sign, alias = uri.partition("#")
            found.append(f"{fetch(address)}{hash_sign}{alias}" if address.startswith("s3://") else uri)
        return ",".join(found)


def _options(parameters: str) -> Iterator[tuple[str, str]]:
    """The options with their values, in order; every option that is known here takes one. Raises JobUnreadable."""
    try:
        words = iter(shlex.split(parameters))
    except ValueError as unreadable:
        raise JobUnreadable(f"sparkSubmitParameters cannot be parsed: {unreadable}") from unreadable
    for word in words:
        option, equals, value = word.partition("=")
        if not option.startswith("--"):
            raise JobUnreadable(f"sparkSubmitParameters: {word!r} is no option")
        if not equals:
            value = next(words, "")
        if not value:
            raise JobUnreadable(f"sparkSubmitParameters: {option} has no value")
        yield option, value
