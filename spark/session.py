"""What the jobs need of a Spark session beyond what ``spark-submit`` was given."""

from __future__ import annotations

from pyspark.sql import SparkSession

_SETTINGS = {
    # The names of DynamoDB's types, and of attributes, differ by case.
    "spark.sql.caseSensitive": "true",
    # A cast that does not fit gives null, which is then seen and kept as a misfit.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    # A damaged file is an error, never a shorter file.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    # Compressed bytes: gzip is not splittable, so a task reads whole files; 128 MB would be a gigabyte of JSON.
    "spark.sql.files.maxPartitionBytes": "32m",
    # More than 32 files are looked for by tasks; one for each file would cost more than looking for all of them.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "16",
    # A merge's few changes are put into a hash table; sorting the whole table's keys for them costs more. What would
    # be too large for that, by Spark's own estimate, is sorted all the same.
    "spark.sql.join.preferSortMergeJoin": "false",
    "spark.sql.adaptive.enabled": "true",
    # It drops the counting from a plan whose rows all turn out to be refused, and the counts would be waited for in vain.
    "spark.sql.adaptive.optimizer.excludedRules": "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation",
    # Small files have nothing to wait for but their opening: up to 256 of them are one task, not eight. Spark gives every
    # processor a task before it fills one.
    "spark.sql.files.openCostInBytes": "128k",
    # What a merge keeps, it reads once or twice; packing it tighter takes longer than that saves.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # For each column that is kept, room for so many rows is made at once: of two times 5,000, a gigabyte with Spark's 10,000.
    "spark.sql.inMemoryColumnarStorage.batchSize": "500",
    # Plans of wide tables are long; nobody reads the end of their text, which the driver would keep for its history.
    # Of lists in it the first is named: to spell out all took a twelfth of a wide load, and a twentieth of a warm merge.
    "spark.sql.maxPlanStringLength": "20000",
    "spark.sql.debug.maxToStringFields": "1",
    "spark.sql.analyzer.maxIterations": "500",
    "spark.sql.optimizer.maxIterations": "500",
    # Java compiles no method of more than 8,000 bytes, but reads it step by step, for every row. A step of a plan that would
    # become such a method, as of ten attributes without a list, is made of several, which take two thirds of the time.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    # What a plan's rows are known to fulfil is compared pair by pair: of a thousand columns that takes minutes.
    "spark.sql.constraintPropagation.enabled": "false",
}
#: Names that PySpark, and the jobs, ask of Java at every step. The bridge to Java looks for the first part of each in every
#: imported package, and for all that is no class in every jar, every time; half a second of a small merge went there.
_ASKED_OFTEN = (
    "functions.col",
    "functions.count_if",
    "PythonUtils.toSeq",
    "py4j.reflection.TypeUtil.isInstanceOf",
    "java.io",
    "java.lang",
    "java.util",
    "org.apache.hadoop",
    "org.apache.iceberg.util",
    "org.apache.spark.sql",
)


def configured(spark: SparkSession) -> SparkSession:
    """Set what the jobs rely on. Harmless to repeat."""
    for name, value in _SETTINGS.items():
        spark.conf.set(name, value)
    for path in _ASKED_OFTEN:
        holder = spark._jvm
        for name in path.split("."):
            found = getattr(holder, name)
            # Once it stands in the object itself, it is not looked for again.
            setattr(holder, name, found)
            holder = found
    return spark


def submitted_session() -> SparkSession:
    """The session of a job that was started by ``spark-submit``, not configured yet."""
    return SparkSession.builder.getOrCreate()
