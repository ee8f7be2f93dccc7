"""The last warnings before history is lost: what a person is told to do, who reads nothing else."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from pipeline.errors import PipelineError, error_names
from pipeline.mails.failure_names import Failure
from pipeline.mails.frame import Mail
from pipeline.mails.incidents import News
from pipeline.mails.notices import notices
from pipeline.mails.outlook import outlook
from pipeline.mails.steps import telling_failure
from pipeline.mails.told import FailureKind, Told
from pipeline.planning.horizon import Horizon
from pipeline.settings import TableSettings
from tests.pipeline.rounds import OUTLOOK
from tests.pipeline.world import DEPLOYMENT, EXECUTION, OTHER, at, claim, incident, plan, seen, update, wish

LATE = Horizon(at("01/00:00"), at("01/00:00"), at("01/00:00") + timedelta(days=27))
TOLD = incident(
    "02/00:00", "01/00:00", FailureKind("PitrOff", "Plan"), FailureKind("ExportFailed", "StartExports", "update")
)


FAILING = Told(TOLD, level=50)


def warned(failure: Failure | None, told: Told = FAILING, **planned: Any) -> Mail:
    """The warning at 75 % by a scheduled run that has failed, or has found no work."""
    asked = {"table": "orders", "scheduled_time": "2026-11-28T00:00:00Z"}
    event = {"input": asked, "execution": EXECUTION, "plan": {**OUTLOOK, "claim": 7, "attempt": 7, **planned}}
    if failure is None:
        (mail,) = notices(event, "orders", News(told, warning=75), LATE, DEPLOYMENT)
        return mail
    steps = telling_failure(event, failure, told, LATE, DEPLOYMENT)
    return next(step for step in steps if isinstance(step, Mail) and step.status == "WARNING")


@pytest.mark.parametrize("name", [name for name, kind in error_names().items() if kind.heals_by_itself] + ["KeyError"])
def test_nobody_is_told_to_wait_for_what_has_not_healed(name):
    remedy = error_names().get(name, PipelineError).default_remedy
    told = Told(incident("03/00:00", "01/00:00", FailureKind(name, "StartExports", "update")), level=50)
    mail = warned(Failure("StartExports", name, "This has happened.", remedy), told, mode="update")
    assert "Nothing to do" not in mail.text
    assert "What this run says: This has happened.\n" in mail.text
    assert "by itself as a rule, and since 2026-11-03T00:00:00Z it has not: read why this run has failed." in mail.text
    assert mail.facts["command"].endswith(f" --execution-arn {EXECUTION}")


def test_a_level_that_is_not_reached_yet_is_not_told_as_if_it_were():
    nearly = replace(LATE, latest=at("01/00:00") + timedelta(days=35) * 0.899)
    event = {"input": {"table": "orders"}, "execution": EXECUTION, "plan": OUTLOOK}
    (mail,) = notices(event, "orders", News(FAILING, warning=75), nearly, DEPLOYMENT)
    assert "(89 % of the recovery period of 35 days used)" in mail.text
    assert "The next warning comes at 90 % of the recovery period.\n" in mail.text
    left = timedelta(days=35) * 0.101
    assert (mail.facts["level_percent"], mail.facts["history_left_seconds"]) == (75, int(left.total_seconds()))
    (last,) = notices(event, "orders", News(FAILING, warning=90), nearly, DEPLOYMENT)
    assert "The next warning comes" not in last.text


def test_what_has_failed_for_the_first_time_has_not_failed_since_something_else_did():
    mail = warned(Failure("Plan", "AwsUnavailable", "Busy.", "Nothing to do: wait."))
    assert (
        "It heals by itself as a rule, and since 2026-11-28T00:00:00Z it has not: read why this run has failed.\n"
        in mail.text
    )


def test_what_a_failure_advises_beyond_waiting_is_told():
    mail = warned(Failure("RunSparkJob", "JobFailed", "Killed.", "Make the workers larger.", job_run="00run"))
    assert "read why this run has failed. Make the workers larger.\n" in mail.text
    assert "/serverless/applications/00app/jobs/00run\n" in mail.text


def test_what_is_stopped_after_three_tries_is_not_said_to_be_tried_again():
    told = Told(incident("02/00:00", "01/00:00", FailureKind("ChecksumMismatch", "Plan")), level=50)
    mail = warned(Failure("Plan", "ChecksumMismatch", "It is not tried again.", "Start a run."), told)
    assert "What to do: Start a run.\nThe command: aws stepfunctions start-execution " in mail.text


def test_this_run_s_failure_counts_and_not_the_one_that_was_told_last():
    mail = warned(Failure("Plan", "PitrOff", "Recovery is off.", "Turn it on."))
    assert "Runs have failed since 2026-11-02T00:00:00Z: PitrOff in Plan.\nWhat to do: Turn it on.\n" in mail.text


@pytest.mark.parametrize("failure", [None, Failure("StartExports", "ExportFailed", "It failed.", "Wait.")])
def test_what_fails_now_is_not_said_to_have_failed_since_something_else_did(failure):
    told = "2026-11-02T00:00:00Z, first with PitrOff in Plan, then with ExportFailed in StartExports."
    assert f"Runs have failed since {told}\n" in warned(failure, mode="update").text


@pytest.mark.parametrize("mode", ["backfill", "maintain"])
def test_what_fails_of_a_wish_or_of_maintenance_holds_no_table_up(mode):
    told = Told(incident("02/00:00", "01/00:00", FailureKind("PitrOff", "Plan")), level=50)
    mail = warned(Failure("RunSparkJob", "RebuildNeeded", "The rows differ.", "Rebuild it."), told, mode=mode)
    assert "PitrOff in Plan.\nWhat to do: Turn point-in-time recovery on" in mail.text


def test_while_another_run_is_at_work_it_is_that_one_to_look_at():
    world = seen("12:00", claim=claim(plan("12:00 13:00"), owner_runs=True))
    told = outlook(wish(), world, update(world), TableSettings("orders", "orders"), Told(), at("14:00"))
    mail = warned(None, Told(level=50), **told)
    assert mail.facts["command"].endswith(f" --execution-arn {OTHER}")


AT_WORK = f" --execution-arn {OTHER}"


@pytest.mark.parametrize(
    ("name", "state", "command"),
    [
        pytest.param("ControlUnknown", "Plan", AT_WORK, id="it has got beyond that"),
        pytest.param("PermissionMissing", "Plan", AT_WORK, id="all that plans get beyond"),
        pytest.param("RecoveryTooShort", "Plan", "RecoveryPeriodInDays=35", id="what only a table up to date can show"),
        pytest.param("JobNotStarted", "RunSparkJob", "make repair", id="it may still come to that"),
    ],
)
def test_what_failed_in_plan_no_longer_holds_a_table_up_at_which_a_run_is_at_work(name, state, command):
    """Who is told to repair what is long repaired does not look at the run that everything waits for."""
    told = Told(incident("02/00:00", "01/00:00", FailureKind(name, state)), level=50)
    assert warned(None, told, at_work=OTHER).facts["command"].endswith(command)


def test_where_history_is_lost_while_a_run_is_at_work_a_full_export_is_for_when_it_has_ended():
    """Until then it is refused; and what that run had exported in time it may still bring."""
    lost = replace(LATE, earliest=at("02/00:00"))
    event = {"input": {"table": "orders"}, "execution": EXECUTION, "plan": {**OUTLOOK, "at_work": OTHER}}
    (mail,) = notices(event, "orders", News(Told(level=100), warning=100), lost, DEPLOYMENT)
    assert "until it ends, no other is begun. If history is still lost then: Replace the table's content" in mail.text
    assert "\nChanges after the watermark can no longer be exported; the table can only be made anew.\n" in mail.text
    command, then = (line for line in mail.lines if line.startswith(("The command: ", "Then: ")))
    assert command.endswith(AT_WORK)
    assert then.endswith("""--input '{"table":"orders","mode":"full"}'""")


@pytest.mark.parametrize("name", ["orders(2)", "ada's"])
def test_an_execution_is_found_by_the_command_whatever_a_person_has_called_it(name):
    other = f"{OTHER.rpartition(':')[0]}:{name}"
    mail = warned(None, Told(level=50), at_work=other)
    assert mail.facts["command"].endswith(f" --execution-arn {shlex.quote(other)}")


@pytest.mark.parametrize("rebuilds", [False, True])
def test_of_a_paused_table_whose_recovery_is_turned_off_its_people_hear_once(rebuilds):
    world, settings = seen("12:00", "", control="PAUSE"), TableSettings("orders", "orders")
    settings = replace(settings, on_lost_history="rebuild" if rebuilds else "halt")
    told = outlook(wish(), world, update(world), settings, Told(), at("14:00"))
    assert told["news"] == ["HistoryShort"]
    horizon = Horizon.from_json(told["history"])
    event = {"input": {"table": "orders"}, "execution": EXECUTION, "plan": told | {"reason": "Paused"}}
    (mail,) = notices(event, "orders", News(Told(level=100), warning=100), horizon, DEPLOYMENT)
    assert "What to do: Turn point-in-time recovery on for the source table. Set its control parameter" in mail.text
    assert "PointInTimeRecoveryEnabled=true" in mail.facts["command"]
    off = "its watermark is 2026-11-21T12:00:00Z, and point-in-time recovery is off for its source.\n"
    assert mail.text.startswith(f"orders is behind: {off}")
    assert mail.facts["watermark"] == "2026-11-21T12:00:00Z"
    assert not {"earliest", "latest"} & mail.facts.keys(), "of what cannot be restored no instant is known"
    assert ('"mode":"full"' in mail.text, "makes the table anew" in mail.text) == (not rebuilds, rebuilds)
    assert outlook(wish(), world, update(world), settings, Told(level=100), at("14:15"))["news"] == []


def test_where_nobody_is_at_work_and_nothing_has_failed_a_run_shows_what_holds_the_table_up():
    for told in (Told(level=50), FAILING):
        assert "What to do: Start a run: it brings the table forward, or a mail says" in warned(None, told).text
