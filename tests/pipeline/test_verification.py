"""What a verification says: every item and row counted, differences named, values kept for the report."""

from __future__ import annotations

import pytest

from pipeline.errors import VerificationFailed
from pipeline.mails.failure import failure_mail
from pipeline.mails.failure_names import Failure
from pipeline.mails.success import success_mail
from pipeline.table.verification import accounted, difference_count, named, told
from tests.pipeline.rounds import done
from tests.pipeline.world import DEPLOYMENT, EXECUTION, plan

EQUAL = {"items": 9, "rows": 9, "equal": 9, "only_in_source": 0, "only_in_table": 0, "different": 0, "surplus": 0}
UNEQUAL = {"items": 9, "rows": 9, "equal": 4, "only_in_source": 1, "only_in_table": 1, "different": 4, "surplus": 1}


@pytest.mark.parametrize(
    ("counts", "count", "words"),
    [
        ({}, 0, "0 differences"),
        (EQUAL, 0, "0 differences"),
        ({**EQUAL, "different": 1}, 1, "1 difference"),
        (UNEQUAL, 7, "7 differences"),
    ],
)
def test_differences_are_counted_in_words(counts, count, words):
    assert (difference_count(counts), told(counts)) == (count, words)


def test_items_and_rows_are_accounted_for_in_one_sentence():
    assert accounted(EQUAL) == (
        "Compared 9 items with 9 rows: 9 equal, 0 only in the source, 0 only in the table, 0 different."
    )
    assert accounted(UNEQUAL).endswith("4 different, 1 row beyond the first of a key, compared with its item as well.")


def test_differences_are_named_without_their_values():
    shown = [
        {"key": '{"pk":"a"}', "found": "different", "values": [{"path": "/total", "source": "1", "table": "2"}] * 2},
        {"key": '{"pk":"b"}', "found": "only_in_source", "values": []},
    ]
    assert named(shown) == ['{"pk":"a"} different: /total, /total', '{"pk":"b"} only in source']
    assert len(named(shown * 10)) == 5
    lines = {"key": '{"pk":"\u2028"}', "found": "different", "values": [{"path": "/a\nb"}]}
    assert named([lines]) == ['{"pk":"\\u2028"} different: /a\\nb']
    assert len(named([{"key": "x" * 9999, "found": "different", "values": []}])[0]) < 250


def test_what_is_left_out_of_a_difference_is_said_to_be():
    """Half a key looks like a key, and finds no item; and five paths look as if all else were equal."""
    several = [{"path": f"/{at}", "source": "1", "table": "2"} for at in range(6)]
    found = [{"key": "x" * 201, "found": "only_in_table", "values": several}]
    found += [{"key": "y" * 200, "found": "different", "values": several[:count]} for count in (5, 6)]
    assert named(found) == [
        f"{'x' * 199}… only in table",
        f"{'y' * 200} different: /0, /1, /2, /3, /4",
        f"{'y' * 200} different: /0, /1, /2, /3, /4, and more",
    ]


def test_the_mail_of_a_verification_says_that_source_and_table_are_equal():
    mail = success_mail(done(plan("12:00", "verify", attempt=7), "verify", EQUAL), DEPLOYMENT)
    assert mail.subject == "[Tidemark] OK orders: verified, 0 differences, at 2026-11-21T12:00:00Z"
    assert "Verified orders against database.orders: source and table are equal." in mail.text
    assert accounted(EQUAL) in mail.text
    assert "From the full export at 2026-11-21T12:00:00Z." in mail.text


def failed(error: str, **report: str):
    raw = {"state": "RunSparkJob", "error": "States.TaskFailed", "cause": "{}"}
    failure = Failure.from_state(raw).explained_by({"error": error, "message": "m", "remedy": "r", **report})
    event = {"input": {"table": "orders", "mode": "verify"}, "execution": EXECUTION}
    plan = {"kind": "Export", "table": "orders", "mode": "verify", "job_id": "verify-1"}
    return failure_mail({**event, "plan": plan}, failure, DEPLOYMENT)


def test_the_mail_of_differences_counts_them_in_its_subject_and_names_the_remedy():
    mail = failed("VerificationFailed", result="7 differences")
    assert mail.subject == "[Tidemark] FAILED orders: VerificationFailed, 7 differences"
    assert mail.text.startswith("VerificationFailed in RunSparkJob, while verifying orders.\n")
    assert """--input '{"table":"orders","mode":"full"}'""" in mail.facts["command"]
    assert "This failure has left the table and its watermark as they were." in mail.text


def test_a_verification_that_could_not_be_done_does_not_promise_to_be_done_again():
    text = failed("ChecksumMismatch").text
    assert "The schedule goes on. The verification is not repeated; ask again if you still want it." in text
    assert "tries again by itself" not in text


def test_the_error_carries_what_the_report_shows():
    assert VerificationFailed("m", findings={"counts": UNEQUAL}).findings == {"counts": UNEQUAL}
    assert VerificationFailed("m").remedy == VerificationFailed.default_remedy
