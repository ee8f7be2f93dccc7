"""The mails that a point may cost, as docs/operations.md specifies them: from the fault to the run that has healed it.

News is mailed first and recorded as told afterwards, so where the mail's own path is struck a mail may come twice, or
without its all-clear; nowhere else.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.deployed.crash_matrix.points import (
    FAILS,
    JOB,
    KILLED,
    NOT_ENTERED,
    NOT_RECORDED,
    REFUSED,
    REPLY_LOST,
    SCHEDULE,
    STOPPED,
    TOO_LATE,
    Point,
)
from tests.deployed.crash_matrix.situations import Situation


class Mails(NamedTuple):
    """How many of each kind came."""

    failed: int
    clear: int
    ok: int


_TWICE = "the mail was sent, and nobody knew: it is sent again"
_TOLD = "the run had told when it died"
_MAIL_LOST = "the run dies after its work and before its mail"
_NO_MAIL = "no mail can be sent, so nothing is told to be over"
#: Where a mail's own path is struck: (where, action, what is done) to how many more or fewer of which kind, and why.
EXCEPTIONS: dict[tuple[str, str, str], tuple[Mails, str]] = {
    ("NotifyNews", "sns:Publish", REPLY_LOST): (Mails(0, 1, 0), _TWICE),
    ("NotifyNews", "sns:Publish", KILLED): (Mails(0, 1, 0), _TWICE),
    ("NotifyNews", "sns:Publish", STOPPED): (Mails(0, 1, 0), _TWICE),
    ("NotifySuccess", "sns:Publish", REPLY_LOST): (Mails(0, 0, 1), _TWICE),
    ("NotifySuccess", "sns:Publish", KILLED): (Mails(0, 0, 1), _TWICE),
    ("NotifySuccess", "ssm:GetParameters", KILLED): (Mails(0, 0, 1), _TWICE),
    ("NotifySuccess", "ssm:PutParameter", KILLED): (Mails(0, 0, 1), _TWICE),
    ("NotifySuccess", "sns:Publish", REFUSED): (Mails(0, 0, -1), "no mail of a success can be sent"),
    ("NotifySuccess", "", NOT_ENTERED): (Mails(0, 0, -1), _MAIL_LOST),
    ("NotifySuccess", "", FAILS): (Mails(0, 0, -1), "a mail that cannot be sent fails no run"),
    ("NotifySuccess", "", TOO_LATE): (Mails(0, 0, 1), _TWICE),
    ("RecordWatermark", "", NOT_RECORDED): (Mails(0, 0, -1), _MAIL_LOST),
    ("RecordWatermark", "ssm:PutParameter", STOPPED): (Mails(0, 0, -1), _MAIL_LOST),
    ("NotifyFailure", "", NOT_RECORDED): (Mails(1, 1, 0), _TOLD),
    ("NotifyFailure", "", FAILS): (Mails(-1, -1, 0), _NO_MAIL),
    ("NotifyFailure", "sns:Publish", STOPPED): (
        Mails(1, 0, 0),
        "the run had told when it died, and had not recorded it",
    ),
    ("NotifyFailure", "ssm:PutParameter", STOPPED): (Mails(1, 1, 0), _TOLD),
    ("NotifyFailure", "ssm:PutParameter", REFUSED): (
        Mails(0, -1, 0),
        "what is not recorded as told is not told to be over",
    ),
    ("NotifyFailure", "ssm:GetParameters", REFUSED): (
        Mails(0, -1, 0),
        "what is not recorded as told is not told to be over",
    ),
    ("Failed", "", NOT_ENTERED): (Mails(1, 1, 0), _TOLD),
    ("NotifyFailure", "sns:Publish", REFUSED): (Mails(-1, -1, 0), _NO_MAIL),
    ("NotifyFailure", "sns:Publish", REPLY_LOST): (Mails(1, 0, 0), _TWICE),
    ("NotifyFailure", "sns:Publish", KILLED): (Mails(1, 0, 0), _TWICE),
}


def expected_end(point: Point, situation: Situation, /) -> str:
    """How the struck run must end."""
    if point.where == SCHEDULE:
        return "NOT STARTED" if point.done == REFUSED else "SUCCEEDED"
    if point.done in (STOPPED, NOT_ENTERED, NOT_RECORDED):
        return "ABORTED"
    if situation.fails or (point.where, point.action, point.done) in FAIL or (point.where, "", point.done) in FAIL:
        return "FAILED"
    is_passed_by = point.where in PASSED_BY or (point.where, point.action, point.nth) in LEFT_TO_THE_NEXT
    return "FAILED" if point.done in (REFUSED, FAILS) and not is_passed_by else "SUCCEEDED"


#: What cannot be survived by trying again: a job is never tried twice in one run.
FAIL = {(JOB, "", KILLED), ("RunSparkJob", "", TOO_LATE)}
#: What goes wrong there fails no run: the mails of a run that has not failed.
PASSED_BY = {"NotifyNews", "NotifySuccess"}
#: What the next one does, where this one cannot: what a job does after its commit and its report, and the removal of old claims.
LEFT_TO_THE_NEXT = {(JOB, "glue:UpdateTable", 2), ("Plan", "ssm:DeleteParameters", 1)}


def expected(point: Point, situation: Situation, status: str) -> Mails:
    """What must come, for how the struck run has ended."""
    told = status == "FAILED"
    usual = Mails(int(told), int(told or situation.incident), int(situation.works))
    more, _ = EXCEPTIONS.get((point.where, point.action, point.done), (Mails(0, 0, 0), ""))
    return Mails(*(sum(both) for both in zip(usual, more, strict=True)))
