"""The workers a job asks for: whether the application has room for them, and what AWS would bill.

Sizes and their defaults: "Spark job properties" of the EMR Serverless user guide. Here one process does all the work,
so the numbers answer "what would a run of this length cost with these settings".
"""

import math
import re
from dataclasses import dataclass

from local.aws.emr.spark import SparkJob
from local.aws.emr.store import Record

_DEFAULT_CORES = 4
_DEFAULT_MEMORY = "14g"
_DEFAULT_EXECUTORS = 3
# Memory beside the heap: a tenth of it, at least 384 MiB.
_OVERHEAD_SHARE = 0.1
_LEAST_OVERHEAD_GB = 0.375
# Storage a worker has unless it asks for more, and does not pay for.
_FREE_STORAGE_GB = 20
_STORAGE_GB = range(_FREE_STORAGE_GB, 201)
_LEAST_BILLED_SECONDS = 60
# What an application's capacity bounds, and what of a worker counts.
_CAPACITIES = {"cpu": "vcpus", "memory": "memory_gb", "disk": "disk_gb"}

_SIZE = re.compile(r"(\d+)\s*([kmgt]?)b?", re.IGNORECASE)
_GB = {"k": 1 / 1024**2, "m": 1 / 1024, "": 1 / 1024, "g": 1, "t": 1024}


class NoRoom(Exception):
    """The job may not have the workers that it begins with."""


@dataclass(frozen=True)
class Worker:
    """The size of one worker; memory with overhead, in whole gigabytes."""

    vcpus: int
    memory_gb: int
    disk_gb: int = _FREE_STORAGE_GB


def worker_of(job: SparkJob, kind: str) -> Worker:
    """The worker of a kind, `driver` or `executor`, that a job asks for. Raises NoRoom for a disk of no size there is."""
    cores = int(job.conf.get(f"spark.{kind}.cores", _DEFAULT_CORES))
    heap = gigabytes(job.conf.get(f"spark.{kind}.memory", _DEFAULT_MEMORY))
    overhead = job.conf.get(f"spark.{kind}.memoryOverhead")
    beside = gigabytes(overhead) if overhead else max(_OVERHEAD_SHARE * heap, _LEAST_OVERHEAD_GB)
    disk = gigabytes(job.conf.get(f"spark.emr-serverless.{kind}.disk", f"{_FREE_STORAGE_GB}g"))
    if disk not in _STORAGE_GB:
        raise NoRoom(f"Disk of the {kind} is {disk:g} GB; a worker has {_STORAGE_GB[0]} to {_STORAGE_GB[-1]} GB")
    return Worker(cores, math.ceil(heap + beside), int(disk))


def executors_of(job: SparkJob) -> int:
    """How many executors a job begins with: as many as it asks for, within the bounds of dynamic allocation."""
    asked = int(job.conf.get("spark.executor.instances", _DEFAULT_EXECUTORS))
    most = job.conf.get("spark.dynamicAllocation.maxExecutors")
    return min(asked, int(most)) if most else asked


def gigabytes(size: str) -> float:
    """A size as Spark writes it, such as 13g or 2048m, in gigabytes; mebibytes without a unit. Raises ValueError."""
    found = _SIZE.fullmatch(size.strip())
    if not found:
        raise ValueError(f"{size!r} is not a size such as 13g")
    return int(found[1]) * _GB[found[2].lower()]


def require_room(job: SparkJob, application: Record) -> None:
    """Raise NoRoom for more executors at first than at most, for a disk of no size there is, and for too small an application.

    That is one without room for the driver and one executor.
    """
    initial, most = (job.conf.get(f"spark.dynamicAllocation.{name}Executors") for name in ("initial", "max"))
    if most and int(initial or _DEFAULT_EXECUTORS) > int(most):
        raise NoRoom(
            f"Maximum value of spark.dynamicAllocation.initialExecutors: {initial or _DEFAULT_EXECUTORS} must be between "
            f"spark.dynamicAllocation.minExecutors: 0 and spark.dynamicAllocation.maxExecutors: {most}"
        )
    driver, executor = worker_of(job, "driver"), worker_of(job, "executor")
    asked = {name: getattr(driver, size) + getattr(executor, size) for name, size in _CAPACITIES.items()}
    capacity = application.get("maximumCapacity", {})
    room = {name: int(re.match(r"\d+", most)[0]) for name, most in capacity.items()}  # type: ignore[index]  # checked before
    if any(asked[name] > most for name, most in room.items()):
        told = ", ".join(f"{name}: {most} {'vCPU' if name == 'cpu' else 'GB'}" for name, most in room.items())
        raise NoRoom(
            "Job failed: ApplicationMaxCapacityExceededException: Worker could not be allocated as the application has "
            f"exceeded maximumCapacity settings: [{told}]"
        )


def note_usage(run: Record, job: SparkJob, seconds: float) -> None:
    """Write into the job run how long it took, what its workers used, and what of that is billed."""
    driver, executor, executors = worker_of(job, "driver"), worker_of(job, "executor"), executors_of(job)
    vcpus = driver.vcpus + executors * executor.vcpus
    memory = driver.memory_gb + executors * executor.memory_gb
    disk, free = driver.disk_gb + executors * executor.disk_gb, _FREE_STORAGE_GB * (1 + executors)
    hours, billed_hours = seconds / 3600, max(math.ceil(seconds), _LEAST_BILLED_SECONDS) / 3600
    run["totalExecutionDurationSeconds"] = round(seconds)
    run["totalResourceUtilization"] = {
        "vCPUHour": round(vcpus * hours, 3),
        "memoryGBHour": round(memory * hours, 3),
        "storageGBHour": round(disk * hours, 3),
    }
    run["billedResourceUtilization"] = {
        "vCPUHour": round(vcpus * billed_hours, 3),
        "memoryGBHour": round(memory * billed_hours, 3),
        "storageGBHour": round((disk - free) * billed_hours, 3),
    }
