"""A table's parameters: what the functions read, and the switch an operator turns."""

from __future__ import annotations

from aws_cdk import aws_ssm as ssm
from constructs import Construct

from pipeline.places import CONTROL, PAUSE, RUN, SETTINGS
from pipeline.settings import TableSettings


class DeployedParameters(Construct):
    """``settings`` and ``control`` of one table; the functions make the others when they run."""

    def __init__(self, scope: Construct, id: str, *, table: TableSettings, prefix: str) -> None:
        super().__init__(scope, id)
        self.settings = ssm.CfnParameter(
            self,
            "Settings",
            name=f"{prefix}/{table.name}/{SETTINGS}",
            type="String",
            value=table.to_json(),
            description="Written by the deployment from its settings.",
        )
        ssm.CfnParameter(
            self,
            "Control",
            name=f"{prefix}/{table.name}/{CONTROL}",
            type="String",
            # What an operator writes stays through later deployments, as long as the template's value is the same; but not
            # through `make repair`, which looks at the parameter itself.
            value=PAUSE if table.paused else RUN,
            description=f"{RUN} or {PAUSE}: whether new work is planned.",
        )
