"""What a person watches: every alarm, literally, whom it tells, and the dashboard."""

from __future__ import annotations

import json
import re
from typing import Any

from aws_cdk import Stack, assertions
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn

from infra.watch import Watch
from tests.test_docs import OPERATIONS

#: Alarm -> what is measured, where, what is too much or too little, for how long, and what no data mean.
OF_TICKS_EVERY_15_MINUTES = {
    "RunsFail": (
        "Sum of AWS/States ExecutionsFailed",
        "StateMachineArn is <StateMachine>",
        "GreaterThanOrEqualToThreshold 1",
        "3 of 3 times 3600 s",
        "notBreaching",
    ),
    "TicksAreLost": (
        "Maximum of AWS/SQS ApproximateNumberOfMessagesVisible",
        "QueueName is <LostTicksQueue.QueueName>",
        "GreaterThanOrEqualToThreshold 1",
        "1 of 1 times 300 s",
        "notBreaching",
    ),
    "HistoryRunsOut": (
        "Maximum of Tidemark RecoveryPeriodUsed",
        "service is Tidemark",
        "GreaterThanOrEqualToThreshold 75",
        "1 of 1 times 3600 s",
        "ignore",
    ),
    "TableIsSilent": (
        "Sum of Tidemark TickMinutes",
        "service is Tidemark",
        "LessThanThreshold 30",
        "3 of 3 times 3600 s",
        "breaching",
    ),
}
#: The tables of the shop have ticks every 1440 and every 240 minutes. Of failures the shorter ones count, four of which take
#: 16 hours. In a day each table's ticks add up to 1440 minutes: half a table less is a table that is silent.
OF_TICKS_EVERY_240_AND_1440_MINUTES = OF_TICKS_EVERY_15_MINUTES | {
    "RunsFail": (
        "Sum of AWS/States ExecutionsFailed",
        "StateMachineArn is <StateMachine>",
        "GreaterThanOrEqualToThreshold 1",
        "3 of 16 times 3600 s",
        "notBreaching",
    ),
    "HistoryRunsOut": (
        "Maximum of Tidemark RecoveryPeriodUsed",
        "service is Shop-Copies",
        "GreaterThanOrEqualToThreshold 75",
        "1 of 1 times 3600 s",
        "ignore",
    ),
    "TableIsSilent": (
        "Sum of Tidemark TickMinutes",
        "service is Shop-Copies",
        "LessThanThreshold 2160",
        "3 of 3 times 86400 s",
        "breaching",
    ),
}
_HASH = re.compile(r"[0-9A-F]{8}(?=[.>]|$)")
_WEEK_SECONDS = 604_800


def test_the_alarms_are_these_where_ticks_come_every_15_minutes(template):
    assert alarms(template) == OF_TICKS_EVERY_15_MINUTES


def test_the_alarms_follow_the_shortest_and_the_longest_ticks(of_shop):
    assert alarms(of_shop) == OF_TICKS_EVERY_240_AND_1440_MINUTES


def test_the_manual_says_of_every_alarm_when_it_comes_and_what_to_do(template):
    assert [name for name in alarms(template) if f"| alarm `{name}` |" not in OPERATIONS] == []
    assert [name for name in alarms(template) if f"\n- `{name}`: " not in OPERATIONS] == []


def watched(*ticks: int) -> list[dict[str, Any]]:
    """The alarms over tables with these ticks, and nothing else."""
    stack = Stack()
    machine = sfn.StateMachine(stack, "Machine", definition_body=sfn.DefinitionBody.from_string("{}"))
    queue, topic = sqs.Queue(stack, "Queue"), sns.Topic(stack, "Topic")
    Watch(stack, "Watch", name="Alone", machine=machine, lost_ticks=queue, topic=topic, ticks=ticks)
    found = assertions.Template.from_stack(stack).find_resources("AWS::CloudWatch::Alarm").values()
    return [alarm["Properties"] for alarm in found]


def test_the_longest_ticks_keep_every_alarm_within_the_week_that_cloudwatch_looks_back():
    spans = [alarm["EvaluationPeriods"] * alarm["Period"] for alarm in watched(1440)]
    assert len(spans) == 4
    assert max(spans) <= _WEEK_SECONDS


def test_a_silent_table_is_missed_in_a_period_that_the_ticks_of_all_fill_exactly():
    ticks = [15, 40, 45]
    (silent,) = [alarm for alarm in watched(*ticks) if alarm.get("MetricName") == "TickMinutes"]
    period = silent["Period"] // 60
    assert [period % tick for tick in ticks] == [0, 0, 0]
    assert silent["Threshold"] == 2.5 * period


def test_every_alarm_and_every_all_clear_goes_to_the_topic_of_the_alarms(template):
    topic = topic_of_alarms(template)
    told = [(alarm["AlarmActions"], alarm["OKActions"]) for alarm in template.of("CloudWatch::Alarm").values()]
    assert told == [([topic], [topic])] * 4


def test_whoever_wants_failures_of_any_table_has_every_alarm_unfiltered(of_shop):
    topic = topic_of_alarms(of_shop)
    subscribed = [
        (subscription["Endpoint"], subscription["Protocol"], subscription.get("FilterPolicy"))
        for subscription in of_shop.of("SNS::Subscription").values()
        if subscription["TopicArn"] == topic
    ]
    assert sorted(subscribed) == [("on-call@example.com", "email", None), ("shop@example.com", "email", None)]


def test_alarms_can_reach_their_topic_through_its_policy_and_the_key(template):
    topic = topic_of_alarms(template)
    (policy,) = [p["PolicyDocument"] for p in template.of("SNS::TopicPolicy").values() if p["Topics"] == [topic]]
    allowed = [
        (statement["Action"], statement["Resource"], statement["Condition"])
        for document in (policy, template.one("KMS::Key")["KeyPolicy"])
        for statement in document["Statement"]
        if statement["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    ]
    ours = {"StringEquals": {"aws:SourceAccount": "123456789012"}}
    assert allowed == [("sns:Publish", topic, ours), (["kms:Decrypt", "kms:GenerateDataKey"], "*", ours)]


def test_the_dashboard_finds_every_table_of_its_own_deployment(of_shop):
    dashboard = of_shop.one("CloudWatch::Dashboard")
    assert dashboard["DashboardName"] == "Shop-Copies-eu-west-1"
    per_table = [widget["properties"] for widget in json.loads(dashboard["DashboardBody"])["widgets"][:2]]
    assert [widget["metrics"] for widget in per_table] == [
        [[{"expression": f"SEARCH('{{Tidemark,service,table}} {named}', '{statistic}', 300)"}]]
        for named, statistic in (
            ('MetricName="LagSeconds" service="Shop-Copies"', "Maximum"),
            ('MetricName="HoursUntilHistoryIsLost" service="Shop-Copies"', "Minimum"),
        )
    ]


def test_the_dashboard_shows_how_executions_end_and_what_is_lost(template):
    (body,) = (dashboard["DashboardBody"] for dashboard in template.of("CloudWatch::Dashboard").values())
    shared = [widget["properties"]["metrics"] for widget in json.loads(body)["widgets"][2:]]
    assert [[line[1] for line in lines] for lines in shared] == [
        ["ExecutionsStarted", "ExecutionsSucceeded", "ExecutionsFailed", "ExecutionsAborted", "ExecutionsTimedOut"],
        ["ApproximateNumberOfMessagesVisible"],
    ]


def test_what_counts_in_all_regions_of_an_account_has_no_name_that_two_of_them_share(template):
    names = {
        "IAM::Role": "RoleName",
        "IAM::ManagedPolicy": "ManagedPolicyName",
        "CloudWatch::Dashboard": "DashboardName",
    }
    fixed = [
        resource[name] for kind, name in names.items() for resource in template.of(kind).values() if name in resource
    ]
    assert fixed == ["Tidemark-eu-west-1"]


def alarms(template):
    """The alarms by name, without the hashes of CloudFormation's names."""
    return {
        _HASH.sub("", name).removeprefix("Watch"): described(alarm)
        for name, alarm in template.of("CloudWatch::Alarm").items()
    }


def described(alarm):
    (dimension,) = alarm["Dimensions"]
    periods = alarm["EvaluationPeriods"]
    return (
        f"{alarm['Statistic']} of {alarm['Namespace']} {alarm['MetricName']}",
        f"{dimension['Name']} is {_HASH.sub('', dimension['Value'])}",
        f"{alarm['ComparisonOperator']} {alarm['Threshold']}",
        f"{alarm.get('DatapointsToAlarm', periods)} of {periods} times {alarm['Period']} s",
        alarm["TreatMissingData"],
    )


def topic_of_alarms(template):
    (name,) = [name for name in template.of("SNS::Topic") if name.startswith("NotificationAlarms")]
    return f"<{name}>"
