"""The walk: a table lives on from point to point; at each, one run is struck, and the schedule's next one must have healed it.

After each point: the run after the struck one has succeeded and has nothing left to do, source and table are equal, the
windows touch and none is there twice, nothing was exported twice, `last-export-time` is the table's own, and the mails are
those specified. A fault that has struck nothing proves nothing, and fails the point.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tests.deployed.crash_matrix.mails import Mails, expected, expected_end
from tests.deployed.crash_matrix.points import FAILS, JOB, REFUSED, SCHEDULE, Point, fault
from tests.deployed.crash_matrix.situations import LonelyOrders, Situation, close_the_day, situation_of, work
from tests.deployed.roles import role_names
from tests.deployed.world import World

#: Nothing is waited for: neither exports, nor between tries, nor for timeouts.
KNOBS = {"wait_scale": 0.0, "export_seconds": 0.0, "schedules_fire_by_themselves": False}
STAND_IN = "tests.deployed.crash_matrix.stand_in:merge"
_LATE = 22
_ORDERS = 30


@dataclass(frozen=True)
class Outcome:
    """What came of one point: how the struck run ended, how it was healed, after how much virtual and real time."""

    point: Point
    situation: Situation
    ended: str
    healed: str
    minutes: float
    seconds: float
    mails: Mails


class Walk:
    """One table on one deployment, and everything that is done to it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._roles = list(role_names(world.deployed))
        self._only_this_table()
        # Windows of a day, so that ticks pass without work in between.
        world.set(window_minutes=1440, buckets=self._buckets)
        world.aws.set_knobs(**KNOBS)
        world.aws.snapshot("nothing yet")
        self._nothing_yet = world.shop.progress
        world.shop.open_orders(_ORDERS)
        close_the_day(world)
        self._must_succeed()
        self._get_going()

    #: One bucket: a merge writes few files.
    _buckets = 1

    def _only_this_table(self) -> None:
        """Let no schedule fire but the table's own: another table's run would meet the faults first."""
        scheduler = self._world.aws.client("scheduler")
        for one in scheduler.list_schedules()["Schedules"]:
            found = scheduler.get_schedule(Name=one["Name"], GroupName=one["GroupName"])
            if json.loads(found["Target"]["Input"])["table"] != self._world.table:
                scheduler.delete_schedule(Name=one["Name"], GroupName=one["GroupName"])

    def _get_going(self) -> None:
        """Merge twice: from then on each run finds an old claim to remove."""
        for _ in range(2):
            work(self._world)
            self._must_succeed()

    def _must_succeed(self) -> None:
        ended = self._world.tick(0)
        assert ended["status"] == "SUCCEEDED", ended

    def at(self, point: Point) -> Outcome:
        """Strike a run at a point and let the next one heal it. Raises AssertionError where anything is not as it must be."""
        situation = situation_of(point)
        assert situation is not None, f"nobody has said how a run gets to {point.name}"
        world, started = self._world, time.monotonic()
        if situation.from_nothing:
            world.aws.restore("nothing yet")
            world.shop.progress = self._nothing_yet
        elif world.aws.now().hour >= _LATE:
            work(world)
            self._must_succeed()
        situation.prepare(world)
        exports, mails = set(world.exports()), len(world.aws.outbox())
        struck = self._struck(point, situation)
        ended = struck["status"]
        assert ended == expected_end(point, situation), (ended, struck.get("error"), struck.get("cause"))
        began = world.aws.now()
        # A tick whose reply was lost comes again along with the next one.
        healed, *others = sorted(world.fire(), key=lambda run: run["startDate"])
        assert [run["status"] for run in others] == ["SUCCEEDED"] * len(others)
        # Of a tick that came twice either may be the one that works.
        assert point.where == SCHEDULE or json.loads(healed["output"])["reason"] == "UpToDate", healed["output"]
        self._must_be_well(healed, exports)
        found = _kinds(world.aws.outbox()[mails:])
        assert found == expected(point, situation, ended), (found, ended, struck.get("error"))
        minutes = (world.aws.now() - began).total_seconds() / 60
        how = self._how(point, struck, healed)
        words = " ".join(filter(None, (ended, struck.get("error", ""))))
        return Outcome(point, situation, words, how, minutes, time.monotonic() - started, found)

    def _struck(self, point: Point, situation: Situation) -> dict[str, Any]:
        """The run that is struck; a tick that is not delivered is one that has not begun."""
        world = self._world
        role = next((name for name in self._roles if f"-{point.where}" in name), None)
        world.aws.set_faults(fault(point, role), *situation.beside)
        ended = world.fire()
        (done, *_) = world.aws.faults()
        world.aws.set_faults()
        assert done["fired"], f"{point.name} was not reached: {done['calls']} calls counted; {ended}"
        return ended[0] if ended else {"status": "NOT STARTED"}

    def _must_be_well(self, healed: Mapping[str, Any], exports: set[str]) -> None:
        world = self._world
        assert healed["status"] == "SUCCEEDED", (healed.get("error"), healed.get("cause"))
        assert world.differences() == []
        windows = world.windows()
        assert [(one, two) for one, two in pairwise(windows) if one[1] != two[0]] == [], windows
        merges = [s["tidemark.job-id"] for s in world.snapshots() if s.get("tidemark.job") == "merge"]
        assert len(merges) == len(set(merges)), "a window is there twice"
        assert world.watermark() == windows[-1][1]
        asked = Counter(self._stretch(arn) for arn in world.exports() if arn not in exports)
        assert [stretch for stretch, times in asked.items() if times > 1] == []

    def _stretch(self, arn: str) -> str:
        description = self._world.aws.client("dynamodb").describe_export(ExportArn=arn)["ExportDescription"]
        return str(description.get("IncrementalExportSpecification", description.get("ExportTime")))

    def _how(self, point: Point, struck: Mapping[str, Any], healed: Mapping[str, Any]) -> str:
        """In a few words, from the histories of both runs."""
        if struck["status"] == "SUCCEEDED" and point.done in (REFUSED, FAILS):
            return "the run goes on without it"
        if struck["status"] == "SUCCEEDED":
            tries = sum(
                "taskFailedEventDetails" in event for event in self._world.deployed.history(struck["executionArn"])
            )
            if tries == 1:
                return "in the same run, the state tried again"
            return f"in the same run, after {tries} failed tries" if tries else "in the same run, the call made again"
        plan = next(
            json.loads(left["output"])
            for event in self._world.deployed.history(healed["executionArn"])
            if (left := event.get("stateExitedEventDetails", {})).get("name") == "Plan"
        )
        if plan["kind"] == "Export":
            return (
                "by the next run, which finishes it" if plan["taken_over_from"] else "by the next run, which plans it"
            )
        return "by the next run, which records it" if plan["kind"] == "Record" else "nothing was left to do"


class WalkWithoutSpark(Walk):
    """The same where the struck call is not the job's: a stand-in merges, see `stand_in.py`."""

    _buckets = LonelyOrders.BUCKETS

    def __init__(self, world: World) -> None:
        world.shop = LonelyOrders(world.aws.client("dynamodb"), world.table)
        super().__init__(world)

    def _get_going(self) -> None:
        self._world.aws.set_knobs(job_stand_in=STAND_IN)
        super()._get_going()
        self._world.aws.snapshot("going")
        self._going = self._world.shop.progress
        self._left = _ORDERS // 2

    def at(self, point: Point) -> Outcome:
        self._left -= 1
        if not self._left:
            self._world.aws.restore("going")
            self._world.shop.progress = self._going
            self._left = _ORDERS // 2
        return super().at(point)


def walk_for(point: Point) -> type[Walk]:
    """Which walk a point is part of: with Spark where the job is struck, else with a stand-in."""
    situation = situation_of(point)
    by_spark = point.where in (JOB, "RunSparkJob") or (situation is not None and situation.from_nothing)
    return Walk if by_spark else WalkWithoutSpark


def _kinds(mails: list[Any]) -> Mails:
    said = Counter(mail["Subject"].strip().removeprefix("[Tidemark] ").split(" orders")[0] for mail in mails)
    assert set(said) <= {"FAILED", "ALL CLEAR", "OK"}, said
    return Mails(said["FAILED"], said["ALL CLEAR"], said["OK"])
