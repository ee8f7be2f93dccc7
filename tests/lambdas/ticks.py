"""Runs up to their plan; and the schedule as the mails see it: ticks that fail or plan, and what has been mailed since."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from lambdas import notify_failure, notify_news
from lambdas.plan import handler as plan_handler
from pipeline.mails.told import Told
from tests.lambdas.account import Account, call


def times(account: Account, **later: float) -> dict[str, str]:
    """When an execution began, and its state was entered, so much later than the account's present."""
    instant = (account.aws.now() + timedelta(**later)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return {"startedAt": instant, "enteredAt": instant}


def plan(execution: str, **asked: Any) -> dict[str, Any]:
    """What Plan answers. `asked`: what the execution's input has beside the table."""
    return call(plan_handler, input={"table": "orders", **asked}, execution=execution)


class Schedule:
    """Ticks of the schedule, and the mails since the test began."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self._before = len(account.aws.outbox())
        self._ticks = (f"2026-11-21T{hour:02}:{minute:02}:00Z" for hour in range(24) for minute in (0, 15, 30, 45))

    def event(self, *, by_schedule: bool = True) -> dict[str, Any]:
        tick = {"scheduled_time": next(self._ticks)} if by_schedule else {}
        started = {"execution": self.account.execution(), "startedAt": "2026-11-21T23:59:59.000Z"}
        return {"input": {"table": "orders", **tick}, **started}

    def fails(
        self, error: str, plan: dict[str, Any] | None = None, *, by_schedule: bool = True, redriven: bool = False
    ) -> None:
        """A run that fails while it plans or, with a plan, whose job does."""
        cause = json.dumps({"errorMessage": "It broke.\nTo do: Mend it."})
        failure = {"state": "RunSparkJob" if plan else "Plan", "error": error, "cause": cause}
        event = {**self.event(by_schedule=by_schedule), "plan": plan or {}, "clientToken": "job-0"}
        call(notify_failure.handler, **event, failure=failure, redriven=redriven)

    def plans(self, *, by_schedule: bool = True, answers_lost: int = 0, **asked: Any) -> dict[str, Any]:
        """A run up to its plan; its news is told as the state machine would, and again after an answer that was lost."""
        event = self.event(by_schedule=by_schedule)
        plan = call(plan_handler, input={**event["input"], **asked}, execution=event["execution"])
        for _ in range(1 + answers_lost if plan["news"] else 0):
            call(notify_news.handler, **event, plan=plan)
        return plan

    @property
    def subjects(self) -> list[str]:
        """What has been mailed, without the stack's name; a long line is folded behind the header's name."""
        mails = self.account.aws.outbox()[self._before :]
        return [mail["Subject"].strip().removeprefix("[Tidemark] ") for mail in mails]

    @property
    def last(self) -> str:
        """The text of the last mail."""
        return str(self.account.aws.outbox()[-1].get_content())

    def told(self) -> Told:
        return Told.from_text(self.account.parameters().get("told", ""))
