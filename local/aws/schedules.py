"""The dispatcher of EventBridge Scheduler: due schedules start their targets as AWS would, by the virtual clock.

Keywords in the input are substituted, the schedule's role is evaluated, failures are retried within the retry policy
(attempts and event age) and end in the dead-letter queue. A jump of the clock over several ticks fires a schedule
once, for its newest tick. Targets: a state machine, directly or as `aws-sdk:sfn:startExecution`.
"""

import contextvars
import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import RLock
from typing import Any
from uuid import uuid4

from local.aws.callers import CALLER
from local.aws.clock import CLOCK
from local.aws.hooks import patch
from local.aws.knobs import KNOBS
from local.aws.recurrence import latest_due
from local.aws.roles import AccessDenied, caller_for, check, check_trust
from local.surroundings import LOOPBACK

Key = tuple[str, str, str]

_PRINCIPAL = "scheduler.amazonaws.com"
_SDK_TARGET = "arn:aws:scheduler:::aws-sdk:sfn:startExecution"
# Defaults of a schedule without a retry policy: the most AWS allows.
_MOST_RETRIES, _LONGEST_AGE = 185, 86_400
# AWS backs off exponentially, from where it does not say.
_FIRST_BACKOFF_SECONDS = 60.0
_WORTH_A_RETRY = ("Throttl", "TooManyRequests", "ServiceUnavailable", "InternalServer", "InternalError")


class InvocationFailed(Exception):
    """The target refused; `worth_a_retry` tells passing failures from lasting ones."""

    def __init__(self, code: str, message: str, *, worth_a_retry: bool) -> None:
        super().__init__(message)
        self.code = code
        self.worth_a_retry = worth_a_retry


@dataclass
class Invocation:
    """One firing of one schedule, until it is delivered or given up."""

    key: Key
    target: dict[str, Any]
    schedule_arn: str
    due: float
    attempt: int = 1
    not_before: float = 0.0


class Dispatcher:
    """What has fired and what is still to be tried again."""

    def __init__(self) -> None:
        self.fired: dict[Key, float] = {}
        self.pending: list[Invocation] = []
        self._lock = RLock()

    def tick(self) -> None:
        """Fire every due schedule once, and retry what is due for it."""
        with self._lock:
            contextvars.copy_context().run(self._tick)

    def _tick(self) -> None:
        from ministack.core import iam_evaluator
        from ministack.services import scheduler

        iam_evaluator.pin_request_origin(LOOPBACK, True)
        now = CLOCK.time()
        for key, schedule in list(scheduler._schedules._data.items()):
            if schedule["State"] != "ENABLED":
                self.fired[key] = now  # what would have come while it is switched off never comes
            due = latest_due(schedule, self.fired.get(key, schedule["CreationDate"]), now)
            if due is not None:
                self.fired[key] = due
                self.pending.append(Invocation(key, copy.deepcopy(schedule["Target"]), schedule["Arn"], due))
                if schedule["ScheduleExpression"].startswith("at(") and schedule["ActionAfterCompletion"] == "DELETE":
                    scheduler._schedules._data.pop(key)
        waiting, self.pending = self.pending, []
        for invocation in waiting:
            if invocation.not_before > now or not _settled(invocation, now):
                self.pending.append(invocation)


DISPATCHER = Dispatcher()


def get_state() -> dict[str, Any]:
    """What has fired and what is pending."""
    return copy.deepcopy({"fired": DISPATCHER.fired, "pending": DISPATCHER.pending})


def reset() -> None:
    """Forget both."""
    DISPATCHER.fired, DISPATCHER.pending = {}, []


def load_persisted_state(state: dict[str, Any]) -> None:
    """Put both back."""
    DISPATCHER.fired, DISPATCHER.pending = state["fired"], state["pending"]


def install() -> None:
    """Scheduler follows the virtual clock, and its ticker calls our dispatcher."""
    from ministack.services import scheduler

    scheduler.time = CLOCK

    def by_itself(_: Callable[[], None]) -> Callable[[], None]:
        def tick() -> None:
            if KNOBS.schedules_fire_by_themselves:
                DISPATCHER.tick()

        return tick

    patch(scheduler, "_tick_schedules", by_itself, takes=())


def _settled(invocation: Invocation, now: float) -> bool:
    """Try once; False when it must be tried again later."""
    from ministack.core.responses import request_scope

    account, region, _ = invocation.key
    with request_scope(account, region):
        try:
            _deliver(invocation)
        except InvocationFailed as failure:
            policy = invocation.target.get("RetryPolicy") or {}
            given_up = _exhausted(invocation, failure, policy, now)
            if given_up is None:
                invocation.not_before = now + _FIRST_BACKOFF_SECONDS * 2 ** (invocation.attempt - 1)
                invocation.attempt += 1
                return False
            _to_dead_letters(invocation, failure, given_up)
    return True


def _exhausted(invocation: Invocation, failure: InvocationFailed, policy: Mapping[str, Any], now: float) -> str | None:
    """Why there is no further attempt, in the words of the dead letter's attribute; None when there is one."""
    if not failure.worth_a_retry:
        return ""
    if invocation.attempt > int(policy.get("MaximumRetryAttempts", _MOST_RETRIES)):
        return "MaximumRetryAttempts"
    if now - invocation.due >= float(policy.get("MaximumEventAgeInSeconds", _LONGEST_AGE)):
        return "MaximumEventAgeInSeconds"
    return None


def payload_of(invocation: Invocation) -> str:
    """The target's input with the context attributes put in."""
    due = datetime.fromtimestamp(invocation.due, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    text = str(invocation.target.get("Input") or "{}")
    for name, value in (
        ("schedule-arn", invocation.schedule_arn),
        ("scheduled-time", due),
        ("execution-id", uuid4().hex),
        ("attempt-number", str(invocation.attempt)),
    ):
        text = text.replace(f"<aws.scheduler.{name}>", value)
    return text


def _deliver(invocation: Invocation) -> None:
    """Start the state machine under the schedule's role. Raises InvocationFailed."""
    arn = invocation.target["Arn"]
    request = {"stateMachineArn": arn, "input": payload_of(invocation), "name": str(uuid4())}
    if arn == _SDK_TARGET:
        given = json.loads(payload_of(invocation))
        request = {f"{name[0].lower()}{name[1:]}": value for name, value in given.items()}
    elif ":stateMachine:" not in arn:
        raise InvocationFailed("UnsupportedTarget", f"The dispatcher cannot start {arn}", worth_a_retry=False)
    _as_role(invocation, "states:StartExecution", request["stateMachineArn"])
    _call("states", "AWSStepFunctions.StartExecution", request)


def _as_role(invocation: Invocation, action: str, resource: str) -> None:
    role_arn = invocation.target["RoleArn"]
    try:
        check_trust(role_arn, _PRINCIPAL, group_of(invocation.schedule_arn))
        check(role_arn, action, resource)
    except AccessDenied as denied:
        raise InvocationFailed("AccessDeniedException", str(denied), worth_a_retry=False) from denied
    CALLER.set(caller_for(role_arn, "scheduler"))


def group_of(schedule_arn: str) -> str:
    """The ARN of a schedule's group: what Scheduler names as the source when it takes a role."""
    return schedule_arn.rpartition("/")[0].replace(":schedule/", ":schedule-group/")


def _call(service: str, target: str, parameters: dict[str, Any]) -> None:
    """Through the front door like everyone, so that guard and faults apply."""
    from ministack import app

    status, _, body = app.call_service_handler_sync(
        app.SERVICE_HANDLERS[service],
        "POST",
        "/",
        {"x-amz-target": target, "content-type": "application/x-amz-json-1.0"},
        json.dumps(parameters).encode(),
        {},
    )
    if status >= 400:
        answer = json.loads(body)
        code = str(answer.get("__type", "")).rsplit("#", 1)[-1]
        passing = status >= 500 or code.startswith(_WORTH_A_RETRY)
        raise InvocationFailed(code, str(answer.get("message", "")), worth_a_retry=passing)


def _to_dead_letters(invocation: Invocation, failure: InvocationFailed, exhausted: str) -> None:
    """Send the payload to the dead-letter queue with the attributes AWS adds; without a queue it is gone."""
    from ministack.services import sqs

    queue = (invocation.target.get("DeadLetterConfig") or {}).get("Arn")
    if not queue:
        return
    said = {
        "ERROR_CODE": failure.code,
        "ERROR_MESSAGE": str(failure),
        "EXHAUSTED_RETRY_CONDITION": exhausted,
        "IS_PAYLOAD_TRUNCATED": "false",
        "RETRY_ATTEMPTS": str(invocation.attempt - 1),
        "SCHEDULED_TIME": datetime.fromtimestamp(invocation.due, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "SCHEDULE_ARN": invocation.schedule_arn,
        "TARGET_ARN": invocation.target["Arn"],
    }
    attributes = {name: {"DataType": "String", "StringValue": value} for name, value in said.items() if value}
    try:
        _as_role(invocation, "sqs:SendMessage", queue)
        _call(
            "sqs",
            "AmazonSQS.SendMessage",
            {
                "QueueUrl": sqs._queue_url(queue.rsplit(":", 1)[-1]),
                "MessageBody": payload_of(invocation),
                "MessageAttributes": attributes,
            },
        )
    except InvocationFailed as lost:
        # On AWS such an event is lost too, and only a metric says so.
        from ministack.services import cloudwatch

        cloudwatch.record_metric("AWS/Scheduler", f"InvocationsFailedToBeSentToDeadLetterCount_{lost.code}", 1.0)
