"""What a job would cost, and whether there is room for it."""

import pytest

from local.aws.emr.spark import SparkJob
from local.aws.emr.workers import NoRoom, Worker, executors_of, gigabytes, note_usage, require_room, worker_of


def job(**conf: str) -> SparkJob:
    return SparkJob("s3://b/job.py", (), {f"spark.{name.replace('_', '.')}": value for name, value in conf.items()})


@pytest.mark.parametrize(
    ("size", "expected"), [("13g", 13), ("2048m", 2), ("1T", 1024), ("512", 0.5), ("4 GB", 4), ("1048576k", 1)]
)
def test_sizes_are_read_as_spark_writes_them(size: str, expected: float) -> None:
    assert gigabytes(size) == expected


def test_a_worker_is_its_heap_and_what_lies_beside_it_in_whole_gigabytes() -> None:
    assert worker_of(job(driver_cores="2", driver_memory="4g"), "driver") == Worker(2, 5)
    assert worker_of(job(executor_memory="1g", executor_memoryOverhead="1g"), "executor") == Worker(4, 2)
    assert worker_of(job(), "driver") == Worker(4, 16)


def test_executors_are_those_asked_for_within_the_bound_of_dynamic_allocation() -> None:
    assert executors_of(job()) == 3
    assert executors_of(job(dynamicAllocation_maxExecutors="2")) == 2
    assert executors_of(job(executor_instances="1", dynamicAllocation_maxExecutors="9")) == 1


def test_every_worker_is_billed_for_a_minute_at_least() -> None:
    run: dict[str, object] = {}
    note_usage(run, job(driver_cores="1", driver_memory="1g", executor_instances="0"), seconds=30)

    assert run["totalExecutionDurationSeconds"] == 30
    assert run["totalResourceUtilization"] == {"vCPUHour": 0.008, "memoryGBHour": 0.017, "storageGBHour": 0.167}
    assert run["billedResourceUtilization"] == {"vCPUHour": 0.017, "memoryGBHour": 0.033, "storageGBHour": 0.0}


def test_a_job_whose_driver_and_executor_exceed_the_capacity_is_refused() -> None:
    require_room(job(), {"maximumCapacity": {"cpu": "8 vCPU", "memory": "32 GB"}})
    require_room(job(), {})
    with pytest.raises(NoRoom, match="7 vCPU"):
        require_room(job(), {"maximumCapacity": {"cpu": "7 vCPU", "memory": "32 GB"}})
    with pytest.raises(NoRoom, match="31 GB"):
        require_room(job(), {"maximumCapacity": {"cpu": "8vCPU", "memory": "31GB"}})
    with pytest.raises(NoRoom, match="disk: 39 GB"):
        require_room(job(), {"maximumCapacity": {"cpu": "8 vCPU", "memory": "32 GB", "disk": "39 GB"}})


DISKS = {"emr-serverless_driver_disk": "30g", "emr-serverless_executor_disk": "100G"}


def test_disk_beyond_what_a_worker_has_anyway_is_billed() -> None:
    run: dict[str, dict[str, float]] = {}
    note_usage(run, job(**DISKS, executor_instances="2"), seconds=3600)
    assert run["totalResourceUtilization"]["storageGBHour"] == 230
    assert run["billedResourceUtilization"]["storageGBHour"] == 170


@pytest.mark.parametrize("size", ["19g", "201g"])
def test_a_disk_of_no_size_there_is_is_refused(size: str) -> None:
    with pytest.raises(NoRoom, match="Disk of the driver"):
        require_room(job(**{"emr-serverless_driver_disk": size}), {})
