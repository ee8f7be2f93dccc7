"""The stack: puts the constructs together, tells each function where the others are, and makes every grant.

It needs no account and no network: partition, Region and account stay open until it is deployed. The source tables are
only named here; the stack never makes, changes or deletes one.
"""

from __future__ import annotations

from pathlib import Path

from aws_cdk import Aws, CfnOutput, CfnResource, DefaultStackSynthesizer, Stack
from constructs import Construct

from infra import grants
from infra.bundles import Bundle, lambda_bundle, spark_bundle
from infra.catalog import Catalog
from infra.functions import FUNCTIONS, Function
from infra.log_groups import log_group
from infra.notification import Notification
from infra.parameters import DeployedParameters
from infra.paths import ROOT
from infra.roles import SPREAD, Role
from infra.schedules import LostTicks, TableSchedule
from infra.spark_application import SparkApplication
from infra.state_machine import ExportStateMachine
from infra.storage import Storage
from infra.watch import NAMESPACE, Watch
from pipeline.deployment import Deployment
from pipeline.errors import SettingRefused
from pipeline.settings import Settings

_MOST_RESOURCES = 500  # of one CloudFormation stack
_RESOURCES_PER_TABLE = 3
_MOST_TEMPLATE_BYTES = 1_048_576  # that CloudFormation takes from a bucket
#: What each object of JavaScript has: CDK takes a construct of such a name for one that is there already.
_OF_EACH_OBJECT = (
    *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"),
    *("toLocaleString", "toString", "valueOf"),
    *("__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"),
)


class TidemarkStack(Stack):
    """Everything that is deployed. Shared parts once; per table a schedule and two parameters."""

    def __init__(self, scope: Construct, id: str, *, settings: Settings, root: Path = ROOT) -> None:
        super().__init__(
            scope,
            id,
            stack_name=settings.stack_name,
            description="Tidemark: keeps Apache Iceberg copies of DynamoDB tables fresh.",
            # The template depends on the settings and the source alone.
            analytics_reporting=False,
            # The bucket of `cdk bootstrap` holds every stack's code: the functions and jobs of this one read their own.
            synthesizer=DefaultStackSynthesizer(bucket_prefix=_assets_prefix(settings)),
        )
        self._settings = settings
        self._storage = Storage(self, "Storage", settings=settings)
        self._notification = Notification(self, "Notification", tables=settings.tables)
        Catalog(self, "Catalog", settings=settings, bucket=self._storage.bucket)
        self._spark = SparkApplication(
            self, "Spark", settings=settings, bundle=spark_bundle(root), entry_point=root / "spark" / "main.py"
        )
        self._places = self._find_places()
        job_role = Role(
            self,
            "JobRole",
            service="emr-serverless.amazonaws.com",
            rights=grants.job_rights(self._places),
            source_arn=self._spark.application.attr_arn,
        )
        functions = self._functions(self._deployment(job_role.arn), lambda_bundle(root))
        machine = self._machine(functions, job_role.arn, root / "statemachine" / "continuous_export.asl.json")
        lost_ticks = LostTicks(self, "LostTicks")
        Watch(
            self,
            "Watch",
            name=settings.stack_name,
            machine=machine.machine,
            lost_ticks=lost_ticks.queue,
            topic=self._notification.alarms,
            ticks=[table.tick_minutes for table in settings.tables],
        )
        self._schedules(machine.machine.state_machine_arn, lost_ticks)
        self._outputs(machine.machine.state_machine_arn)

    def refuse_too_large_a_template(self, folder: Path) -> None:
        """Refuse settings that fill the template, which has been synthesised to `folder`. Raises SettingRefused."""
        size = (folder / self.template_file).stat().st_size
        if size > _MOST_TEMPLATE_BYTES:
            raise SettingRefused(
                f"tables has {len(self._settings.tables)} entries, whose names and settings make a CloudFormation template "
                f"of {size} bytes; allowed are {_MOST_TEMPLATE_BYTES}: {SPREAD}"
            )

    @property
    def _prefix(self) -> str:
        return f"/tidemark/{self._settings.stack_name}"

    @property
    def _state_machine_arn(self) -> str:
        """Made from the name: the functions need it before the machine, which needs the functions, can be there."""
        return self._arn("states", f"stateMachine:{self._settings.stack_name}")

    def _arn(self, service: str, rest: str) -> str:
        return f"arn:{Aws.PARTITION}:{service}:{Aws.REGION}:{Aws.ACCOUNT_ID}:{rest}"

    def _find_places(self) -> grants.Places:
        spark = self._spark
        assets = f"{spark.bundle.bucket.bucket_arn}/{_assets_prefix(self._settings)}"
        return grants.Places(
            arn=self._arn,
            tables=tuple(self._arn("dynamodb", f"table/{table.name}") for table in self._settings.tables),
            bucket=self._storage.bucket.bucket_arn,
            topic=self._notification.topic.topic_arn,
            topic_key=self._notification.key.key_arn,
            database=self._settings.database,
            application=spark.application.attr_arn,
            state_machine_name=self._settings.stack_name,
            parameters=self._prefix,
            secrets=tuple(
                self._arn("secretsmanager", f"secret:{name}-??????")
                for name in sorted({table.used_secret for table in self._settings.tables} - {""})
            ),
            assets=tuple(f"{assets}*.{kind}" for kind in ("zip", "py")),
            columns_files=f"{assets}*.json",
        )

    def _deployment(self, job_role_arn: str) -> Deployment:
        spark = self._settings.spark
        return Deployment(
            stack_name=self._settings.stack_name,
            default_table=self._settings.default_table,
            parameter_prefix=self._prefix,
            bucket=self._storage.bucket.bucket_name,
            database=self._settings.database,
            topic_arn=self._notification.topic.topic_arn,
            state_machine_arn=self._state_machine_arn,
            application_id=self._spark.application.attr_application_id,
            job_role_arn=job_role_arn,
            entry_point=self._spark.entry_point.s3_object_url,
            spark_bundle=self._spark.bundle.s3_object_url,
            columns_file=self._spark.columns.s3_object_url,
            worker_vcpus=str(spark.worker_vcpus),
            worker_memory_gb=str(spark.worker_memory_gb),
            worker_disk_gb=str(spark.worker_disk_gb),
            max_executors=str(spark.max_executors),
        )

    def _functions(self, deployment: Deployment, bundle: Bundle) -> dict[str, str]:
        """Make the functions; returns the ARN for each placeholder."""
        environment = {
            **deployment.to_environment(),
            "POWERTOOLS_SERVICE_NAME": self._settings.stack_name,
            "POWERTOOLS_METRICS_NAMESPACE": NAMESPACE,
        }
        rights = grants.function_rights(self._places)
        made = {
            spec.state: Function(
                self,
                spec.state,
                spec=spec,
                bundle=bundle,
                environment=environment,
                rights=rights[spec.state],
                log_days=self._settings.log_days,
            ).function
            for spec in FUNCTIONS
        }
        self._plan = made["Plan"].node.default_child
        return {spec.placeholder: made[spec.state].function_arn for spec in FUNCTIONS}

    def _machine(self, functions: dict[str, str], job_role_arn: str, definition: Path) -> ExportStateMachine:
        return ExportStateMachine(
            self,
            "StateMachine",
            name=self._settings.stack_name,
            arn=self._state_machine_arn,
            definition=definition,
            substitutions=functions,
            rights=grants.state_machine_rights(self._places, tuple(functions.values()), job_role_arn),
            log_group=log_group(
                self,
                "StateMachineLogs",
                days=self._settings.log_days,
                # For groups below this name CloudWatch needs no line in the account's resource policy, which soon is full.
                name=f"/aws/vendedlogs/states/{self._settings.stack_name}",
            ),
        )

    def _schedules(self, state_machine_arn: str, lost_ticks: LostTicks) -> None:
        role = Role(
            self,
            "SchedulerRole",
            service="scheduler.amazonaws.com",
            rights=grants.scheduler_rights(state_machine_arn, lost_ticks.queue.queue_arn),
        )
        self._refuse_too_many_tables()
        tables = Construct(self, "Tables")
        for table in self._settings.tables:
            # A colon no table's name has. All others keep their ids: by another one CloudFormation would make them anew.
            own = Construct(tables, f"{table.name}:" if table.name in _OF_EACH_OBJECT else table.name)
            # Two children called Resource and Default, as tables may be, are too many for CDK unless it is told one.
            tables.node.default_child = own
            parameters = DeployedParameters(own, "Parameters", table=table, prefix=self._prefix)
            # What reads them comes first: a function must not meet settings that it does not know yet.
            parameters.settings.add_resource_dependency(self._plan)
            schedule = TableSchedule(
                own,
                "Schedule",
                table=table,
                state_machine_arn=state_machine_arn,
                queue_arn=lost_ticks.queue.queue_arn,
                role_arn=role.arn,
            )
            # A run without them fails, and mails so; they are made as slowly as Parameter Store takes them.
            schedule.node.add_dependency(parameters)

    def _refuse_too_many_tables(self) -> None:
        shared = sum(CfnResource.is_cfn_resource(node) for node in self.node.find_all())
        room, tables = (_MOST_RESOURCES - shared) // _RESOURCES_PER_TABLE, len(self._settings.tables)
        if tables > room:
            raise SettingRefused(
                f"tables has {tables} entries; allowed are {room}, which fill a CloudFormation stack: {SPREAD}"
            )

    def _outputs(self, state_machine_arn: str) -> None:
        outputs = {
            "StateMachineArn": state_machine_arn,
            "BucketName": self._storage.bucket.bucket_name,
            "TopicArn": self._notification.topic.topic_arn,
            "DatabaseName": self._settings.database,
            "ApplicationId": self._spark.application.attr_application_id,
            "ParameterPrefix": self._prefix,
        }
        for name, value in outputs.items():
            CfnOutput(self, name, value=value)


def _assets_prefix(settings: Settings) -> str:
    """What the names of the deployment's own files begin with, in the bucket of ``cdk bootstrap``."""
    return f"{settings.stack_name}/"
