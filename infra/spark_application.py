"""The EMR Serverless application, and what its jobs download: the bundle, the entry point, what is said of columns."""

from __future__ import annotations

import tempfile
from pathlib import Path

from aws_cdk import AssetHashType, RemovalPolicy
from aws_cdk import aws_emrserverless as emr
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from infra.bundles import Bundle
from pipeline.columns.declared.columns_file import to_file
from pipeline.settings import Settings

RELEASE = "emr-7.14.0"
#: Jobs of different tables side by side; further ones queue. The same however many tables there are: an application that
#: is at work takes no change, so a table more must not be one.
JOBS_AT_ONCE = 4
_QUEUE_MINUTES = 360
_IDLE_MINUTES = 15


class SparkApplication(Construct):
    """An application that starts with a job and stops when idle: nothing is billed while nothing runs."""

    def __init__(self, scope: Construct, id: str, *, settings: Settings, bundle: Bundle, entry_point: Path) -> None:
        super().__init__(scope, id)
        spark = settings.spark
        # A whole multiple of the worker size, or the rest could never be used.
        workers = JOBS_AT_ONCE * (1 + spark.max_executors)
        self.application = emr.CfnApplication(
            self,
            "Application",
            name=settings.stack_name,
            type="SPARK",
            release_label=RELEASE,
            architecture="ARM64",
            auto_start_configuration=emr.CfnApplication.AutoStartConfigurationProperty(enabled=True),
            auto_stop_configuration=emr.CfnApplication.AutoStopConfigurationProperty(
                enabled=True, idle_timeout_minutes=_IDLE_MINUTES
            ),
            maximum_capacity=emr.CfnApplication.MaximumAllowedResourcesProperty(
                cpu=f"{workers * spark.worker_vcpus} vCPU",
                memory=f"{workers * spark.worker_memory_gb} GB",
                disk=f"{workers * spark.worker_disk_gb} GB",
            ),
            scheduler_configuration=emr.CfnApplication.SchedulerConfigurationProperty(
                max_concurrent_runs=JOBS_AT_ONCE, queue_timeout_minutes=_QUEUE_MINUTES
            ),
        )
        self.application.apply_removal_policy(RemovalPolicy.DESTROY)
        self.bundle = assets.Asset(
            self, "Bundle", path=str(bundle.path), asset_hash=bundle.digest, asset_hash_type=AssetHashType.CUSTOM
        )
        self.entry_point = assets.Asset(self, "EntryPoint", path=str(entry_point))
        self.columns = self._columns(settings)

    def _columns(self, settings: Settings) -> assets.Asset:
        """What the settings say of columns, as a file named by its content. An asset is copied when it is made."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "columns.json"
            file.write_text(to_file({table.name: table.columns for table in settings.tables}))
            return assets.Asset(self, "Columns", path=str(file))
