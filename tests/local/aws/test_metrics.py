"""Metrics AWS makes by itself."""

import json
from datetime import timedelta

import pytest

from local.aws.metrics import embedded_metrics


def _entry(**values) -> str:
    definition = {"Namespace": "Tidemark", "Dimensions": [["table"]], "Metrics": [{"Name": "Lag", "Unit": "Seconds"}]}
    return json.dumps({"_aws": {"Timestamp": 1, "CloudWatchMetrics": [definition]}, "table": "orders", **values})


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        pytest.param("plain text", [], id="no metrics"),
        pytest.param('{"_aws": broken', [], id="half a line"),
        pytest.param(f"START\n{_entry(Lag=3)}\nEND", [3.0], id="one value among other lines"),
        pytest.param(_entry(Lag=[3, 4.5]), [3.0, 4.5], id="several values"),
    ],
)
def test_metrics_are_found_in_a_log(log, expected):
    found = list(embedded_metrics(log))
    assert found == [("Tidemark", "Lag", value, "Seconds", {"table": "orders"}) for value in expected]


@pytest.mark.local_aws
def test_what_a_function_logs_becomes_a_metric_at_the_virtual_time(aws, account):
    now = aws.advance(86_400 * 3)
    logs = {"Action": ["logs:CreateLogStream", "logs:PutLogEvents"], "Resource": "*"}
    code = f"def handler(event, context): print({_entry(Lag=7)!r})"
    account.function("f", code, account.role("f", "lambda", logs))
    aws.client("lambda").invoke(FunctionName="f")
    statistics = aws.client("cloudwatch").get_metric_statistics(
        Namespace="Tidemark",
        MetricName="Lag",
        Dimensions=[{"Name": "table", "Value": "orders"}],
        StartTime=now - timedelta(minutes=5),
        EndTime=now + timedelta(minutes=5),
        Period=60,
        Statistics=["Maximum"],
    )
    assert [point["Maximum"] for point in statistics["Datapoints"]] == [7.0]


@pytest.mark.local_aws
def test_executions_are_counted(aws, account):
    machine = account.machine({"No": {"Type": "Fail"}}, account.role("machine", "states"))
    account.run(machine)
    named = {one["MetricName"] for one in aws.client("cloudwatch").list_metrics(Namespace="AWS/States")["Metrics"]}
    assert named == {"ExecutionsStarted", "ExecutionsFailed"}
