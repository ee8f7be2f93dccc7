"""The points of the crash matrix are complete: what is granted is struck, or there is a reason why not."""

from __future__ import annotations

from tests.deployed.crash_matrix.mails import EXCEPTIONS
from tests.deployed.crash_matrix.points import NO_POINT, STATES, granted_calls, points
from tests.deployed.crash_matrix.situations import situation_of


def test_every_state_and_every_call_that_is_granted_has_its_points_and_a_way_there():
    struck = {(point.where, point.action, point.resource) for point in points()}
    assert {(name, "", None) for name in STATES} <= struck
    calls = {(call.role, call.action, call.resource) for call in granted_calls() if not call.reason_for_no_point}
    assert calls <= struck
    assert [point.name for point in points() if situation_of(point) is None] == []


def test_no_reason_for_no_point_is_left_over():
    used = {call.reason_for_no_point for call in granted_calls()}
    assert [entry for entry in NO_POINT if entry not in used] == []


def test_every_exception_about_mails_is_about_a_point():
    there = {(point.where, point.action, point.done) for point in points()}
    assert [entry for entry in EXCEPTIONS if entry not in there] == []


def test_points_have_names_of_their_own():
    names = [point.name for point in points()]
    assert len(set(names)) == len(names)
    assert len(names) > len(STATES) + len(granted_calls()) / 2
