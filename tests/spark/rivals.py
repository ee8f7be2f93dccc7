"""Rivals: jobs that commit beside another one, which does not see them come."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread

from pipeline.job_order import JobOrder
from spark.job import run
from tests.spark.shop import Shop


def beside(source: Shop, order: JobOrder) -> JobOrder:
    """The same order through a catalog of its own, as another job's session has it."""
    conf, catalog = source.spark.conf, "spark.sql.catalog.rival"
    for name, value in {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "hadoop"}.items():
        conf.set(catalog + name, value)
    conf.set(f"{catalog}.warehouse", source.warehouse.as_uri())
    found = replace(order, table=f"rival.shop.{source.name}")
    source.spark.table(found.table)  # so that the session knows the catalog in every thread
    return found


def run_beside(source: Shop, order: JobOrder) -> None:
    """Run a job in a thread of its own: what this one commits carries the properties of the job."""
    other = Thread(target=run, args=(source.spark, beside(source, order)))
    other.start()
    other.join()
