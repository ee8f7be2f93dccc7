"""What the local commands are kept apart from: a person's own AWS and Spark, other modules, the proxy of the network."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pipeline.deployment import STACK_VARIABLE

LOOPBACK = "127.0.0.1"
#: Which hosts are asked without the proxy that the environment may name: some tools read the one, some the other.
_NO_PROXY = ("NO_PROXY", "no_proxy")
#: A person's own profiles must play no part.
NO_PROFILES = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
#: What a person's own Spark or Hadoop is told by: its settings and jars would come into ours, or end it before it begins.
_OF_ANOTHER_SPARK = ("SPARK_", "PYSPARK_", "HADOOP_", "YARN_")
#: Where what is needed for a while may lie is a word on the machine, and holds for ours, too.
_OF_THE_MACHINE = "SPARK_LOCAL_DIRS"


def keep_apart() -> None:
    """Let this process, and all that it starts, know of no other AWS, and reach the loopback by itself.

    Beside our own clients some are made by others, as PyIceberg makes its own: those go by the environment alone.
    """
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    hosts = os.environ.get("no_proxy") or os.environ.get("NO_PROXY", "")
    if LOOPBACK not in hosts.split(","):
        hosts = f"{hosts},{LOOPBACK}" if hosts else LOOPBACK
    os.environ.update({**NO_PROFILES, **dict.fromkeys(_NO_PROXY, hosts)})


def kept_apart() -> dict[str, str]:
    """What says so to a shell, or to a process that is started."""
    return {**NO_PROFILES, **{name: os.environ.get(name, LOOPBACK) for name in _NO_PROXY}}


def leave_other_spark() -> None:
    """Let this process, and all that it starts, know of no other Spark and of no cluster."""
    for name in list(filter(_is_of_another_spark, os.environ)):
        del os.environ[name]


def leave_other_modules() -> None:
    """Let this process, and all that it starts, import what is installed for the project, and nothing by PYTHONPATH.

    Who has a Spark of their own often has its PySpark there, which would be taken for ours. Our own folder may be there.
    """
    others = {Path(folder).resolve() for folder in os.environ.pop("PYTHONPATH", "").split(os.pathsep) if folder}
    others.discard(Path(__file__).resolve().parent.parent)
    sys.path[:] = [folder for folder in sys.path if not folder or Path(folder).resolve() not in others]


def clean_environment() -> dict[str, str]:
    """The environment of this process without anything that belongs to another AWS, stack, Python or Spark."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AWS_", "CDK_", "PYTHON", STACK_VARIABLE)) and not _is_of_another_spark(name)
    }


def _is_of_another_spark(name: str) -> bool:
    return name.startswith(_OF_ANOTHER_SPARK) and name != _OF_THE_MACHINE
