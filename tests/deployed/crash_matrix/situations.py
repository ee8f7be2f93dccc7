"""How a run gets to a point: what is done before it, and what else must go wrong on the way.

Situations that need no Spark job are preferred: a point then costs two or three seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyiceberg.transforms import BucketTransform
from pyiceberg.types import StringType

from local.workload import Shop
from tests.deployed.crash_matrix.points import JOB, MACHINE, SCHEDULE, Point
from tests.deployed.world import World

#: What takes a job's place that dies.
DIES = "tests.deployed.crash_matrix.stand_in:die"
_DENIED = {"code": "AccessDeniedException", "status": 403, "times": 1000}
#: Plan cannot look at the table: the run fails before it has begun anything.
PLAN_FAILS = {"name": "plan fails", "action": "glue:GetTable", **_DENIED}


@dataclass(frozen=True)
class Situation:
    """How the struck run is led to its point.

    `works`: a window has closed, or something is to be recorded, so that a mail tells of it once. `incident`: a failure has
    been told before. `fails`: the run fails whatever the point does. `beside`: faults that lead it there.
    """

    name: str
    prepare: Callable[[World], None]
    works: bool = False
    incident: bool = False
    fails: bool = False
    beside: tuple[dict[str, Any], ...] = ()
    from_nothing: bool = False


class LonelyOrders(Shop):
    """A shop whose orders lie alone in their data files, so that a stand-in for the job can delete them.

    Its table has as many buckets as an order needs to have one for itself.
    """

    BUCKETS = 4096

    def delete_one(self) -> None:
        """Delete an order that lies alone."""
        shared = Counter(map(self._bucket, self._keys))
        key = next(key for key in self._keys if shared[self._bucket(key)] == 1)
        self._keys.remove(key)
        self._dynamodb.delete_item(TableName=self._table, Key=key)

    def _bucket(self, key: dict[str, Any]) -> int | None:
        return BucketTransform(self.BUCKETS).transform(StringType())(key["customer"]["S"])


def _nothing(_: World) -> None:
    pass


def work(world: World) -> None:
    """A window with changes has closed: of every kind where Spark merges, one deletion where a stand-in does."""
    if isinstance(world.shop, LonelyOrders):
        world.shop.delete_one()
    else:
        world.shop.open_orders(4, late=True)
        world.shop.change_orders(2)
        world.shop.delete_orders(1)
    close_the_day(world)


def close_the_day(world: World) -> None:
    """Move on to six minutes after the next midnight: the windows of these tables are days."""
    now = world.aws.now()
    world.pass_minutes(24 * 60 - (now.hour * 60 + now.minute) + 6)


def _half_done(world: World) -> None:
    """A run has died while its exports ran."""
    work(world)
    world.aws.set_faults({"name": "dies", "action": "state:CheckExports", "kind": "stopped"})
    assert world.tick(0)["status"] == "ABORTED"
    world.aws.set_faults()


def _job_died(world: World) -> None:
    """A run's job has died without a word, and the run was told of as failed."""
    work(world)
    merges = world.aws.set_knobs()["job_stand_in"]
    world.aws.set_knobs(job_stand_in=DIES)
    assert world.tick(0)["status"] == "FAILED"
    world.aws.set_knobs(job_stand_in=merges)


def _failed(world: World) -> None:
    """A run has failed, and it was told."""
    world.aws.set_faults(PLAN_FAILS)
    assert world.tick()["status"] == "FAILED"
    world.aws.set_faults()


def _parameter_wrong(world: World) -> None:
    world.write("last-export-time", "2020-01-01T00:00:00Z")


def _failed_and_parameter_wrong(world: World) -> None:
    _failed(world)
    _parameter_wrong(world)


def _orders(world: World) -> None:
    world.shop.open_orders(20)
    close_the_day(world)


IDLE = Situation("nothing has closed", _nothing)
UPDATE = Situation("a window has closed", work, works=True)
JOB_DIED = Situation("the job of a run has died", _job_died, works=True, incident=True)
TAKEOVER = Situation("a run died while exports ran", _half_done, works=True)
NEWS = Situation("an incident is over", _failed, incident=True)
RECORD = Situation("last-export-time is wrong", _parameter_wrong, works=True)
RECORD_NEWS = Situation(
    "an incident is over, last-export-time is wrong", _failed_and_parameter_wrong, True, incident=True
)
FAILING = Situation("the run fails in Plan", _nothing, fails=True, beside=(PLAN_FAILS,))
JOB_FAILS = Situation(
    "the job is refused",
    work,
    works=True,
    fails=True,
    beside=({"name": "job refused", "action": "state:RunSparkJob", "code": "EMRServerless.ValidationException"},),
)
EXPORT_REFUSED = Situation(
    "the export's time is refused",
    work,
    works=True,
    fails=True,
    beside=(
        {
            "name": "invalid time",
            "action": "dynamodb:ExportTableToPointInTime",
            "code": "InvalidExportTimeException",
            "status": 400,
            "times": 1000,
        },
    ),
)
BOOTSTRAP = Situation("there is no table yet", _orders, works=True, from_nothing=True)

#: By what is struck, from the particular to the general: (role or state, action, resource); "" is any.
_LEADS_TO = {
    ("Plan", "ssm:PutParameter", ""): UPDATE,
    ("Plan", "ssm:DeleteParameters", ""): UPDATE,
    ("Plan", "emr-serverless:ListJobRuns", ""): TAKEOVER,
    ("Plan", "glue:GetDatabase", ""): BOOTSTRAP,
    ("StartExports", "dynamodb:DescribeTable", ""): EXPORT_REFUSED,
    ("StartExports", "emr-serverless:ListJobRuns", ""): JOB_DIED,
    ("StartExports", "emr-serverless:GetJobRun", ""): JOB_DIED,
    ("StartExports", "dynamodb:DescribeContinuousBackups", ""): EXPORT_REFUSED,
    ("RecordWatermark", "ssm:PutParameter", ""): UPDATE,
    ("NotifySuccess", "ssm:PutParameter", ""): RECORD_NEWS,
    ("NotifyFailure", "s3:GetObject", ""): JOB_FAILS,
    (JOB, "glue:CreateTable", ""): BOOTSTRAP,
    (JOB, "glue:GetDatabase", ""): BOOTSTRAP,
    ("Idle", "", ""): IDLE,
    ("Failed", "", ""): FAILING,
}
_OF_FUNCTIONS = {
    "Plan": IDLE,
    "NotifyNews": NEWS,
    "StartExports": UPDATE,
    "CheckExports": UPDATE,
    "PrepareJob": UPDATE,
    "RecordWatermark": RECORD,
    "NotifySuccess": RECORD,
    "NotifyFailure": FAILING,
    JOB: UPDATE,
    SCHEDULE: UPDATE,
    MACHINE: UPDATE,
}
#: States that are met on the way of every update.
_ON_THE_WAY = (
    *("Plan", "ChooseAction", "StartExports", "WaitForExports", "CheckExports", "ChooseReadiness", "PrepareJob"),
    *("RunSparkJob", "RecordWatermark", "NotifySuccess"),
)


def situation_of(point: Point) -> Situation | None:
    """How a run gets to a point; None for one that nobody has thought of yet."""
    named = _LEADS_TO.get((point.where, point.action, ""))
    if named or (point.is_state and point.where in _ON_THE_WAY):
        return named or UPDATE
    return _OF_FUNCTIONS.get(point.where)
