"""Small files by URI, through Hadoop's file systems: the same code for ``s3://`` and ``file://``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from spark.java import causes

#: Bytes that are brought over from Java at once.
_PIECE = 1_048_576


def hadoop_path(spark: SparkSession, uri: str) -> Any:
    """The URI as a Hadoop path. A ``file:`` URI is percent-encoded, an ``s3:`` one is not: object keys stand as they are."""
    path, java_uri, _ = _classes(spark._jvm)
    return path(java_uri(uri) if uri.startswith("file:") else uri)


def plain_path(spark: SparkSession, uri: str) -> str:
    """The URI as Spark's readers take and report it."""
    return str(hadoop_path(spark, uri).toString())


def exists(spark: SparkSession, uri: str) -> bool:
    """Whether there is a file under this URI."""
    path = hadoop_path(spark, uri)
    return bool(_file_system(spark, path).exists(path))


def read(spark: SparkSession, uri: str) -> bytes | None:
    """The content of a small file; None where there is none."""
    path = hadoop_path(spark, uri)
    try:
        stream = _file_system(spark, path).open(path)
    except Py4JJavaError as failure:
        if "FileNotFoundException" in causes(failure):
            return None
        raise
    try:
        return bytes(_classes(spark._jvm)[2].toByteArray(stream))
    finally:
        stream.close()


def first_lines(spark: SparkSession, uri: str, most: int) -> list[bytes]:
    """The first lines of a file, unpacked as its name says; all of them where it has no more."""
    path = hadoop_path(spark, uri)
    codecs = spark._jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(spark._jsc.hadoopConfiguration())
    codec, stream = codecs.getCodec(path), _file_system(spark, path).open(path)
    content = codec.createInputStream(stream) if codec else stream
    pieces, held = [], 0
    try:
        while held < most and (piece := bytes(content.readNBytes(_PIECE))):
            pieces.append(piece)
            held += piece.count(b"\n")
    finally:
        content.close()
    return b"".join(pieces).splitlines()[:most]


def write(spark: SparkSession, uri: str, content: bytes) -> None:
    """Write a small file whole, over any that is there."""
    path = hadoop_path(spark, uri)
    stream = _file_system(spark, path).create(path, True)
    try:
        stream.write(bytearray(content))
    finally:
        stream.close()


def _file_system(spark: SparkSession, path: Any) -> Any:
    return path.getFileSystem(spark._jsc.hadoopConfiguration())


@lru_cache(maxsize=1)
def _classes(jvm: Any) -> tuple[Any, Any, Any]:
    """Path, URI, IOUtils of one JVM. Each part of a Java name is asked of all jars in turn, which takes longer than a read."""
    return jvm.org.apache.hadoop.fs.Path, jvm.java.net.URI, jvm.org.apache.commons.io.IOUtils
