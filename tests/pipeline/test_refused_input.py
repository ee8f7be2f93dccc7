"""The mail about what was asked for and refused: what that was; its command has the input as it was given, to be corrected."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import pytest

from pipeline.mails.failure import failure_mail
from pipeline.mails.failure_names import Failure
from tests.pipeline.rounds import PLANNED, failed
from tests.pipeline.world import DEPLOYMENT, EXECUTION

LONGEST_MESSAGE = 256 * 1024


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"table": "cartz"}, id="a mistyped table"),
        pytest.param({"table": "orders", "mode": "FULL"}, id="a wrong mode"),
        pytest.param({"table": "orders", "mode": "backfill"}, id="a backfill from nowhere"),
        pytest.param({"tabel": "orders"}, id="a mistyped field"),
        pytest.param({"table": "or'ders\n"}, id="what a shell must not read"),
        pytest.param(None, id="nothing"),
    ],
)
def test_a_refused_input_is_in_its_command_as_it_was_given_to_be_corrected(given):
    event = {"input": given, "execution": EXECUTION, "plan": {}}
    raw = {"state": "Plan", "error": "InputRefused", "cause": '{"errorMessage": "It is wrong."}'}
    mail = failure_mail(event, Failure.from_state(raw), replace(DEPLOYMENT, default_table=""))
    typed = shlex.split(mail.facts["command"])
    assert (typed[-2], json.loads(typed[-1])) == ("--input", given)
    assert mail.text.count("start-execution") == 1
    assert "What to do: Correct the input, which the command has as it was given" in mail.text


def test_what_only_comes_too_early_is_asked_for_again_as_it_was():
    halt = {"kind": "Halt", "table": "orders"}
    mail = failed("InputRefused", "Plan", asked={"mode": "verify"}, planned=halt)
    assert mail.facts["command"].endswith("""--input '{"table":"orders","mode":"verify"}'""")
    assert (mail.facts["remedy"], mail.facts["ask_again"]) == ("What helps.", "")


def test_an_input_too_long_for_a_mail_is_left_to_whoever_gave_it():
    event = {"input": {"table": "x" * 200_000}, "execution": EXECUTION, "plan": {}}
    mail = failure_mail(event, Failure("Plan", "InputRefused", "Wrong.", "Correct it."), DEPLOYMENT)
    assert "--input 'the input, corrected: it is too long for a mail'" in mail.facts["command"]
    assert len(json.dumps(mail.facts)) + len(mail.text) < LONGEST_MESSAGE


@pytest.mark.parametrize(
    ("asked", "planned", "doing"),
    [
        pytest.param({"mode": "full"}, {}, "replacing the content of orders", id="before there was a plan"),
        pytest.param({"mode": "backfill"}, {"kind": "Halt"}, "backfilling orders", id="refused by the plan"),
        pytest.param({"mode": "full"}, PLANNED, "verifying orders", id="while it finishes what another run has left"),
        pytest.param(
            {"mode": "full"},
            {"kind": "Record", "fulfils": False},
            "correcting last-export-time of orders",
            id="while it records that",
        ),
        pytest.param(
            {"mode": "full", "dry_run": True},
            {},
            "replacing the content of orders, by a dry run",
            id="which changes nothing",
        ),
        pytest.param({"mode": ["full"]}, {}, "bringing orders up to date", id="where no mode was asked for"),
    ],
)
def test_a_failure_mail_says_what_the_run_was_doing(asked, planned, doing):
    planned = {**planned, "mode": "verify"} if planned is PLANNED else planned
    assert f"in Plan, while {doing}.\n" in failed("PitrOff", "Plan", asked=asked, planned=planned).text
