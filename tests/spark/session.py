"""A Spark session with a catalog on local disk under the name it has on AWS."""

from __future__ import annotations

import os
from pathlib import Path

from pyspark.sql import SparkSession

from local.aws.emr.machine import java_environment
from spark.session import configured


def session_with(warehouse: Path) -> SparkSession:
    """The session of this process; tables lie below `warehouse`."""
    os.environ.update(java_environment())
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
        .config("spark.sql.catalog.glue", "org.apache.iceberg.spark.SparkCatalog")
        .config("spark.sql.catalog.glue.type", "hadoop")
        .config("spark.sql.catalog.glue.warehouse", warehouse.as_uri())
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "2g")
        # A handful of rows needs no 200 tasks to be shuffled.
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return configured(session)
