"""The obvious way to keep an Iceberg copy, to hold the product's numbers against.

What a first version usually is: a job infers the schema from the data and writes it down, a second one reads the data
with it, the table is unpartitioned and copy-on-write, a number becomes a double, what is nested becomes JSON text, the
newest image of a key goes through one MERGE. It loses values by design; only its cost is of interest here.
"""

from __future__ import annotations

import json
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from local.bench.orders import KEY, merge_statement

_SCALARS = {"S": "string", "N": "double", "BOOL": "boolean", "B": "binary"}


def data_files(summary: Path) -> list[str]:
    """The data files of an export, by its manifest."""
    listed = (summary.parent / "manifest-files.json").read_text().splitlines()
    root = summary.parents[2]
    return [str(root / json.loads(line)["dataFileS3Key"]) for line in listed]


def detect(spark: SparkSession, files: list[str], schema: Path) -> None:
    """The first job of a load: infer what attributes a full export has, and write down the type of each."""
    item = _type_of(spark.read.json(files).schema, "Item")
    schema.write_text(json.dumps({name: _type_of(item, name).names[0] for name in item.names}))


def load(spark: SparkSession, files: list[str], table: str, schema: Path) -> None:
    """The second: replace a table by the attributes that the first has found; reading JSON, Spark infers again."""
    read = spark.read.json(files)
    columns = [_value(read, "Item", name).alias(name) for name in json.loads(schema.read_text())]
    read.select(*columns).writeTo(table).using("iceberg").createOrReplace()


def merge(spark: SparkSession, files: list[str], table: str) -> None:
    """Apply an incremental export."""
    read = spark.read.json(files)
    newest = Window.partitionBy("Keys").orderBy(F.col("Metadata.WriteTimestampMicros.N").cast("bigint").desc())
    last = read.withColumn("place", F.row_number().over(newest)).where("place = 1")
    keys = [part.name for part in KEY]
    held = spark.table(table).columns
    plain = [_value(last, "NewImage", name).alias(name) for name in _type_of(last.schema, "NewImage").names]
    image = last.select(F.col("NewImage").isNull().alias("is_deleted"), *_keys(last, keys), *plain)
    image.createOrReplaceTempView("obvious_changes")
    spark.sql(merge_statement(table, "obvious_changes", [name for name in held if name in image.columns]))


def _keys(rows: DataFrame, names: list[str]) -> list[Column]:
    return [_value(rows, "Keys", name).alias(f"key_{name}") for name in names]


def _value(rows: DataFrame, image: str, name: str) -> Column:
    """An attribute's value under whichever type was inferred first."""
    tags = _type_of(_type_of(rows.schema, image), name).names
    at = F.col(image)[name]
    known = next((tag for tag in tags if tag in _SCALARS), None)
    if known is None:
        return F.to_json(at)
    text = at[known]
    return F.unbase64(text) if known == "B" else text.cast(_SCALARS[known])


def _type_of(schema: StructType, name: str) -> StructType:
    found = schema[name].dataType
    assert isinstance(found, StructType)  # DynamoDB JSON has a struct wherever this looks
    return found
