"""Log groups: kept as long as the settings say, gone with the stack, named by CloudFormation."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs
from constructs import Construct

_RETENTION = {
    7: logs.RetentionDays.ONE_WEEK,
    14: logs.RetentionDays.TWO_WEEKS,
    30: logs.RetentionDays.ONE_MONTH,
    60: logs.RetentionDays.TWO_MONTHS,
    90: logs.RetentionDays.THREE_MONTHS,
    180: logs.RetentionDays.SIX_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
    731: logs.RetentionDays.TWO_YEARS,
    3653: logs.RetentionDays.TEN_YEARS,
}


def log_group(scope: Construct, id: str, *, days: int, name: str | None = None) -> logs.LogGroup:
    """A log group that keeps its events for `days`, one of the numbers that the settings allow."""
    return logs.LogGroup(
        scope, id, log_group_name=name, retention=_RETENTION[days], removal_policy=RemovalPolicy.DESTROY
    )
