"""The Glue database that the Iceberg tables are registered in, and the table of the run reports."""

from __future__ import annotations

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_glue as glue
from aws_cdk import aws_s3 as s3
from constructs import Construct

from pipeline import run_reports
from pipeline.places import RUNS
from pipeline.settings import Settings

_TEXT_INPUT = "org.apache.hadoop.mapred.TextInputFormat"
_TEXT_OUTPUT = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
_JSON = "org.openx.data.jsonserde.JsonSerDe"


class Catalog(Construct):
    """A Glue database. It outlives the stack: deleting it would take every table from its readers.

    The table of the reports goes with the stack, which makes it again: it holds nothing of its own.
    """

    def __init__(self, scope: Construct, id: str, *, settings: Settings, bucket: s3.IBucket) -> None:
        super().__init__(scope, id)
        name, account = settings.database, Stack.of(self).account
        database = glue.CfnDatabase(
            self,
            "Database",
            catalog_id=account,
            # The name as a property of its own is what ``cdk deploy --import-existing-resources`` adopts a kept one by.
            database_name=name,
            database_input=glue.CfnDatabase.DatabaseInputProperty(
                name=name, description="Iceberg copies of DynamoDB tables, kept fresh by Tidemark."
            ),
        )
        database.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
        reports = glue.CfnTable(
            self,
            "Runs",
            catalog_id=account,
            database_name=name,
            table_input=_runs([table.name for table in settings.tables], bucket.s3_url_for_object(RUNS)),
        )
        reports.add_resource_dependency(database)


def _runs(sources: list[str], folder: str) -> glue.CfnTable.TableInputProperty:
    """The reports as a table. Their folders are its partitions, which Athena works out from the names in the settings."""
    partition = run_reports.PARTITION
    columns = [glue.CfnTable.ColumnProperty(name=name, type=kind) for name, kind in run_reports.COLUMNS.items()]
    return glue.CfnTable.TableInputProperty(
        name=run_reports.TABLE,
        description="What every job has done or refused, a row each.",
        table_type="EXTERNAL_TABLE",
        partition_keys=[glue.CfnTable.ColumnProperty(name=partition, type="string")],
        parameters={
            "EXTERNAL": "TRUE",
            "classification": "json",
            "projection.enabled": "true",
            f"projection.{partition}.type": "enum",
            f"projection.{partition}.values": ",".join(sources),
            "storage.location.template": f"{folder}/${{{partition}}}/",
        },
        storage_descriptor=glue.CfnTable.StorageDescriptorProperty(
            columns=columns,
            location=f"{folder}/",
            input_format=_TEXT_INPUT,
            output_format=_TEXT_OUTPUT,
            serde_info=glue.CfnTable.SerdeInfoProperty(
                serialization_library=_JSON,
                # One file that is none of ours must not keep all others from being read.
                parameters={"ignore.malformed.json": "true"},
            ),
        ),
    )
