"""The story of a run: a sentence for each state that has something to tell."""

from __future__ import annotations

import json
from typing import Any

import pytest

from local.story import sentences


def left(state: str, **payload: Any) -> dict[str, Any]:
    return {"stateExitedEventDetails": {"name": state, "output": json.dumps({"Payload": payload})}}


def answered(state: str, **payload: Any) -> list[dict[str, Any]]:
    """What a function has answered to a state that hands on the plan."""
    answer = {"taskSucceededEventDetails": {"output": json.dumps({"Payload": payload})}}
    return [answer, {"stateExitedEventDetails": {"name": state, "output": json.dumps({"kind": "Idle"})}}]


WINDOWS = {"kind": "Export", "start": "10:00", "end": "12:00", "exports": [{"from": "10:00"}, {"from": "11:00"}]}
FULL = {"kind": "Export", "mode": "full", "start": "12:00", "end": "12:00", "exports": [{"at": "12:00"}]}
VERIFIED = {"items": 2, "rows": 2, "equal": 2}


@pytest.mark.parametrize(
    ("event", "told"),
    [
        pytest.param(
            answered("NotifySuccess", subjects=["OK orders", "CLEARED"]),
            ["Mail sent: OK orders", "Mail sent: CLEARED"],
            id="mails",
        ),
        pytest.param(
            left("CheckExports", ready=True, exports=[{"items": 1}, {"items": 0}]),
            ["Exported: 1 record."],
            id="exports",
        ),
        pytest.param(answered("NotifySuccess", subjects=[]), [], id="a success that nobody wants to hear of"),
        pytest.param(answered("NotifyNews", subjects=["the day"]), ["Mail sent: the day"], id="news"),
        pytest.param(
            left("NotifyFailure", error="Gap"),
            ["Failed: Gap; told by mail, unless that has been told before."],
            id="failure",
        ),
        pytest.param(
            left("Plan", **FULL | {"mode": "verify"}),
            ["To be verified: the table at 12:00 against a full export at that instant."],
            id="a verification",
        ),
        pytest.param(
            left("Plan", kind="Export", mode="update", start="12:00", exports=[{"at": "12:00"}], end="12:00"),
            ["There is no table yet: a full export at 12:00 is to be loaded."],
            id="a first load",
        ),
        pytest.param(
            left("Plan", **WINDOWS, mode="update"),
            ["Since 10:00, 2 windows have closed, up to 12:00: to be exported and merged in one commit."],
            id="an update",
        ),
        pytest.param(
            left("Plan", **WINDOWS, mode="backfill"),
            ["Asked for: history from 10:00 to 12:00 is to be exported again and merged in one commit."],
            id="a backfill",
        ),
        pytest.param(
            left("Plan", **FULL),
            ["A new full export at 12:00 is to become the table's whole content."],
            id="a full export",
        ),
        pytest.param(
            left("Plan", **FULL, because="the watermark is too old"),
            [
                "History is lost: the watermark is too old.",
                "A new full export at 12:00 is to become the table's whole content.",
            ],
            id="a rebuild by the schedule itself",
        ),
        pytest.param(
            left("Plan", **FULL | {"kind": "DryRun"}, planned="Export", estimated_usd=0.25),
            [
                "A dry run, so nothing is done. This is what a run would do now:",
                "A new full export at 12:00 is to become the table's whole content.",
                "Estimated cost: 0.25 US dollars.",
            ],
            id="a dry run",
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
            left(
                "RecordWatermark",
                job="maintain",
                counts={"files_rewritten": 9, "files_written": 2, "snapshots_expired": 0},
            ),
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
    assert list(sentences(event if isinstance(event, list) else [event])) == told
