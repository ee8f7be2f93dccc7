"""The story of a run: a sentence for each state that has something to tell."""

from __future__ import annotations

import json
from typing import Any

import pytest

from local.story import sentences


def left(state: str, **payload: Any) -> dict[str, Any]:
    return {"stateExitedEventDetails": {"name": state, "output": json.dumps({"Payload": payload})}}


VERIFIED = {"items": 2, "rows": 2, "equal": 2}


@pytest.mark.parametrize(
    ("event", "told"),
    [
        pytest.param(
            left("NotifySuccess", subjects=["OK orders", "CLEARED"]),
            ["Mail sent: OK orders", "Mail sent: CLEARED"],
            id="mails",
        ),
        pytest.param(left("NotifySuccess", subjects=[]), [], id="a success that nobody wants to hear of"),
        pytest.param(left("NotifyNews", subjects=["the day"]), ["Mail sent: the day"], id="news"),
        pytest.param(
            left("NotifyFailure", error="Gap"),
            ["Failed: Gap; told by mail, unless that has been told before."],
            id="failure",
        ),
        pytest.param(
            left("Plan", kind="Export", mode="verify", start="12:00", exports=[{"at": "12:00"}]),
            ["To be verified: the table at 12:00 against a full export at that instant."],
            id="a verification",
        ),
        pytest.param(
            left("RecordWatermark", job="verify", counts=VERIFIED),
            ["Compared 2 items with 2 rows: 2 equal, 0 only in the source, 0 only in the table, 0 different."],
            id="its result",
        ),
        pytest.param(
            left("Plan", kind="Maintain", mode="maintain", start="12:00", exports=[]),
            ["The table is at 12:00; its files are to be put in order."],
            id="maintenance",
        ),
        pytest.param(
            left("RecordWatermark", job="maintain", counts={"files_rewritten": 9, "files_written": 2}),
            [
                "Files written together: 9 became 2 (0.0 MB); 0 delete files went.",
                "Snapshots that expired: 0, with 0 files.",
                "Orphan files, of jobs that died: 0.",
            ],
            id="what it did",
        ),
    ],
)
def test_a_state_tells_what_it_did(event, told):
    assert list(sentences([event])) == told
