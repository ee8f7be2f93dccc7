"""The dispatcher: keywords, role, retries, dead letters."""

import json
from datetime import datetime

import pytest

pytestmark = pytest.mark.local_aws


class Tick:
    """A schedule of every 15 minutes for a state machine that does nothing, with a dead-letter queue."""

    def __init__(self, aws, account) -> None:
        self.aws, self.account = aws, account
        self.machine = account.machine({"Done": {"Type": "Succeed"}}, account.role("machine", "states"))
        sqs = aws.client("sqs")
        self.queue_url = sqs.create_queue(QueueName="dead")["QueueUrl"]
        self.queue = sqs.get_queue_attributes(QueueUrl=self.queue_url, AttributeNames=["QueueArn"])["Attributes"][
            "QueueArn"
        ]

    def schedule(self, *rights: dict, service: str = "scheduler", only: dict | None = None, **target) -> None:
        role = self.account.role("scheduler", service, *rights, only=only)
        self.aws.client("scheduler").create_schedule(
            Name="tick",
            ScheduleExpression="rate(15 minutes)",
            FlexibleTimeWindow={"Mode": "OFF"},
            Target={
                "Arn": self.machine,
                "RoleArn": role,
                "DeadLetterConfig": {"Arn": self.queue},
                "RetryPolicy": {"MaximumRetryAttempts": 2, "MaximumEventAgeInSeconds": 600},
                **target,
            },
        )

    def switch(self, state: str) -> None:
        scheduler = self.aws.client("scheduler")
        made = scheduler.get_schedule(Name="tick")
        kept = {name: made[name] for name in ("Name", "ScheduleExpression", "FlexibleTimeWindow", "Target")}
        scheduler.update_schedule(**kept, State=state)

    @property
    def start(self) -> dict:
        return {"Action": "states:StartExecution", "Resource": self.machine}

    @property
    def send(self) -> dict:
        return {"Action": "sqs:SendMessage", "Resource": self.queue}

    def inputs(self) -> list[dict]:
        states = self.aws.client("stepfunctions")
        found = states.list_executions(stateMachineArn=self.machine)["executions"]
        return [json.loads(states.describe_execution(executionArn=one["executionArn"])["input"]) for one in found]

    def letters(self) -> list[dict]:
        received = self.aws.client("sqs").receive_message(
            QueueUrl=self.queue_url, MessageAttributeNames=["All"], MaxNumberOfMessages=10
        )
        return received.get("Messages", [])


@pytest.fixture
def tick(aws, account) -> Tick:
    return Tick(aws, account)


def test_a_due_schedule_starts_its_target_once_with_the_keywords_put_in(aws, tick):
    made = aws.now()
    keywords = {
        word: f"<aws.scheduler.{word}>" for word in ("scheduled-time", "execution-id", "attempt-number", "schedule-arn")
    }
    tick.schedule(tick.start, Input=json.dumps(keywords))
    aws.tick()
    assert tick.inputs() == []
    aws.advance(4 * 900 + 60)
    aws.tick()
    aws.tick()
    (given,) = tick.inputs()
    due = datetime.fromisoformat(given["scheduled-time"])
    assert (due - made).total_seconds() == pytest.approx(4 * 900, abs=5)
    assert given["attempt-number"] == "1"
    assert given["schedule-arn"].endswith(":schedule/default/tick")
    assert len(given["execution-id"]) == 32


def test_each_tick_starts_another_execution(aws, tick):
    tick.schedule(tick.start)
    for _ in range(3):
        aws.advance(900)
        aws.tick()
    assert len(tick.inputs()) == 3


def test_a_schedule_that_was_switched_off_makes_up_for_nothing(aws, tick):
    tick.schedule(tick.start)
    tick.switch("DISABLED")
    aws.advance(900)
    aws.tick()
    tick.switch("ENABLED")
    aws.tick()
    assert tick.inputs() == []
    aws.advance(900)
    aws.tick()
    assert len(tick.inputs()) == 1


def test_the_universal_target_starts_the_state_machine_too(aws, tick):
    given = json.dumps({"StateMachineArn": tick.machine, "Input": '{"table": "orders"}'})
    tick.schedule(tick.start, Arn="arn:aws:scheduler:::aws-sdk:sfn:startExecution", Input=given)
    aws.advance(900)
    aws.tick()
    assert tick.inputs() == [{"table": "orders"}]


@pytest.mark.parametrize("service", ["scheduler", "events"], ids=["without the right", "without trust"])
def test_a_role_that_may_not_ends_in_the_dead_letter_queue_at_once(aws, tick, service):
    rights = [tick.send] if service == "scheduler" else [tick.start, tick.send]
    tick.schedule(*rights, service=service, Input='{"table": "orders"}')
    aws.advance(900)
    aws.tick()
    assert tick.inputs() == []
    letters = tick.letters()
    if service == "events":
        # A role Scheduler may not assume cannot send the letter either.
        assert letters == []
        return
    assert letters[0]["Body"] == '{"table": "orders"}'
    said = {name: value["StringValue"] for name, value in letters[0]["MessageAttributes"].items()}
    assert said["ERROR_CODE"] == "AccessDeniedException"
    assert said["RETRY_ATTEMPTS"] == "0"
    assert said["TARGET_ARN"] == tick.machine


@pytest.mark.parametrize(("group", "started"), [("default", 1), ("another", 0)])
def test_a_schedule_takes_a_role_only_for_the_group_that_it_names(aws, tick, group, started):
    source = {"aws:SourceArn": f"arn:aws:scheduler:us-east-1:000000000000:schedule-group/{group}"}
    tick.schedule(tick.start, only={"StringEquals": {"aws:SourceAccount": "000000000000"}, "ArnLike": source})
    aws.advance(900)
    aws.tick()
    assert len(tick.inputs()) == started


def test_a_passing_failure_is_retried_and_says_so(aws, tick):
    tick.schedule(tick.start, Input='{"attempt": "<aws.scheduler.attempt-number>"}')
    aws.set_faults(
        {
            "name": "throttled",
            "action": "states:StartExecution",
            "code": "ThrottlingException",
            "status": 400,
            "role": "scheduler",
        }
    )
    aws.advance(900)
    aws.tick()
    assert tick.inputs() == []
    aws.advance(60)
    aws.tick()
    assert tick.inputs() == [{"attempt": "2"}]


@pytest.mark.parametrize(
    ("policy", "exhausted", "retries"),
    [
        pytest.param(
            {"MaximumRetryAttempts": 2, "MaximumEventAgeInSeconds": 86_400}, "MaximumRetryAttempts", "2", id="attempts"
        ),
        pytest.param(
            {"MaximumRetryAttempts": 9, "MaximumEventAgeInSeconds": 300}, "MaximumEventAgeInSeconds", "3", id="age"
        ),
    ],
)
def test_a_lasting_failure_is_given_up_within_the_policy(aws, tick, policy, exhausted, retries):
    tick.schedule(tick.start, tick.send, RetryPolicy=policy)
    aws.set_faults({"name": "down", "action": "states:StartExecution", "times": 99})
    aws.advance(900)
    aws.tick()
    for _ in range(12):
        aws.advance(60)
        aws.tick()
    (letter,) = tick.letters()
    said = {name: value["StringValue"] for name, value in letter["MessageAttributes"].items()}
    assert (said["EXHAUSTED_RETRY_CONDITION"], said["RETRY_ATTEMPTS"]) == (exhausted, retries)


def test_schedules_fire_by_themselves_when_they_are_allowed_to(aws, account, tick):
    tick.schedule(tick.start)
    aws.set_knobs(schedules_fire_by_themselves=True)
    aws.advance(900)
    account.until(tick.inputs, bool, within=12)
