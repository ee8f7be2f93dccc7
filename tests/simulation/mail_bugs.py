"""Bugs planted in what is mailed, each as a patch; the simulation must find them by the mails alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any
from unittest.mock import patch

from pipeline.errors import RUN_NOW, ConflictingChanges, KeyMismatch
from pipeline.mails import outlook, steps
from pipeline.mails.incidents import News, after_failure, after_look
from pipeline.mails.notices import notices
from pipeline.mails.told import FailureKind, Told
from pipeline.planning.execution_input import ExecutionInput
from pipeline.planning.horizon import Horizon
from pipeline.planning.observation import Observation
from tests.simulation import machine, telling
from tests.simulation.run import Run
from tests.simulation.seeded_bugs import Bug


@contextmanager
def told_recorded_before_the_mail() -> Iterator[None]:
    """What is going to be mailed is recorded first: a crash in between leaves nobody told."""

    def telling(*handed: Any) -> steps.Steps:
        event, table, before, news, horizon, deployment, *failure = handed
        if before and news.told != before:
            yield news.told
        yield from notices(event, table, news, horizon, deployment, *failure)

    with patch.object(steps, "telling", telling):
        yield


@contextmanager
def all_clear_forgotten_after_an_idle_look() -> Iterator[None]:
    """Only a round of work ends an incident, and a table that is found up to date says nothing."""

    def look_out(run: Run, wish: ExecutionInput, seen: Observation, told: Told) -> None:
        right(run, wish, seen, replace(told, incident=None))
        run.outlook = {**run.outlook, "works": False}

    right = telling.look_out
    with patch.object(machine, "look_out", look_out):
        yield


@contextmanager
def every_failure_told() -> Iterator[None]:
    """What has been told of an incident is recorded and never looked at."""

    def after(told: Told, kind: FailureKind, tick: datetime, horizon: Horizon | None, ended: str) -> News:
        return after_failure(replace(told, incident=None), kind, tick, horizon, ended)

    with patch.object(outlook, "after_failure", after):
        yield


@contextmanager
def only_the_first_failure_told() -> Iterator[None]:
    """An open incident silences every other failure too."""

    def after(told: Told, kind: FailureKind, tick: datetime, horizon: Horizon | None, ended: str) -> News:
        return News(told) if told.incident else after_failure(told, kind, tick, horizon, ended)

    with patch.object(outlook, "after_failure", after):
        yield


@contextmanager
def no_warning_without_a_failure() -> Iterator[None]:
    """A table that is paused, or held by another run, is not looked at for its horizon."""

    def after(told: Told, began: datetime, *, works: bool, horizon: Horizon | None, **done: Any) -> News:
        return after_look(told, began, works=works, horizon=horizon if works else None, **done)

    with patch.object(outlook, "after_look", after):
        yield


@contextmanager
def command_of_contradictions_is_to_run_again() -> Iterator[None]:
    """Who does what the mail says has the same records read again."""
    with patch.object(ConflictingChanges, "command", RUN_NOW), patch.object(KeyMismatch, "command", RUN_NOW):
        yield


@contextmanager
def command_that_nobody_knows() -> Iterator[None]:
    """The mail says to type what is no command."""
    with patch.object(ConflictingChanges, "command", "make whole"), patch.object(KeyMismatch, "command", "make whole"):
        yield


#: Every bug that is planted, and how the violation begins that it must lead to.
MAIL_BUGS: Mapping[Bug, str] = {
    told_recorded_before_the_mail: "told is what was mailed",
    all_clear_forgotten_after_an_idle_look: "the end of an incident is told",
    every_failure_told: "one mail for one incident",
    only_the_first_failure_told: "no failure is silent",
    no_warning_without_a_failure: "who may lose history is warned",
    command_that_nobody_knows: "a mail's command can be typed",
    command_of_contradictions_is_to_run_again: "a mail's command heals\n.*: (ConflictingChanges|KeyMismatch) after",
}
