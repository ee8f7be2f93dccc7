"""The spark-submit parameters of a job on EMR Serverless, as one line.

The image of EMR 7 carries the Iceberg runtime at a fixed path. Nothing here depends on data: names of attributes never
come near this line.
"""

from __future__ import annotations

from typing import Any

from pipeline.deployment import Deployment

ICEBERG_RUNTIME = "/usr/share/aws/iceberg/lib/iceberg-spark3-runtime.jar"
CATALOG = "glue"
#: The job's setting that holds the secret hashes are keyed with. Spark redacts settings by name: "secret" is one it hides.
HASH_SECRET = "spark.tidemark.hash.secret"  # noqa: S105 - the name of the setting
_RESOLVED = "EMR.secret@"
#: Part of a worker's memory that Spark's own heap gets; the rest is its overhead. Spark takes a tenth of the heap for that
#: unless it is said, and the worker would be smaller than the settings say.
_HEAP_SHARE = 0.85
_INITIAL_EXECUTORS = 3
#: The second compiler inlines less than it would: a load in new JVMs takes three quarters of the processor time then
#: (docs/decisions/0014). Nothing of collectors here: the image chooses one by its own options, and Java takes no second.
LESS_INLINING = ("-XX:FreqInlineSize=100", "-XX:InlineSmallCode=1000")


def spark_submit_parameters(deployment: Deployment) -> str:
    """Return ``--py-files … --conf …`` for a job of this deployment."""
    vcpus, memory = deployment.worker_vcpus, int(deployment.worker_memory_gb)
    heap = int(memory * _HEAP_SHARE)
    catalog = f"spark.sql.catalog.{CATALOG}"
    conf = {
        "spark.jars": ICEBERG_RUNTIME,
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog",
        f"{catalog}.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        f"{catalog}.warehouse": deployment.warehouse,
        # A MERGE begins from the snapshot that the job has looked at last, however long ago: what others have committed since
        # is a conflict. Without, their commit would be merged over, unseen.
        f"{catalog}.cache-enabled": "true",
        f"{catalog}.cache.expiration-interval-ms": "-1",
        "spark.driver.cores": vcpus,
        "spark.driver.memory": f"{heap}g",
        "spark.driver.memoryOverhead": f"{memory - heap}g",
        "spark.emr-serverless.driver.disk": f"{deployment.worker_disk_gb}g",
        "spark.executor.cores": vcpus,
        "spark.executor.memory": f"{heap}g",
        "spark.executor.memoryOverhead": f"{memory - heap}g",
        "spark.emr-serverless.executor.disk": f"{deployment.worker_disk_gb}g",
        # EMR Serverless begins with three, and refuses a job that may have fewer at most.
        "spark.dynamicAllocation.initialExecutors": str(min(_INITIAL_EXECUTORS, int(deployment.max_executors))),
        "spark.dynamicAllocation.maxExecutors": deployment.max_executors,
    }
    return f"--py-files {deployment.spark_bundle} " + " ".join(f"--conf {name}={value}" for name, value in conf.items())


def application_configuration(hash_secret: str) -> list[dict[str, Any]]:
    """The job's configuration beside the parameters, whose line has no room for values with spaces.

    Of a secret only the name, which EMR Serverless looks up itself; "" where nothing is hashed.
    """
    properties = {f"spark.{part}.extraJavaOptions": " ".join(LESS_INLINING) for part in ("driver", "executor")}
    if hash_secret:
        properties[HASH_SECRET] = _RESOLVED + hash_secret
    return [{"Classification": "spark-defaults", "Properties": properties}]
