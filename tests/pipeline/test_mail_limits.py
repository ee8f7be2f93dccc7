"""What SNS takes: subjects, sizes, and names that a person may have written."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import error_names
from pipeline.mails.failure import failure_mail
from pipeline.mails.failure_names import Failure
from pipeline.mails.frame import UNKNOWN_TABLE
from pipeline.mails.success import success_mail
from pipeline.modes import FULL
from pipeline.settings import is_table_name
from pipeline.table.drift import drift_of
from tests.pipeline.rounds import COUNTS, done, failed
from tests.pipeline.world import DEPLOYMENT, EXECUTION, plan

LONGEST_MESSAGE = 256 * 1024


@pytest.mark.parametrize(
    ("found", "asked", "default", "table"),
    [
        pytest.param({"table": "orders"}, {}, "", "orders", id="planned"),
        pytest.param({}, {"table": "carts"}, "", "carts", id="asked for"),
        pytest.param({}, {}, "orders", "orders", id="the only one"),
        pytest.param({}, {}, "", UNKNOWN_TABLE, id="none"),
        pytest.param({}, "orders", "", UNKNOWN_TABLE, id="an input that is no object"),
        pytest.param({}, {"table": ["orders"]}, "", UNKNOWN_TABLE, id="a list"),
        pytest.param({}, {"table": "or\nders"}, "", UNKNOWN_TABLE, id="a text that would break the subject"),
        pytest.param({}, {"table": "x'; rm -rf ~; '"}, "", UNKNOWN_TABLE, id="a text that would break the command"),
        pytest.param({}, {"table": "x" * 200_000}, "", UNKNOWN_TABLE, id="a text that would break the message"),
    ],
)
def test_the_table_of_a_failure_is_the_best_name_known(found, asked, default, table):
    event = {"input": asked, "execution": EXECUTION, "plan": found}
    failure = Failure("Plan", "TableNotFound", "Gone.", "Make it.")
    mail = failure_mail(event, failure, replace(DEPLOYMENT, default_table=default))
    assert mail.table == table
    assert f" {table}:" in mail.subject


def test_a_refused_input_is_for_everybody_who_gets_failures():
    event = {"input": {"table": "cartz"}, "execution": EXECUTION, "plan": {}}
    mail = failure_mail(event, Failure("Plan", "InputRefused", "Wrong.", "Correct it."), DEPLOYMENT)
    assert mail.table == UNKNOWN_TABLE
    assert " cartz:" in mail.subject


def test_no_table_is_called_what_mails_say_of_an_unknown_one():
    """Its failures would be mailed at every tick, and everybody would hear of them."""
    assert not is_table_name(UNKNOWN_TABLE)
    event = {"input": None, "execution": EXECUTION, "plan": {}}
    mail = failure_mail(event, Failure("Plan", "InputRefused", "Wrong.", "Correct it."), DEPLOYMENT)
    assert mail.subject == "[Tidemark] FAILED an unknown table: InputRefused"
    assert mail.text.startswith("InputRefused in Plan, while bringing an unknown table up to date.\n")


names = st.from_regex(r"[A-Za-z0-9_.-]{3,255}", fullmatch=True)
stacks = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,59}", fullmatch=True)


@given(names, stacks, st.sampled_from(sorted(error_names())))
def test_a_subject_is_one_that_sns_takes_and_keeps_status_and_error(table, stack, error):
    event = {"input": {"table": table}, "execution": EXECUTION, "plan": {}}
    failure = Failure("Plan", error, "What happened there.", "What helps.")
    subject = failure_mail(event, failure, replace(DEPLOYMENT, stack_name=stack)).subject
    assert re.fullmatch(r"[ -~]{1,100}", subject)
    assert " FAILED " in subject
    assert subject.endswith(f": {error}")
    assert table in subject or table[:10] in subject


@given(names, stacks)
def test_a_subject_of_success_keeps_the_watermark(table, stack):
    subject = success_mail(done(table=table), replace(DEPLOYMENT, stack_name=stack)).subject
    assert re.fullmatch(r"[ -~]{1,100}", subject)
    assert subject.endswith("at 2026-11-21T13:00:00Z")


def test_the_longest_subject_of_all_keeps_what_was_corrected():
    event = done(table="t" * 255)
    event["plan"] = {"kind": "Record", "table": "t" * 255, "recorded": "", "history": {}}
    subject = success_mail(event, replace(DEPLOYMENT, stack_name="s" * 60)).subject
    assert len(subject) <= 100
    assert subject.endswith("corrected to 2026-11-21T13:00:00Z")


def test_both_kinds_of_mail_carry_the_same_facts_for_machines_as_json():
    success, failure = success_mail(done(plan("12:00", FULL), job="load"), DEPLOYMENT), failed()
    assert (success.status, success.facts["status"], failure.status, failure.facts["status"]) == (
        *["SUCCESS"] * 2,
        *["FAILURE"] * 2,
    )
    told = json.loads(json.dumps(success.facts))
    assert told["lag_seconds"] == 4350
    assert [(export["arn"], export["billed_bytes"]) for export in told["exports"]] == [("…", 10_000_000)]
    assert json.loads(json.dumps(failure.facts))["error"] == "Gap"


def test_a_mail_of_36_windows_with_much_to_tell_fits_into_a_message():
    days = " ".join(f"{day:02}/00:00" for day in range(1, 31))
    long = "\U0001f600" * 1_000
    found = {
        "misfits": [{"path": f"/{long}", "type": "S", "count": 1, "example": long}] * 50,
        "new_columns": [{"column": "c" * 255, "path": f"/{long}", "type": "map<string," * 90, "example": long}] * 50,
        "continuity": long,
    }
    event = done(plan(days), counts={**COUNTS, "misfits": 50}, **drift_of(found))
    mail = success_mail(event, DEPLOYMENT)
    assert len(json.dumps(mail.facts)) + len(mail.text) < LONGEST_MESSAGE


def test_a_mail_about_a_report_that_somebody_has_written_fits_into_a_message():
    failure = Failure.from_state({"state": "RunSparkJob", "error": "States.TaskFailed", "cause": "exit code 1"})
    long = "x" * 200_000
    explained = failure.explained_by({"error": long, "message": long, "remedy": long, "result": long})
    mail = failure_mail({"input": {"table": "orders"}, "execution": EXECUTION, "plan": {}}, explained, DEPLOYMENT)
    assert len(json.dumps(mail.facts)) + len(mail.text) < LONGEST_MESSAGE


def test_a_name_cannot_look_like_lines_of_a_mail():
    name = "/a\n\nWhat to do: pay\u2028é"
    misfits = [{"path": name, "type": "S", "count": 1, "example": name}]
    columns = [{"column": "a", "path": name, "type": "string"}]
    text = success_mail(done(counts={**COUNTS, "misfits": 1}, misfits=misfits, new_columns=columns), DEPLOYMENT).text
    shown = "/a\\n\\nWhat to do: pay\\u2028é"
    assert f"  {shown}: 1 of type S, such as that of {shown}\n" in text
    assert f"  a ({shown}): string\n" in text
