"""Settings: one object in ``cdk.json``, parsed once, refused by name.

`infra` parses the whole object at synth and stores each table's part as a parameter; the functions read that part back
with the same class, so the two cannot disagree. Every refusal names the setting, the value and what is allowed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import Any

from pipeline.columns.declared.overrides import NO_OVERRIDES, Overrides
from pipeline.exports.window_bounds import WindowBounds, WindowLengths, parse_windows
from pipeline.run_reports import TABLE as OURS
from pipeline.setting_checks import choice, distinct, expect, flag, known, names_of, text, whole, word

_TABLE_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")  # DynamoDB's naming rule
_GLUE_NAME = re.compile(r"[a-z0-9_]{1,255}")  # Athena takes no others
_DATABASE_NAME = re.compile(r"[a-z0-9_]{1,252}")  # Glue takes 255, but Iceberg makes no table in a longer one
#: Leaves room for the names made from it, of which one is the bucket's: S3 keeps three beginnings for itself.
_STACK_NAME = re.compile(r"(?!(?i:xn--|sthree-|amzn-s3-demo-))[A-Za-z][A-Za-z0-9-]{0,59}")
_STACK_NAMES = "1-60 letters, digits and dashes, a letter first, and none of xn--, sthree- and amzn-s3-demo-"
#: An address alone: no name, no list. In ASCII, for mail to others asks for an extension of SMTP that AWS does not have.
_MAIL = re.compile(r'(?!.*[()<>[\]{},;:"\\\x00-\x1f\x7f-\U0010ffff])[^@\s]+@[^@\s]+\.[^@\s]+')
_MAILS = "mail addresses alone, such as data-team@example.com, in ASCII: a domain with other letters by its xn-- name"
_SECRET_NAME = re.compile(r"[A-Za-z0-9/_+=.@-]{1,512}")  # Secrets Manager's naming rule
SNAPSHOT_DAYS = (3, 3650)  # the fewest and the most that maintenance leaves
_LONGEST_PARAMETER = 4096  # a standard parameter of Parameter Store
#: Minutes from tick to tick: what divides a day, so that some common time is filled by the ticks of all tables exactly.
TICKS = tuple(minutes for minutes in range(1, 1441) if 1440 % minutes == 0)
#: When successes are mailed: each as it happens, summed up for each UTC day, or not at all.
EVERY_RUN, DAILY, NEVER = "every_run", "daily", "never"
#: What the schedule does where changes can no longer be exported: wait for a person, or load the table anew by itself.
HALT, REBUILD = "halt", "rebuild"
#: EMR Serverless worker sizes: vCPUs to the memory allowed, in GB.
_WORKERS = {1: range(2, 9), 2: range(4, 17), 4: range(8, 31), 8: range(16, 61, 4), 16: range(32, 121, 8)}


@dataclass(frozen=True)
class MailLists:
    """Who gets which mail. A list may be empty: then nobody gets that kind."""

    success: tuple[str, ...] = ()
    failure: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableSettings:
    """Everything that is settable for one source table.

    `window_minutes`: the grid that windows end on, 15 to 1440, or the bounds that it moves in. `tick_minutes`: how often the
    schedule looks whether a window has closed, one of `TICKS`. `buckets`: partitions of the table by hash of the partition
    key, a power of two. `success_mail`: when the list `mail.success` is written to: every_run, daily or never. `columns`:
    what is said of columns in place of the data. `on_lost_history`: halt or rebuild. `hash_secret`: the name of the secret in
    Secrets Manager that hashes are keyed with. `compare_old_images`: merges compare them with the rows that they should be.
    `maintain_days`: after how many days of history the schedule puts the table's files in order, 0 for never.
    `snapshot_days`: how many days back the table can still be looked at then; the daily digest needs some whole ones.
    `paused`: what the deployment says in the table's `control`, which is its word from then on.
    """

    name: str
    iceberg_table: str
    window_minutes: int | WindowBounds = 60
    tick_minutes: int = 15
    buckets: int = 16
    mail: MailLists = MailLists()
    success_mail: str = EVERY_RUN
    on_lost_history: str = HALT
    columns: Overrides = NO_OVERRIDES
    hash_secret: str = ""
    compare_old_images: bool = False
    maintain_days: int = 1
    snapshot_days: int = 7
    paused: bool = False

    def to_json(self) -> str:
        """Write what runs go by as one line of JSON, but `columns`, which are in a file of their own."""
        said = asdict(self)
        del said["columns"], said["paused"]
        return json.dumps(said, separators=(",", ":"))

    @cached_property
    def windows(self) -> WindowLengths:
        """How long windows may be."""
        return WindowLengths.of(self.window_minutes)

    @property
    def used_secret(self) -> str:
        """The secret that hashes are keyed with; "" where no column is hashed, whatever secret is named."""
        return self.hash_secret if self.columns.hashes else ""

    @property
    def digest(self) -> str:
        """What tells these settings from others, in sixteen characters."""
        return hashlib.sha256(json.dumps([self.to_json(), self.columns.to_json()]).encode()).hexdigest()[:16]

    @property
    def maintain_every(self) -> timedelta:
        """After how much history the schedule puts the table's files in order; zero for never."""
        return timedelta(days=self.maintain_days)

    @property
    def rebuilds(self) -> bool:
        """Whether the schedule loads the table anew where history is lost."""
        return self.on_lost_history == REBUILD

    @classmethod
    def from_json(cls, text: str, columns: Overrides) -> TableSettings:
        """Read what `to_json` wrote, and add the columns, which it left out."""
        return replace(_table(json.loads(text), {}, "the settings parameter"), columns=columns)


@dataclass(frozen=True)
class SparkSettings:
    """Size of the Spark jobs on EMR Serverless: one driver, up to `max_executors` executors of the same worker size.

    `worker_disk_gb`: by default what costs nothing, which suffices for tables of as many GB as the executors have in all.
    """

    worker_vcpus: int = 4
    worker_memory_gb: int = 16
    worker_disk_gb: int = 20
    max_executors: int = 3


@dataclass(frozen=True)
class Settings:
    """The whole configuration: the shared parts and every table."""

    tables: tuple[TableSettings, ...]
    stack_name: str = "Tidemark"
    database: str = "tidemark"
    export_days: int = 30
    log_days: int = 90
    spark: SparkSettings = field(default_factory=SparkSettings)

    @classmethod
    def parse(cls, raw: Any) -> Settings:
        """Read ``context.tidemark``. Raises SettingRefused for the first thing that is wrong."""
        expect(isinstance(raw, Mapping), "tidemark", raw, "an object, see docs/settings.md")
        known(raw, {*names_of(cls), "defaults"}, "tidemark")
        defaults = raw.get("defaults", {})
        expect(isinstance(defaults, Mapping), "defaults", defaults, "an object")
        known(defaults, names_of(TableSettings) - {"name", "iceberg_table", "columns"}, "defaults")
        # By themselves, lest they are blamed on a table, or come to light with the first one that needs them.
        _table({"name": "any", **defaults}, {}, "defaults")
        rows = raw.get("tables")
        expect(isinstance(rows, list) and bool(rows), "tables", rows, "a list with at least one table")
        assert isinstance(rows, list)
        tables = tuple(_table(row, defaults, f"tables[{i}]") for i, row in enumerate(rows))
        distinct([t.name for t in tables], "name")
        distinct([t.iceberg_table for t in tables], "iceberg_table")
        return cls(
            tables=tables,
            stack_name=text(raw, "stack_name", cls.stack_name, _STACK_NAME, _STACK_NAMES),
            database=text(raw, "database", cls.database, _DATABASE_NAME, "1-252 of a-z, 0-9 and _"),
            export_days=whole(raw, "export_days", cls.export_days, 8, 3650),
            log_days=choice(raw, "log_days", cls.log_days, (7, 14, 30, 60, 90, 180, 365, 731, 3653)),
            spark=_spark(raw.get("spark", {})),
        )

    @property
    def default_table(self) -> str:
        """The table meant by an execution that names none: the only one, if there is only one."""
        return self.tables[0].name if len(self.tables) == 1 else ""


def is_table_name(text: str) -> bool:
    """Whether DynamoDB would take the text as a table's name."""
    return _TABLE_NAME.fullmatch(text) is not None


def _table(raw: Any, defaults: Mapping[str, Any], where: str) -> TableSettings:
    expect(isinstance(raw, Mapping), where, raw, "an object with a name")
    known(raw, names_of(TableSettings), where)
    merged = {**defaults, **raw}
    name = text(merged, "name", "", _TABLE_NAME, "a DynamoDB table name: 3-255 of a-z, A-Z, 0-9, _, - and .", where)
    readable = re.sub(r"[^a-z0-9_]+", "_", name.lower())
    settings = TableSettings(
        name=name,
        iceberg_table=text(merged, "iceberg_table", readable, _GLUE_NAME, "1-255 of a-z, 0-9 and _", where),
        window_minutes=parse_windows(merged.get("window_minutes", TableSettings.window_minutes), where),
        tick_minutes=choice(merged, "tick_minutes", TableSettings.tick_minutes, TICKS, where),
        buckets=choice(merged, "buckets", TableSettings.buckets, tuple(2**n for n in range(13)), where),
        mail=_mail(merged.get("mail", {}), f"{where}.mail"),
        success_mail=word(merged, "success_mail", TableSettings.success_mail, (EVERY_RUN, DAILY, NEVER), where),
        on_lost_history=word(merged, "on_lost_history", TableSettings.on_lost_history, (HALT, REBUILD), where),
        columns=Overrides.parse(merged.get("columns", {}), f"{where}.columns"),
        hash_secret=_secret(merged, where),
        compare_old_images=flag(merged, "compare_old_images", TableSettings.compare_old_images, where),
        maintain_days=whole(merged, "maintain_days", TableSettings.maintain_days, 0, 365, where),
        snapshot_days=whole(merged, "snapshot_days", TableSettings.snapshot_days, *SNAPSHOT_DAYS, where),
        paused=flag(merged, "paused", TableSettings.paused, where),
    )
    expect(
        settings.iceberg_table != OURS, f"{where}.iceberg_table", OURS, "another name: the run reports have this one"
    )
    expect(
        bool(settings.hash_secret) or not settings.columns.hashes,
        f"{where}.hash_secret",
        "",
        "the name of a secret in Secrets Manager, where a column is hashed",
    )
    size = len(settings.to_json())
    expect(
        size <= _LONGEST_PARAMETER,
        where,
        f"{size} characters of JSON",
        f"{_LONGEST_PARAMETER}; shorten its mail lists",
    )
    return settings


def _secret(raw: Mapping[str, Any], where: str) -> str:
    if raw.get("hash_secret", "") == "":
        return ""
    allowed = 'the name of a secret in Secrets Manager, 1-512 letters, digits and /_+=.@-, or "" for none'
    return text(raw, "hash_secret", "", _SECRET_NAME, allowed, where)


def _mail(raw: Any, where: str) -> MailLists:
    expect(isinstance(raw, Mapping), where, raw, 'an object with "success" and "failure", each a list of addresses')
    known(raw, names_of(MailLists), where)
    for kind, addresses in raw.items():
        expect(isinstance(addresses, (list, tuple)), f"{where}.{kind}", addresses, "a list of mail addresses")
        for address in addresses:
            right = isinstance(address, str) and _MAIL.fullmatch(address) is not None
            expect(right, f"{where}.{kind}", address, _MAILS)
    return MailLists(**{kind: tuple(addresses) for kind, addresses in raw.items()})


def _spark(raw: Any) -> SparkSettings:
    expect(isinstance(raw, Mapping), "spark", raw, "an object")
    known(raw, names_of(SparkSettings), "spark")
    vcpus = choice(raw, "worker_vcpus", SparkSettings.worker_vcpus, tuple(_WORKERS), "spark")
    sizes, of = tuple(_WORKERS[vcpus]), f", where spark.worker_vcpus is {vcpus}"
    memory = choice(raw, "worker_memory_gb", SparkSettings.worker_memory_gb, sizes, "spark", of)
    disk = whole(raw, "worker_disk_gb", SparkSettings.worker_disk_gb, 20, 200, "spark")
    return SparkSettings(vcpus, memory, disk, whole(raw, "max_executors", SparkSettings.max_executors, 1, 500, "spark"))
