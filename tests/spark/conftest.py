"""One Spark session for all Spark tests, with a catalog on local disk under the name it has on AWS."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.session import session_with
from tests.spark.shop import Shop

_numbers = itertools.count(1)


def pytest_collection_modifyitems(config: pytest.Config) -> None:
    # PySpark leaves the socket of every collect() to the garbage collector, and warnings are errors here.
    config.addinivalue_line("filterwarnings", "ignore:unclosed <socket:ResourceWarning")


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(scope="session")
def spark(warehouse: Path) -> Iterator[SparkSession]:
    session = session_with(warehouse)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def shop(spark: SparkSession, warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Shop]:
    """Makes source tables, each with a table and a folder of exports of its own."""

    def make(**options) -> Shop:
        number = next(_numbers)
        return Shop(spark, tmp_path_factory.mktemp("bucket"), warehouse, f"orders{number}", **options)

    return make
