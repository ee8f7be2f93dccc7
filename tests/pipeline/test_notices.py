"""The mails that tell of no single run, as a person reads them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from pipeline.errors import RUN_NOW, RUN_ON, PitrOff, error_names
from pipeline.mails.commands import filled
from pipeline.mails.digest import Digest
from pipeline.mails.frame import Mail
from pipeline.mails.incidents import News
from pipeline.mails.notices import notices
from pipeline.mails.told import FailureKind, Told
from pipeline.planning.horizon import Horizon
from pipeline.table.continuity import Doubt
from tests.pipeline.rounds import OUTLOOK
from tests.pipeline.world import DEPLOYMENT, EXECUTION, MACHINE, at, incident

KINDS = FailureKind("AwsUnavailable", "StartExports", "update"), FailureKind("PitrOff", "Plan")
INCIDENT = incident("20/09:00", "20/08:00", *KINDS)
NOW = Horizon(at("21/12:00"), at("01/12:05"), at("21/12:05"), 35)
LATE = Horizon(at("01/12:00"), at("01/00:00"), at("21/12:00"), 35)
LINK = f"Execution: https://eu-west-1.console.aws.amazon.com/states/home?region=eu-west-1#/v2/executions/details/{EXECUTION}\n"
DIGEST = Digest(
    at("20/00:00"), at("21/00:00"), {"merge": 23, "backfill": 1}, {"read": 15, "inserted": 10, "deleted": 5}
)


def written(news: News, horizon: Horizon | None = NOW, tick: str = "2026-11-21T12:15:00Z", **plan: Any) -> list[Mail]:
    asked = {"table": "orders", **({"scheduled_time": tick} if tick else {})}
    event = {
        "input": asked,
        "execution": EXECUTION,
        "startedAt": "2026-11-21T12:16:12.345Z",
        "plan": {**OUTLOOK, **plan},
    }
    return notices(event, "orders", news, horizon, DEPLOYMENT)


def test_an_all_clear_says_what_it_was_since_when_what_it_cost_and_what_was_caught_up():
    (mail,) = written(News(Told(), over=INCIDENT))
    assert (mail.status, mail.mail_list, mail.table) == ("CLEARED", "failure", "orders")
    assert mail.subject == "[Tidemark] ALL CLEAR orders: PitrOff is over"
    assert mail.text == (
        "All clear: orders is followed again.\n"
        "\n"
        "What had failed:\n"
        "  AwsUnavailable in StartExports\n"
        "  PitrOff in Plan\n"
        "From 2026-11-20T09:00:00Z to 2026-11-21T12:15:00Z, 27 h 15 min: 109 ticks of the schedule without success.\n"
        "Caught up: 28 h 0 min of history, from 2026-11-20T08:00:00Z to 2026-11-21T12:00:00Z.\n"
        "\n"
        "History would be lost in 34 days 23 h (0 % of the recovery period of 35 days used).\n"
        "\n" + LINK
    )
    assert mail.facts["failed_ticks"] == 109
    assert (mail.facts["since"], mail.facts["until"]) == ("2026-11-20T09:00:00Z", "2026-11-21T12:15:00Z")
    assert [failure["error"] for failure in mail.facts["failures"]] == ["AwsUnavailable", "PitrOff"]


def test_an_all_clear_of_maintenance_says_that_the_table_was_followed():
    of_maintenance = incident("20/09:00", "20/08:00", FailureKind("JobFailed", "RunSparkJob", "maintain"))
    (mail,) = written(News(Told(), over=of_maintenance))
    assert mail.text.startswith(
        "All clear: orders is maintained again.\n"
        "\n"
        "What had failed:\n"
        "  JobFailed in RunSparkJob (maintain)\n"
        "From 2026-11-20T09:00:00Z to 2026-11-21T12:15:00Z, 27 h 15 min. Updates have no part in it.\n"
        "\n"
        "History would be lost"
    )
    assert mail.facts["failed_ticks"] == 0


def test_a_person_s_run_ends_an_incident_when_it_started():
    (mail,) = written(News(Told(), over=INCIDENT), tick="")
    assert "to 2026-11-21T12:16:12Z, 27 h 16 min: 110 ticks" in mail.text


@pytest.mark.parametrize(
    ("before", "horizon", "said"),
    [
        pytest.param("21/12:00", NOW, "nothing had to be caught up", id="nothing was missed"),
        pytest.param(
            "21/12:15",
            NOW,
            "The table is at 2026-11-21T12:00:00Z, before where it was when this began, 2026-11-21T12:15:00Z: "
            "somebody has rolled it back since, or it was made anew.",
            id="it was rolled back",
        ),
        pytest.param("", NOW, "The table shows every change before 2026-11-21T12:00:00Z.", id="a first load"),
        pytest.param("", None, "All clear", id="nothing is known"),
    ],
)
def test_an_all_clear_claims_no_more_than_is_known(before, horizon, said):
    (mail,) = written(News(Told(), over=incident("20/09:00", before, *KINDS)), horizon)
    assert said in mail.text
    assert "\n\n\n" not in mail.text.replace("\n\n\nExecution", "\n\nExecution")


def test_a_warning_names_what_holds_the_table_up_and_not_what_a_person_wished():
    kinds = FailureKind("RebuildNeeded", "RunSparkJob", "update"), FailureKind("WishGivenUp", "Plan")
    (mail,) = written(News(Told(incident("20/09:00", "20/08:00", *kinds), level=50), warning=50), LATE)
    assert "Runs have failed since 2026-11-20T09:00:00Z: RebuildNeeded in RunSparkJob.\n" in mail.text
    assert '"mode":"full"' in mail.facts["command"]


def test_one_all_clear_tells_everything_that_is_over():
    (mail,) = written(News(Told(), over=INCIDENT, safe_again=True))
    assert "The warnings that its history runs out no longer hold." in mail.text
    (mail,) = written(News(Told(), safe_again=True))
    assert mail.subject == "[Tidemark] ALL CLEAR orders: history is safe again"
    assert mail.text.startswith("All clear: the history of orders is safe again.\n"), "and runs may still fail"


def test_a_warning_says_how_long_what_holds_the_table_up_and_what_to_type():
    (mail,) = written(
        News(Told(level=50), warning=50),
        LATE,
        reason="Paused",
        message="The control parameter says PAUSE; set it to RUN.",
    )
    assert (mail.status, mail.mail_list) == ("WARNING", "failure")
    assert mail.subject == "[Tidemark] WARNING orders: history would be lost in 15 days 0 h"
    assert mail.text == (
        "orders is behind: its watermark is 2026-11-01T12:00:00Z, its source is at 2026-11-21T12:00:00Z.\n"
        "History would be lost in 15 days 0 h (57 % of the recovery period of 35 days used).\n"
        "If the table is not caught up by then, only a new full export helps.\n"
        "\n"
        "What this run says: The control parameter says PAUSE; set it to RUN.\n"
        "What to do: Let the table catch up: set its control parameter to RUN.\n"
        "The command: aws ssm put-parameter --region eu-west-1 --overwrite --type String "
        "--name /tidemark/Tidemark/orders/control --value RUN\n"
        "\n"
        "The next warning comes at 75 % of the recovery period.\n"
        "\n" + LINK
    )


def test_a_warning_while_runs_fail_says_so():
    (mail,) = written(News(Told(INCIDENT, level=50), warning=50), LATE)
    first = f"Runs have failed since 2026-11-20T09:00:00Z, first with {KINDS[0]}"
    assert f"{first}, then with PitrOff in Plan.\n" in mail.text
    assert mail.facts["command"].startswith("aws dynamodb update-continuous-backups --region eu-west-1 --table-name ")


def test_a_warning_while_another_run_is_at_work_names_it():
    at_work = f"{EXECUTION} is at work on this table; this run leaves it alone."
    (mail,) = written(
        News(Told(level=50), warning=50), LATE, reason="AnotherRun", message=at_work, at_work=f"{EXECUTION}-2"
    )
    assert f"What this run says: {at_work}\n" in mail.text
    assert mail.facts["command"].startswith("aws stepfunctions get-execution-history ")
    assert mail.facts["command"].endswith(f" --execution-arn {EXECUTION}-2"), "an update would only find it at work"


def test_a_warning_that_comes_too_late_offers_what_still_helps():
    lost = replace(LATE, earliest=at("02/00:00"))
    (mail,) = written(News(Told(level=100), warning=100), lost)
    assert mail.subject == "[Tidemark] WARNING orders: history is lost"
    assert '"mode":"full"' in mail.facts["command"]
    assert "The next warning" not in mail.text


@pytest.mark.parametrize(
    ("planned", "told", "helps", "command"),
    [
        pytest.param({}, Told(), "The next run makes the table anew from a full export by itself.", RUN_NOW, id="idle"),
        pytest.param(
            {"reason": "Paused"}, Told(), "Set its control parameter to RUN. The next run", RUN_ON, id="paused"
        ),
        pytest.param({}, Told(INCIDENT), "Turn point-in-time recovery on", PitrOff.command, id="something in its way"),
    ],
)
def test_a_table_that_rebuilds_itself_needs_no_full_export_of_a_person_s(planned, told, helps, command):
    lost = replace(LATE, earliest=at("02/00:00"))
    (mail,) = written(News(replace(told, level=100), warning=100), lost, rebuilds=True, **planned)
    assert f"What to do: {helps}" in mail.text
    assert mail.facts["command"] == filled(command, "orders", DEPLOYMENT)
    assert "Then: " not in mail.text


@pytest.mark.parametrize("name", error_names())
def test_every_subject_is_one_that_sns_takes(name):
    failing = incident("20/09:00", "", FailureKind(name, "Plan"))
    news = News(Told(), over=failing, warning=50, digest=replace(DIGEST, start=at("01/00:00")))
    deployment = replace(DEPLOYMENT, stack_name="s" * 60)
    event = {"input": {}, "execution": EXECUTION, "startedAt": "2026-11-21T12:16:12.345Z", "plan": OUTLOOK}
    for mail in notices(event, "t" * 255, news, LATE, deployment):
        assert re.fullmatch(r"[ -~]{1,100}", mail.subject)
        assert json.loads(json.dumps(mail.facts))["status"] == mail.status


def test_without_news_there_is_no_mail():
    assert written(News(Told())) == []


def test_rows_that_were_not_what_the_changes_say_are_warned_of_with_the_commands_that_help():
    doubt = Doubt(at("13:00"), "job", "Of the old images, 2 have no row.")
    (mail,) = written(News(Told(doubted=doubt.watermark), doubt=doubt))
    assert (mail.status, mail.mail_list, mail.table) == ("WARNING", "failure", "orders")
    assert mail.subject == "[Tidemark] WARNING orders: rows were not what the changes say"
    commands = [f"""{MACHINE} --input '{{"table":"orders","mode":"{mode}"}}'""" for mode in ("verify", "full")]
    words = ["Of the old images, 2 have no row.", *commands, "Report: s3://a-bucket/runs/orders/job.json\n"]
    assert [word for word in words if word not in mail.text] == []
    assert mail.facts["command"].endswith(commands[0])


def test_that_a_table_is_trusted_again_is_an_all_clear():
    (mail,) = written(News(Told(), trusted_again=True))
    assert (mail.status, mail.subject) == ("CLEARED", "[Tidemark] ALL CLEAR orders: its rows are the source's")
    assert "It has been verified, or made anew, since the warning" in mail.text
