"""Values for the Java side of the session."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

#: Of an answer longer than 8,192 bytes, Java's side of the bridge sends the rest only when the beginning has been
#: acknowledged, for which the system takes 40 ms. In one of so many characters each may be escaped.
_ANSWER = 4_000
_LAST_OF_ASCII = 127
_MOST_CAUSES = 20


def string_map(spark: SparkSession, values: Mapping[str, str]) -> Any:
    """A Java map of strings."""
    java = spark._jvm.java.util.HashMap()
    for name, value in values.items():
        java.put(name, value)
    return java


def ascii_text(buffer: Any) -> str:
    """The text in a StringBuffer of Java's, all of it ASCII, in answers that come at once."""
    length = buffer.length()
    return "".join(buffer.substring(at, min(at + _ANSWER, length)) for at in range(0, length, _ANSWER))


def scala_object(package: Any, name: str) -> Any:
    """The one instance of an object of Scala's, by its package in the JVM and its name."""
    return getattr(getattr(package, f"{name}$"), "MODULE$")


def iceberg_schema(spark: SparkSession, schema: Mapping[str, Any]) -> Any:
    """An Iceberg schema from the JSON of a Spark schema; comments become docs, `nullable: false` becomes required."""
    struct = spark._jvm.org.apache.spark.sql.types.DataType.fromJson(json.dumps(schema))
    return spark._jvm.org.apache.iceberg.spark.SparkSchemaUtil.convert(struct)


def iceberg_metadata(spark: SparkSession, table: Any) -> dict[str, Any]:
    """A table's metadata as Iceberg writes it in JSON."""
    iceberg, written = spark._jvm.org.apache.iceberg, spark._jvm.java.io.StringWriter()
    generator = iceberg.util.JsonUtil.factory().createGenerator(written)
    generator.setHighestNonEscapedChar(_LAST_OF_ASCII)
    iceberg.TableMetadataParser.toJson(table.operations().current(), generator)
    generator.flush()
    content: dict[str, Any] = json.loads(ascii_text(written.getBuffer()))
    return content


def causes(failure: Py4JJavaError) -> list[str]:
    """The simple names of a Java exception's class and of all its causes, outermost first."""
    return [cause.getClass().getSimpleName() for cause in _chain(failure)]


def classes(failure: Py4JJavaError) -> list[str]:
    """The names of the same classes with their packages."""
    return [cause.getClass().getName() for cause in _chain(failure)]


def thrown_in(failure: Py4JJavaError) -> str:
    """The class in which the innermost cause of a Java exception was thrown, with its package; empty if it does not say."""
    frames = _chain(failure)[-1].getStackTrace()
    return str(frames[0].getClassName()) if len(frames) else ""


def _chain(failure: Py4JJavaError) -> list[Any]:
    """A Java exception and its causes, as far as they matter: a chain may lead back into itself."""
    found, cause = [], failure.java_exception
    while cause is not None and len(found) < _MOST_CAUSES:
        found.append(cause)
        cause = cause.getCause()
    return found
