"""The crash matrix: at every state, and between every side effect and its record, the next run of the schedule heals.

Here are the points that are such; `make crash-matrix` walks the others too, and prints what came of each.
"""

from __future__ import annotations

from functools import cache

import pytest

from tests.deployed.crash_matrix.points import NOT_ENTERED, granted_calls, points
from tests.deployed.crash_matrix.walk import Walk, walk_for
from tests.deployed.roles import granted

pytestmark = [pytest.mark.local_aws, pytest.mark.spark, pytest.mark.deployed]

#: Who dies right before these has left nothing at all, or what it had left at another point: before the state ahead of them,
#: if nothing is made there, else right after what is made last.
_NOTHING_MORE = (
    *("Plan", "ChooseAction", "NotifyNews", "CheckExports", "ChooseReadiness", "PrepareJob"),
    *("NotifySuccess", "Idle", "Failed"),
)
#: They mail and record by the same steps (`pipeline.mails.steps`) as NotifyFailure, which is walked, and the simulation stops
#: their runs at each of them.
_BY_THE_SAME_STEPS = ("NotifyNews", "NotifySuccess")
#: Every other state that is not entered, and every other side effect that nobody has recorded; one walk after the other.
WALKED = sorted(
    (
        point
        for point in points()
        if (point.done == NOT_ENTERED and point.where not in _NOTHING_MORE)
        or (point.leaves_something and point.where not in _BY_THE_SAME_STEPS)
    ),
    key=lambda point: walk_for(point) is Walk,
)


@pytest.fixture(scope="module")
def outcome_at(make_world):
    """Go on with the walk that a point is part of, or begin it: also anew after a point that has not healed."""
    under_way = {}

    def outcome(point):
        kind = walk_for(point)
        walk = under_way.pop(kind, None) or kind(make_world())
        found = walk.at(point)
        under_way.clear()
        under_way[kind] = walk
        return found

    return outcome


@pytest.mark.parametrize("point", WALKED, ids=lambda point: point.name)
def test_the_next_run_of_the_schedule_heals_what_dies_at(outcome_at, point):
    assert outcome_at(point).ended.startswith(("ABORTED", "FAILED"))


def test_the_points_are_those_of_what_is_deployed(deployed):
    roles = {call.role for call in granted_calls()}

    @cache
    def of(name):
        return next(role for role in roles if f"-{role}" in name)

    assert {(of(role), action) for role, action, _ in granted(deployed)} == {
        (c.role, c.action) for c in granted_calls()
    }
