"""The demo: the main job from an empty machine to a compared table, on the local AWS, with nothing faked above it.

Deploys the real stack, writes a workload through DynamoDB's ordinary API, lets the schedule fire while the clock moves
on by hours, tells every run's story, shows the mails and some rows, lets the product verify its table, and compares
source and table item by item with a reader that shares no code with it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Any

from local import reader, story
from local.control import LocalAws
from local.deployed import Deployed, deploy
from local.failed import Failed
from local.workload import KEY, Shop, create_table

TABLE = "orders"
SETTINGS: dict[str, Any] = {
    "tables": [
        {
            "name": TABLE,
            "window_minutes": 60,
            "tick_minutes": 15,
            "mail": {"success": ["data-team@example.com"], "failure": ["on-call@example.com"]},
        }
    ]
}
_HOUR = 3600
_MOST_DIFFERENCES = 20
_ROWS_SHOWN = 3
#: Exports take minutes on AWS; here a second, and the state machine's waits shrink to match.
_KNOBS: dict[str, Any] = {"export_seconds": 1.0, "wait_scale": 0.02, "schedules_fire_by_themselves": False}

Tell = Callable[[str], None]


def demo(home: Path, items: int, *, keep: bool, tell: Tell) -> int:
    """Run the demo in `home`, `items` orders in the first full export. Returns 0 if source and table are equal, else 1."""
    began = time.monotonic()
    with step(tell, "Starting the local AWS"):
        aws = LocalAws.start(home)
    try:
        aws.set_knobs(**_KNOBS)
        deployed = _deploy(aws, home, tell)
        shop = Shop(aws.client("dynamodb"), TABLE)
        with step(tell, f"Writing {items} orders"):
            shop.open_orders(items)
        _run(deployed, tell, hours=1)
        _a_day(shop, deployed, items, tell)
        _show_mails(aws, tell)
        _verify(deployed, tell)
        different = _compare(deployed, tell)
        tell(f"\nThe whole demo took {time.monotonic() - began:.0f} s.")
        if keep:
            _wait_for_enter(deployed, tell)
        return 1 if different else 0
    finally:
        aws.stop()


def _deploy(aws: LocalAws, home: Path, tell: Tell) -> Deployed:
    create_table(aws.client("dynamodb"), TABLE)
    with step(tell, "Deploying the stack (cdk bootstrap, cdk deploy)"):
        return deploy(aws, SETTINGS, home / "deployment")


def _a_day(shop: Shop, deployed: Deployed, items: int, tell: Tell) -> None:
    """Changes over several hours, the schedule firing in between, once after a pause of many hours."""
    with step(tell, "The shop works for three hours: orders come, change and go"):
        for _ in range(3):
            shop.open_orders(items // 20)
            shop.change_orders(items // 10)
            shop.delete_orders(items // 40)
            deployed.aws.advance(_HOUR)
    _run(deployed, tell, hours=0.5)
    with step(tell, "Nobody looks for thirty hours; new kinds of orders arrive"):
        for _ in range(3):
            shop.open_orders(items // 20, late=True)
            shop.open_and_delete(5)
            shop.change_orders(items // 20)
            deployed.aws.advance(10 * _HOUR)
    _run(deployed, tell, hours=1.5)


def _run(deployed: Deployed, tell: Tell, hours: float) -> None:
    """Move the clock on, let the schedule fire, and tell the story of the execution that it starts."""
    now = deployed.aws.advance(hours * _HOUR)
    tell(f"\nIt is {now:%A, %H:%M}. The schedule fires.")
    known = set(deployed.executions())
    deployed.aws.tick()
    started = [execution for execution in deployed.executions() if execution not in known]
    if not started:
        raise Failed(f"The schedule fired and started no execution; see {deployed.aws.home / 'logs'}.")
    _follow(deployed, started[0], tell)


def _verify(deployed: Deployed, tell: Tell) -> None:
    """Let the product compare source and table by itself, as a person would ask it to."""
    tell('\nA person asks for a verification: {"table": "' + TABLE + '", "mode": "verify"}')
    _follow(deployed, deployed.start(table=TABLE, mode="verify"), tell)


def _follow(deployed: Deployed, execution: str, tell: Tell) -> None:
    """Tell the story of an execution until it ends. Raises Failed if it does not end well."""
    told, status = 0, "RUNNING"
    with Progress(tell) as waiting_for:
        while status == "RUNNING":
            # Before its events: those of one that has ended are all there then.
            status = deployed.describe(execution)["status"]
            events = list(deployed.history(execution))
            for sentence in list(story.sentences(events))[told:]:
                waiting_for.line(f"  {sentence}")
                told += 1
            if status == "RUNNING":
                entered = [e["stateEnteredEventDetails"] for e in events if "stateEnteredEventDetails" in e]
                waiting_for.step(entered[-1]["name"] if entered else "")
                time.sleep(0.3)
    if status != "SUCCEEDED":
        raise Failed(f"The run ended as {status}; its mail is in {deployed.aws.home / 'outbox'}.")


def _show_mails(aws: LocalAws, tell: Tell) -> None:
    mails = aws.outbox()
    tell(f"\n{len(mails)} mails were sent; the last about records:\n")
    last = next(mail for mail in reversed(mails) if "records" in mail["Subject"])
    for name in ("To", "Subject"):
        tell(f"  {name}: {last[name]}")
    tell("")
    for line in last.get_content().splitlines():
        tell(f"  {line}")


def _compare(deployed: Deployed, tell: Tell) -> bool:
    """Compare every item with its row through an independent reader; returns whether anything differs."""
    with step(tell, "\nReading the table back with PyIceberg, the source with Scan"):
        items = reader.scan_source(deployed.aws, TABLE)
        table = reader.read_through_glue(deployed.aws, "tidemark", TABLE)
        found = reader.compare(items, table, KEY)
    tell(f"\nA few rows of tidemark.{TABLE}:")
    for row in reader.rows(table)[:_ROWS_SHOWN]:
        tell("  " + ", ".join(f"{name}={value!r}" for name, value in row.items() if value is not None)[:400])
    tell(f"\nSource: {len(items)} items. Differences: {len(found)}.")
    for difference in found[:_MOST_DIFFERENCES]:
        tell(f"  {difference}")
    return bool(found)


def _wait_for_enter(deployed: Deployed, tell: Tell) -> None:
    """Leave everything running until the person is done with it."""
    settings = sorted(deployed.aws.settings_for_shell.items())
    exports = "\n".join(f"  export {name}={quote(value)}" for name, value in settings)
    tell(
        f"\nThe local AWS goes on running. In another shell:\n\n{exports}\n\n"
        f"  aws stepfunctions start-execution --state-machine-arn {deployed.state_machine} \\\n"
        f'    --input \'{{"table":"{TABLE}"}}\'\n'
        f"  aws dynamodb scan --table-name {TABLE} --max-items 3\n"
        f"  curl -X POST $AWS_ENDPOINT_URL/_local/clock -d '{{\"advance\": 3600}}'   # an hour later\n"
        f"  curl -X POST $AWS_ENDPOINT_URL/_local/tick -d '{{}}'                     # let the schedule fire\n"
        "\nPress Enter to stop it."
    )
    sys.stdin.readline()


@contextmanager
def step(tell: Tell, what: str) -> Iterator[None]:
    """Say what begins, and how long it took."""
    began = time.monotonic()
    tell(f"{what} …")
    yield
    tell(f"  done in {time.monotonic() - began:.1f} s")


class Progress:
    """A line that says what is being waited for and for how long, rewritten in place on a terminal."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._state, self._since, self._shown = "", time.monotonic(), 0.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._wipe()

    def step(self, state: str) -> None:
        """Show the state being waited for; on something that is not a terminal, once every ten seconds."""
        if state != self._state:
            self._state, self._since, self._shown = state, time.monotonic(), 0.0
        waited = time.monotonic() - self._since
        if sys.stdout.isatty():
            sys.stdout.write(f"\r\033[K  … {state} ({waited:.0f} s)")
            sys.stdout.flush()
        elif waited - self._shown >= 10:
            self._shown = waited
            self._tell(f"  … {state} ({waited:.0f} s)")

    def line(self, text: str) -> None:
        """Tell one finished thing above the progress line."""
        self._wipe()
        self._tell(text)

    def _wipe(self) -> None:
        if sys.stdout.isatty():
            sys.stdout.write("\r\033[K")
