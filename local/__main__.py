"""``python -m local``: demo, replay, verify, maintain. The one module that talks to a person."""

from __future__ import annotations

import argparse
import io
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from local.failed import Failed
from local.paths import file_at, folder, folder_to_be, meant
from local.remedies import told
from local.surroundings import leave_other_modules
from pipeline.columns.declared.overrides import NO_OVERRIDES, Overrides
from pipeline.errors import PipelineError, SettingRefused
from pipeline.identity import KeyAttribute
from pipeline.setting_checks import read_json
from pipeline.settings import SNAPSHOT_DAYS, TableSettings
from pipeline.wording import on_one_line

if TYPE_CHECKING:
    from local.local_table import LocalTable

HOME = Path(".local")
_TABLE = re.compile(r"([A-Za-z0-9_-]{1,255})\.([A-Za-z0-9_-]{1,255})")  # each names a folder
SECRET_VARIABLE = "TIDEMARK_HASH_SECRET"  # noqa: S105 - the name of the variable


def main(arguments: list[str] | None = None) -> int:
    """Carry out one verb; returns the exit code: 0 done, 1 refused or different, 2 wrong usage."""
    asked = _parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal may have no such characters as a name does; what is done must not fail when it is told.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with nullcontext() if asked.verb is _demo else _ended_by_ctrl_c():
            return int(asked.verb(asked))
    except PipelineError as error:
        _say(told(error), sys.stderr)
    except Failed as failed:
        _say(str(failed), sys.stderr)
    return 1


@contextmanager
def _ended_by_ctrl_c() -> Iterator[None]:
    """Meanwhile Ctrl-C ends this process at once, as any other end that a table survives, and Java with it."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _say(text: str, to: TextIO | None = None) -> None:
    """Print lines. What an export or a table calls its parts is others' word: nothing in it may lead the terminal."""
    print(re.sub(r"[^\n\t]+", lambda part: on_one_line(part[0]), text), file=to, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m local", description="The product on one machine, without AWS.")
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    demo = verbs.add_parser("demo", help="deploy to the local AWS, write a workload, watch runs, compare")
    demo.add_argument("--keep", action="store_true", help="leave the local AWS running and say how to use it")
    demo.add_argument(
        "--home",
        type=folder_to_be,
        default=HOME,
        help="folder for the local AWS's state, mails and logs, begun anew each time (default: .local)",
    )
    demo.add_argument("--items", type=_positive, default=4000, help="orders in the first full export (default: 4000)")
    demo.set_defaults(verb=_demo)
    replay = verbs.add_parser("replay", help="apply a folder of real exports to a local Iceberg table")
    _add_exports(replay)
    replay.add_argument(
        "--compare-old-images", action="store_true", help="compare old images with the table's rows before a merge"
    )
    replay.set_defaults(verb=_replay)
    verify = verbs.add_parser("verify", help="compare a local Iceberg table with the full export at its watermark")
    _add_exports(verify)
    verify.set_defaults(verb=_verify, compare_old_images=False)
    maintain = verbs.add_parser("maintain", help="put the files of a local Iceberg table in order")
    _add_table(maintain)
    maintain.add_argument(
        "--snapshot-days",
        type=_snapshot_days,
        default=TableSettings.snapshot_days,
        metavar="DAYS",
        help=f"how many days back the table can be looked at then (default: {TableSettings.snapshot_days})",
    )
    maintain.set_defaults(verb=_maintain)
    return parser


def _add_table(verb: argparse.ArgumentParser) -> None:
    """What every verb on a local table is told: the table, its warehouse."""
    verb.add_argument("--table", type=_table, required=True, metavar="NS.NAME", help="the Iceberg table")
    verb.add_argument("--warehouse", type=folder_to_be, required=True, metavar="DIR", help="root of the Hadoop catalog")


def _add_exports(verb: argparse.ArgumentParser) -> None:
    """What the verbs are told that read exports for a local table: the exports, the table, its key, columns, source."""
    verb.add_argument("exports", type=folder, help="folder that mirrors the export bucket")
    _add_table(verb)
    verb.add_argument(
        "--key",
        type=_key,
        action=_Keys,
        required=True,
        metavar="NAME:TYPE",
        help="the source table's key attribute and its type S, N or B; said again for the sort key, the partition key first",
    )
    verb.add_argument(
        "--columns",
        type=_columns,
        default=NO_OVERRIDES,
        metavar="FILE",
        help=f"what the settings say of columns, as JSON; the secret for hashes is read from ${SECRET_VARIABLE}",
    )
    verb.add_argument(
        "--source",
        default="",
        metavar="ARN",
        help="the source table, by its ARN or its table id, where the folder holds exports of several",
    )


def _demo(asked: argparse.Namespace) -> int:
    from local.demo import demo

    return demo(asked.home, asked.items, keep=asked.keep, tell=_say)


def _replay(asked: argparse.Namespace) -> int:
    from local.replay import replay
    from pipeline.table.drift import drift_of, told_drift
    from pipeline.table.record_counts import accounting

    table, is_new = _table_of(asked), False
    for report in replay(asked.exports, table, asked.source, _say):
        is_new = True
        _say(f"{report['job']}: {report['outcome']}, the table is at {report['watermark']}.")
        _say("\n".join(accounting(report["job"], report["counts"])))
        _say(table.report_line(report["job_id"]))
        for line in told_drift(drift_of(report), report["counts"].get("misfits", 0)):
            _say(line)
    if not is_new:
        _say("nothing new: the table already shows every export of its source table in the folder")
    return 0


def _verify(asked: argparse.Namespace) -> int:
    from local.verify import verify
    from pipeline.table.verification import accounted

    table = _table_of(asked)
    report = verify(asked.exports, table, asked.source)
    _say(f"{report['result']} at {report['watermark']}. {accounted(report['counts'])}")
    _say(table.report_line(report["job_id"]))
    return 0


def _maintain(asked: argparse.Namespace) -> int:
    from local.local_table import LocalTable
    from local.maintain import maintain
    from pipeline.table import maintenance

    namespace, name = asked.table
    table = _sound(LocalTable(namespace, name, (), asked.warehouse))
    report = maintain(table, asked.snapshot_days)
    _say("\n".join(maintenance.lines(report["counts"])))
    _say(table.report_line(report["job_id"]))
    return 0


def _table_of(asked: argparse.Namespace) -> LocalTable:
    """The table of a verb that reads exports. The secret comes from the environment: arguments are for all to see."""
    from local.local_table import LocalTable

    namespace, name = asked.table
    secret, key = os.environ.get(SECRET_VARIABLE, ""), tuple(asked.key)
    return _sound(LocalTable(namespace, name, key, asked.warehouse, asked.columns, secret, asked.compare_old_images))


def _sound(table: LocalTable) -> LocalTable:
    """The table. Raises Failed where there is a file in the place of its folder."""
    if file := file_at(table.folder):
        raise Failed(f"{table.folder} cannot be a folder, for {file} is a file; name another table or warehouse.")
    return table


def _columns(text: str) -> Overrides:
    try:
        return Overrides.parse(read_json(meant(text).read_bytes()))
    except SettingRefused as wrong:
        raise argparse.ArgumentTypeError(f"{text!r}: {wrong.message}") from wrong
    except (OSError, ValueError) as wrong:
        raise argparse.ArgumentTypeError(f"{text!r}: {wrong}") from wrong


def _table(text: str) -> tuple[str, str]:
    found = _TABLE.fullmatch(text)
    if found is None:
        allowed = "NAMESPACE.NAME, such as shop.orders, each 1-255 of a-z, A-Z, 0-9, _ and -"
        raise argparse.ArgumentTypeError(f"{text!r} is not {allowed}")
    return found[1], found[2]


class _Keys(argparse.Action):
    """The attributes of the key, one by one: a partition key, and a sort key of another name."""

    def __call__(self, _parser: Any, asked: argparse.Namespace, attribute: Any, _option: str | None = None) -> None:
        """Add one. Raises ArgumentError."""
        before = getattr(asked, self.dest) or []
        if len(before) == 2:
            raise argparse.ArgumentError(self, f"{attribute} is one too many: a key has two attributes at most")
        if attribute.name in [part.name for part in before]:
            raise argparse.ArgumentError(self, f"{attribute}: the key has the attribute {attribute.name!r} already")
        setattr(asked, self.dest, [*before, attribute])


def _key(text: str) -> KeyAttribute:
    try:
        return KeyAttribute.parse(text)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(f"{text!r}: {wrong}") from wrong


def _snapshot_days(text: str) -> int:
    least, most = SNAPSHOT_DAYS
    if not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {most}")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


if __name__ == "__main__":
    leave_other_modules()
    sys.exit(main())
