"""The functions: one bundle, told apart by handler and role. State, file and function share one name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import Acknowledgment, AssetHashType, Duration, Validations
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.bundles import Bundle
from infra.grants import Right, telemetry
from infra.log_groups import log_group
from infra.roles import Role


@dataclass(frozen=True)
class FunctionSpec:
    """A function: the state it serves, what it does there, and how long it may take.

    That is longer than a call lasts that nobody answers, which `lambdas.aws.clients` limits.
    """

    state: str
    description: str
    timeout_seconds: int = 90

    @property
    def handler(self) -> str:
        """Where Lambda finds it: ``lambdas.start_exports.handler`` for StartExports."""
        return f"lambdas.{re.sub(r'(?<!^)(?=[A-Z])', '_', self.state).lower()}.handler"

    @property
    def placeholder(self) -> str:
        """What stands for its ARN in the state machine's definition."""
        return f"{self.state}Function"


FUNCTIONS = (
    FunctionSpec("Plan", "Looks at source, table and parameters, decides, claims the run."),
    # Functions that mail go on without reports, what has been told, and the source's history: each may be a call that nobody
    # answers.
    FunctionSpec("NotifyNews", "Mails all-clears, warnings and daily digests.", timeout_seconds=300),
    # StartExports and PrepareJob go through the job runs of all tables since the work's history ended: weeks of them, perhaps.
    FunctionSpec("StartExports", "Asks DynamoDB for the exports of the plan.", timeout_seconds=600),
    FunctionSpec("CheckExports", "Looks whether the exports are complete."),
    FunctionSpec("PrepareJob", "Writes the order of the Spark job.", timeout_seconds=600),
    FunctionSpec("RecordWatermark", "Writes the operator's view of the table's watermark."),
    FunctionSpec("NotifySuccess", "Mails what a run did.", timeout_seconds=300),
    FunctionSpec("NotifyFailure", "Mails what went wrong and what helps.", timeout_seconds=300),
)
_MEMORY_MB = 512


class Function(Construct):
    """One function with a role and a log group of its own, traced."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        spec: FunctionSpec,
        bundle: Bundle,
        environment: Mapping[str, str],
        rights: Sequence[Right],
        log_days: int,
    ) -> None:
        super().__init__(scope, id)
        logs = log_group(self, "Logs", days=log_days)
        role = Role(self, "Role", service="lambda.amazonaws.com", rights=[*rights, *telemetry(logs.log_group_arn)])
        self.function = lambda_.Function(
            self,
            "Function",
            description=spec.description,
            handler=spec.handler,
            code=lambda_.Code.from_asset(
                str(bundle.path), asset_hash=bundle.digest, asset_hash_type=AssetHashType.CUSTOM
            ),
            runtime=lambda_.Runtime.PYTHON_3_11,
            architecture=lambda_.Architecture.ARM_64,
            memory_size=_MEMORY_MB,
            timeout=Duration.seconds(spec.timeout_seconds),
            tracing=lambda_.Tracing.ACTIVE,
            environment=dict(environment),
            role=role.fixed,
            log_group=logs,
        )
        Validations.of(self.function).acknowledge(
            Acknowledgment(
                id="AwsSolutions-L1",
                reason="3.11 is what the project is tested on: the newest Python that EMR and PySpark 3.5 share with Lambda.",
            )
        )
