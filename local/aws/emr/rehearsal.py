"""What Spark jobs here do, on a handful of rows: the program whose loaded classes are archived (`class_archive`).

Reads JSON lines from S3 with an explicit schema, writes an Iceberg table, merges into it what it has folded and kept,
and looks at its history.
Arguments: the URI of the lines, the name of the table.
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main(lines: str, table: str) -> None:
    """Load, merge, look."""
    spark = SparkSession.builder.getOrCreate()
    spark.conf.set("spark.sql.join.preferSortMergeJoin", "false")
    items = (
        spark.read.text(lines)
        .select(
            F.from_json("value", "id BIGINT, item MAP<STRING, STRUCT<S: STRING, N: STRING, L: STRING>>").alias("line")
        )
        .select("line.id", F.col("line.item")["total"]["N"].cast("decimal(38, 2)").alias("total"))
    )
    (
        items.writeTo(table)
        .using("iceberg")
        .tableProperty("format-version", "2")
        .tableProperty("write.merge.mode", "merge-on-read")
        .partitionedBy(F.bucket(4, "id"))
        .createOrReplace()
    )
    folded = items.groupBy("id").agg(F.max(F.struct("total")).alias("newest"), F.collect_set("total").alias("all"))
    exact = F.expr("if(exists(transform(`all`, x -> cast(x AS string)), x -> x LIKE '-%'), NULL, newest.total)")
    changes = folded.select("id", exact.alias("total")).persist()
    changes.agg(F.count_if(F.isnull("total")), F.count("id")).first()
    changes.createOrReplaceTempView("changes")
    spark.sql(f"ALTER TABLE {table} ADD COLUMN note STRING COMMENT 'late'")
    spark.sql(
        f"MERGE INTO {table} t USING (SELECT *, id = 1 AS gone FROM changes) c ON t.id = c.id "  # noqa: S608 - our own name
        "WHEN MATCHED AND c.gone THEN DELETE WHEN MATCHED THEN UPDATE SET t.total = c.total, t.note = NULL "
        "WHEN NOT MATCHED THEN INSERT (id, total) VALUES (c.id, c.total)"
    )
    spark.table(f"{table}.snapshots").collect()
    spark.table(table).orderBy("id").collect()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
