"""The digest of a day, as a person reads it."""

from __future__ import annotations

from dataclasses import replace

from pipeline.mails.incidents import News
from pipeline.mails.told import Told
from pipeline.table.drift import drift_of
from tests.pipeline.test_notices import DIGEST, LINK, written
from tests.pipeline.world import at


def test_a_digest_is_the_sum_of_a_day():
    (mail,) = written(News(Told(), digest=DIGEST))
    assert (mail.status, mail.mail_list) == ("SUCCESS", "success")
    assert mail.subject == "[Tidemark] OK orders: 2026-11-20, 24 runs, 15 records"
    assert mail.text == (
        "orders on 2026-11-20 (UTC), by what the table's own commits say.\n"
        "\n"
        "Runs with work: 24 (1 backfill, 23 merges).\n"
        "Read 15 records = 10 inserted + 0 updated + 5 deleted + 0 already there + 0 deletes of unknown keys.\n"
        "What each run has found: database.tidemark_runs, source = 'orders'.\n"
        "\n"
        "The table shows every change before 2026-11-21T12:00:00Z.\n"
        "History would be lost in 34 days 23 h (0 % of the recovery period of 35 days used).\n"
        "\n" + LINK
    )


def test_a_digest_tells_that_nothing_is_left_of_what_was_before_the_table_was_made_anew():
    (mail,) = written(News(Told(), digest=replace(DIGEST, anew=at("20/13:00"))))
    assert "made anew by the full export at 2026-11-20T13:00:00Z: what was done before it" in mail.text


def test_a_digest_says_that_a_part_is_missing():
    (mail,) = written(News(Told(), digest=replace(DIGEST, left_from=at("20/13:00"))))
    assert "Of before 2026-11-20T13:00:00Z commits have expired: what had come since the" in mail.text


def test_a_digest_tells_what_the_reports_of_the_day_have_found():
    found = drift_of(
        {
            "misfits": [{"path": "/price", "type": "S", "count": 2, "example": '{"id":"a"}'}],
            "new_columns": [{"column": "size", "path": "/size", "type": "bigint"}],
        }
    )
    counted = {**DIGEST.counts, "misfits": 2}
    (mail,) = written(News(Told(), digest=replace(DIGEST, counts=counted, found=found)))
    assert "_misfits:\n  /price: 2 of type S, such as that of " in mail.text
    assert "New columns:\n  size: bigint\nWhat each run has found: " in mail.text
    assert mail.facts["digest"]["found"] == found
