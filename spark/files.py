"""Small files by URI, through Hadoop's file systems: the same code for ``s3://`` and ``file://``."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from spark.java import causes

#: What Hadoop's paths spell otherwise than URIs: escapes, parts that say nothing, a slash at the end.
_ODD_PATH = re.compile(r"%|//|(^|/)\.{0,2}$|/\.{1,2}/")
#: Bytes that are brought over from Java at once.
_PIECE = 1_048_576


def hadoop_path(spark: SparkSession, uri: str) -> Any:
    """The URI as a Hadoop path."""
    java = _java(spark)
    return java.path(java.uri(uri) if uri.startswith("file:") and "%" in uri else uri)


def plain_path(spark: SparkSession, uri: str) -> str:
    """The URI as Spark's readers take and report it, which is asked of each file several times."""
    scheme, _, rest = uri.partition("://")
    if _ODD_PATH.search(rest):
        return str(hadoop_path(spark, uri).toString())
    # Java would say the same, and takes its time for each file.
    return uri if scheme != "file" else f"file:{rest}"


def exists(spark: SparkSession, uri: str) -> bool:
    """Whether there is a file under this URI."""
    return bool(_file_system(spark, _root(uri)).exists(hadoop_path(spark, uri)))


def read(spark: SparkSession, uri: str) -> bytes | None:
    """The content of a small file; None where there is none."""
    try:
        stream = _file_system(spark, _root(uri)).open(hadoop_path(spark, uri))
    except Py4JJavaError as failure:
        if "FileNotFoundException" in causes(failure):
            return None
        raise
    try:
        return bytes(_java(spark).to_bytes(stream))
    finally:
        stream.close()


def first_lines(spark: SparkSession, uri: str, most: int) -> list[bytes]:
    """The first lines of a file, unpacked as its name says; all of them where it has no more."""
    path = hadoop_path(spark, uri)
    codecs = spark._jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(_java(spark).configuration)
    codec, stream = codecs.getCodec(path), _file_system(spark, _root(uri)).open(path)
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
    stream = _file_system(spark, _root(uri)).create(hadoop_path(spark, uri), True)
    try:
        stream.write(bytearray(content))
    finally:
        stream.close()


class _Java(NamedTuple):
    """What is asked of Java for every file."""

    path: Any
    uri: Any
    to_bytes: Any
    configuration: Any


# Of a hundred windows some four hundred small files are read, and every question to Java takes its time: what is the same
# for all of them is asked once. Each part of a Java name is looked for in all jars, which takes longer than a read.
@lru_cache(maxsize=1)
def _java(spark: SparkSession) -> _Java:
    of_hadoop, of_java, of_commons = spark._jvm.org.apache.hadoop.fs, spark._jvm.java.net, spark._jvm.org.apache.commons
    return _Java(of_hadoop.Path, of_java.URI, of_commons.io.IOUtils.toByteArray, spark._jsc.hadoopConfiguration())


@lru_cache(maxsize=8)
def _file_system(spark: SparkSession, root: str) -> Any:
    return _java(spark).path(root).getFileSystem(_java(spark).configuration)


def _root(uri: str) -> str:
    """The URI of what the file system of another begins with: ``s3://bucket/``, ``file:///``."""
    return "/".join(uri.split("/", 3)[:3]) + "/"
