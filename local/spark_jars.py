"""The jars that Spark needs on a machine that is not EMR: resolved once by Spark's own resolver, then used as files.

EMR brings Iceberg, its AWS bundle and S3A with its image; here they come from Maven. The versions are those that EMR
7.14 is built on, as near as they are published. ``python -m local.spark_jars`` fetches them into ``.tools/ivy``.
"""

from __future__ import annotations

import sys
from pathlib import Path

JARS = Path(__file__).resolve().parent.parent / ".tools" / "ivy" / "jars"

ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.1"
COORDINATES = (
    ICEBERG,
    "org.apache.iceberg:iceberg-aws-bundle:1.10.1",
    "org.apache.hadoop:hadoop-aws:3.3.4",
    # S3A of Hadoop 3.3 speaks the old SDK; its bundle weighs 280 MB, these three are what S3A loads of it.
    "com.amazonaws:aws-java-sdk-s3:1.12.262",
    "com.amazonaws:aws-java-sdk-sts:1.12.262",
    "com.amazonaws:aws-java-sdk-dynamodb:1.12.262",
    # Hadoop's own file system starts a `chmod` for every file it makes, which took a tenth of a small merge.
    "com.globalmentor:hadoop-bare-naked-local-fs:0.1.0",
)
LOCAL_FILE_SYSTEM = "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem"
_LEFT_OUT = "com.amazonaws:aws-java-sdk-bundle"


def resolve(folder: Path = JARS) -> list[Path]:
    """Fetch the jars into `folder` (its name must be ``jars``, Ivy's own) and return them, sorted."""
    # Only this needs PySpark, which takes most of a second to import.
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.jars.packages", ",".join(COORDINATES))
        .config("spark.jars.excludes", _LEFT_OUT)
        .config("spark.jars.ivy", str(folder.parent))
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    session.stop()
    return sorted(folder.glob("*.jar"))


if __name__ == "__main__":
    sys.exit(0 if resolve() else 1)
