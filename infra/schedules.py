"""A schedule per table, one queue for ticks that could not be delivered, one role for all."""

from __future__ import annotations

import json

from aws_cdk import Acknowledgment, Duration, RemovalPolicy, Validations
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from pipeline.settings import TableSettings

#: A tick that cannot be delivered is tried again for so long, or for a third of the time to the next one if that is longer,
#: but not beyond the next one. Later it is not worth having: the next one sees the same work.
_OLDEST_TICK_SECONDS = 300
_MOST_TRIES_AGAIN = 185  # EventBridge takes no more
_KEPT = Duration.days(14)


class LostTicks(Construct):
    """The queue of ticks that could not be delivered: something is wrong with role or state machine."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id)
        self.queue = sqs.Queue(
            self,
            "Queue",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=_KEPT,
            removal_policy=RemovalPolicy.DESTROY,
        )
        Validations.of(self.queue).acknowledge(
            Acknowledgment(
                id="AwsSolutions-SQS3", reason="It is the dead-letter queue of the schedules; nothing reads from it."
            )
        )


class TableSchedule(Construct):
    """Starts the state machine for one table, every `tick_minutes`."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        table: TableSettings,
        state_machine_arn: str,
        queue_arn: str,
        role_arn: str,
    ) -> None:
        super().__init__(scope, id)
        tick = table.tick_minutes
        scheduler.CfnSchedule(
            self,
            "Schedule",
            description=f"Brings the copy of {table.name} up to date.",
            schedule_expression=f"rate({tick} minute{'s' if tick > 1 else ''})",
            flexible_time_window=_window(tick),
            # Said though it is so anyway: drift is only found in what the template states.
            state="ENABLED",
            target=scheduler.CfnSchedule.TargetProperty(
                arn=state_machine_arn,
                role_arn=role_arn,
                input=json.dumps(
                    {"table": table.name, "scheduled_time": "<aws.scheduler.scheduled-time>", "tick_minutes": tick}
                ),
                retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                    maximum_event_age_in_seconds=max(min(_OLDEST_TICK_SECONDS, tick * 60), tick * 60 // 3),
                    maximum_retry_attempts=_MOST_TRIES_AGAIN,
                ),
                dead_letter_config=scheduler.CfnSchedule.DeadLetterConfigProperty(arn=queue_arn),
            ),
        )


def _window(tick_minutes: int) -> scheduler.CfnSchedule.FlexibleTimeWindowProperty:
    """A third of the tick, so that the tables of an account do not all ask Parameter Store in the same second."""
    minutes = tick_minutes // 3
    if minutes < 1:
        return scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF")
    return scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="FLEXIBLE", maximum_window_in_minutes=minutes)
