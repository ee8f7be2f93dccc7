"""Small files by URI, through Hadoop's file systems: the same code for ``s3://`` and ``file://``."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession


def hadoop_path(spark: SparkSession, uri: str) -> Any:
    """The URI as a Hadoop path. A ``file:`` URI is percent-encoded, an ``s3:`` one is not: object keys stand as they are."""
    jvm = spark._jvm
    assert jvm is not None  # there is one wherever there is a session
    return jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(uri) if uri.startswith("file:") else uri)


def plain_path(spark: SparkSession, uri: str) -> str:
    """The URI as Spark's readers take and report it."""
    return str(hadoop_path(spark, uri).toString())


def exists(spark: SparkSession, uri: str) -> bool:
    """Whether there is a file under this URI."""
    return bool(_file_system(spark, uri).exists(hadoop_path(spark, uri)))


def read(spark: SparkSession, uri: str) -> bytes | None:
    """The content of a small file; None where there is none."""
    if not exists(spark, uri):
        return None
    stream = _file_system(spark, uri).open(hadoop_path(spark, uri))
    try:
        return bytes(spark._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
    finally:
        stream.close()


def write(spark: SparkSession, uri: str, content: bytes) -> None:
    """Write a small file whole, over any that is there."""
    stream = _file_system(spark, uri).create(hadoop_path(spark, uri), True)
    try:
        stream.write(bytearray(content))
    finally:
        stream.close()


def _file_system(spark: SparkSession, uri: str) -> Any:
    return hadoop_path(spark, uri).getFileSystem(spark._jsc.hadoopConfiguration())
