"""What a person watches: a dashboard, and alarms for what no run can mail, because none was started or its mail failed.

Lag has no alarm: it is one metric per table, and what makes it grow ends in a mail of its own. That history runs out is
mailed too, but nothing mends it afterwards: hence an alarm that needs no run to mail it, one for all tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from aws_cdk import Aws, Duration
from aws_cdk import aws_cloudwatch as cw
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

NAMESPACE = "Tidemark"
_HOUR = Duration.hours(1)
_FAILING_HOURS = 3
#: So many ticks tell that something does not come again by itself.
_TICKS = 4
_SILENT_PERIODS = 3
_HISTORY_USED_PERCENT = 75


class Watch(Construct):
    """Dashboard and alarms; their number does not grow with the tables."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        machine: sfn.StateMachine,
        lost_ticks: sqs.Queue,
        topic: sns.ITopic,
        ticks: Sequence[int],
    ) -> None:
        """Watch the executions of `machine`, started every so many minutes (`ticks`, of all tables)."""
        super().__init__(scope, id)
        self._name, self._topic = name, topic
        failed = machine.metric_failed(period=_HOUR)
        lost = lost_ticks.metric_approximate_number_of_messages_visible(period=Duration.minutes(5))
        # A failing run mails by itself; one that goes on failing for hours may have failed at that, too.
        self._alarm("RunsFail", "Runs have failed in hour after hour.", failed, _FAILING_HOURS, _hours_of(min(ticks)))
        self._alarm("TicksAreLost", "The scheduler could not start the state machine.", lost)
        self._horizon_alarm()
        self._silence_alarm(ticks)
        self._dashboard(machine, lost)

    def _alarm(self, id: str, text: str, metric: cw.IMetric, breaching: int = 1, periods: int = 1) -> None:
        """An alarm for anything above zero in `breaching` of the metric's last `periods`, or in a row if those are fewer."""
        alarm = cw.Alarm(
            self,
            id,
            alarm_description=text,
            metric=metric,
            threshold=1,
            evaluation_periods=max(breaching, periods),
            datapoints_to_alarm=breaching,
            comparison_operator=cw.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cw.TreatMissingData.NOT_BREACHING,
        )
        self._send(alarm)

    def _silence_alarm(self, ticks: Sequence[int]) -> None:
        """A schedule that was switched off or deleted leaves no other trace than silence.

        Every tick tells its own length, so that the ticks of one table add up to the time that passes, and those of all
        tables to so many times as much. Where one is silent, its part is missing. The period is one that every table's
        ticks fill exactly, a day at the most, because each divides a day.
        """
        minutes = math.lcm(60, *ticks)
        alarm = cw.Alarm(
            self,
            "TableIsSilent",
            alarm_description="A table's ticks do not come: are all schedules switched on? The dashboard shows which.",
            metric=self._of_all_tables("TickMinutes", "Sum", Duration.minutes(minutes)),
            threshold=(len(ticks) - 0.5) * minutes,
            # A tick may come late, and then falls into the next period: one period says nothing.
            evaluation_periods=_SILENT_PERIODS,
            comparison_operator=cw.ComparisonOperator.LESS_THAN_THRESHOLD,
            treat_missing_data=cw.TreatMissingData.BREACHING,
        )
        self._send(alarm)

    def _horizon_alarm(self) -> None:
        """Of the table that is nearest to losing history; without data it stays as it is, as a slow tick leaves hours out."""
        alarm = cw.Alarm(
            self,
            "HistoryRunsOut",
            alarm_description="A table's history is nearly lost; the dashboard shows which.",
            metric=self._of_all_tables("RecoveryPeriodUsed", "Maximum", _HOUR),
            threshold=_HISTORY_USED_PERCENT,
            evaluation_periods=1,
            comparison_operator=cw.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cw.TreatMissingData.IGNORE,
        )
        self._send(alarm)

    def _of_all_tables(self, name: str, statistic: str, period: Duration) -> cw.Metric:
        """A metric that the functions publish for all tables as one."""
        dimensions = {"service": self._name}
        return cw.Metric(
            namespace=NAMESPACE, metric_name=name, dimensions_map=dimensions, statistic=statistic, period=period
        )

    def _send(self, alarm: cw.Alarm) -> None:
        alarm.add_alarm_action(actions.SnsAction(self._topic))
        alarm.add_ok_action(actions.SnsAction(self._topic))

    def _dashboard(self, machine: sfn.StateMachine, lost: cw.IMetric) -> None:
        executions = [
            machine.metric_started(period=_HOUR),
            machine.metric_succeeded(period=_HOUR),
            machine.metric_failed(period=_HOUR),
            machine.metric_aborted(period=_HOUR),
            machine.metric_timed_out(period=_HOUR),
        ]
        widgets = [
            self._per_table("Behind what could be exported", "LagSeconds", "Maximum"),
            self._per_table("Hours until history is lost", "HoursUntilHistoryIsLost", "Minimum"),
            cw.GraphWidget(title="Runs", left=executions, width=12),
            cw.GraphWidget(title="Lost ticks", left=[lost], width=12),
        ]
        # An account has dashboards in all its Regions at once: the deployment of another one may have the same name.
        name = f"{self._name}-{Aws.REGION}"
        cw.Dashboard(self, "Dashboard", dashboard_name=name, widgets=[widgets[:2], widgets[2:]])

    def _per_table(self, title: str, metric: str, statistic: str) -> cw.GraphWidget:
        """One line per table, found by search, so that the dashboard stays as it is when tables come and go."""
        named = f'MetricName="{metric}" service="{self._name}"'
        search = f"SEARCH('{{{NAMESPACE},service,table}} {named}', '{statistic}', 300)"
        line = cw.MathExpression(expression=search, label="", using_metrics={}, period=Duration.minutes(5))
        return cw.GraphWidget(title=title, left=[line], width=12)


def _hours_of(tick_minutes: int) -> int:
    """The hours in which so many ticks come."""
    return math.ceil(_TICKS * tick_minutes / 60)
