"""The state machine: the definition as it stands in the tree, with ARNs for its placeholders."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from aws_cdk import Aws, RemovalPolicy
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.grants import Right
from infra.roles import Role

#: What Step Functions offers by itself, by placeholder. Its ARNs have the partition in them, as all do: with another one
#: than its own Step Functions cannot run a task, and ends the execution without a mail.
INTEGRATIONS = {"LambdaInvoke": "lambda:invoke", "StartJobRunSync": "emr-serverless:startJobRun.sync"}


class ExportStateMachine(Construct):
    """One machine for all tables. Its name is given, so that what it calls can be told its ARN beforehand."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        arn: str,
        definition: Path,
        substitutions: Mapping[str, str],
        rights: Sequence[Right],
        log_group: logs.ILogGroup,
    ) -> None:
        """`substitutions`: the functions' ARNs, by placeholder."""
        super().__init__(scope, id)
        role = Role(self, "Role", service="states.amazonaws.com", rights=rights, source_arn=arn)
        offered = {name: f"arn:{Aws.PARTITION}:states:::{task}" for name, task in INTEGRATIONS.items()}
        self.machine = sfn.StateMachine(
            self,
            "Machine",
            state_machine_name=name,
            # In the template itself, so that `cdk diff` shows what changes.
            definition_body=sfn.DefinitionBody.from_string(json.dumps(json.loads(definition.read_text()))),
            definition_substitutions={**substitutions, **offered},
            role=role.fixed,
            tracing_enabled=True,
            # Every event, so that a log query can tell what happened across runs; without the data, which Step Functions
            # keeps with each execution for 90 days, behind rights of its own.
            logs=sfn.LogOptions(destination=log_group, level=sfn.LogLevel.ALL, include_execution_data=False),
            removal_policy=RemovalPolicy.DESTROY,
        )
