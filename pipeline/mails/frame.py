"""What every mail is made of: whom it is for, its subject, its links, and how long history lasts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.deployment import Deployment
from pipeline.planning.horizon import Horizon
from pipeline.wording import number_of, words

SUCCESS, FAILURE, WARNING, CLEARED = "SUCCESS", "FAILURE", "WARNING", "CLEARED"
#: Which list of the settings a status is for: whoever hears of a failure hears of its end, and is warned.
MAIL_LISTS: Mapping[str, str] = {SUCCESS: "success", FAILURE: "failure", WARNING: "failure", CLEARED: "failure"}
#: What subject and attribute `table` say where no configured table is meant; every failure list lets it through. No table
#: can be called so, for its spaces; SNS takes any text in attributes and filters.
UNKNOWN_TABLE = "an unknown table"
_LONGEST_SUBJECT = 100  # SNS takes no more, and printable ASCII only
_LONGEST_STACK, _SHORTEST_TABLE = 20, 12
#: Where the console is, by partition; of others nobody here knows it.
_CONSOLES = {
    "aws": "console.aws.amazon.com",
    "aws-cn": "console.amazonaws.cn",
    "aws-us-gov": "console.amazonaws-us-gov.com",
}
_UNPRINTABLE = re.compile(r"[^ -~]")


@dataclass(frozen=True)
class Mail:
    """One message: subject and lines for people, `facts` for machines, status and table for filters."""

    status: str
    table: str
    subject: str
    lines: Sequence[str]
    facts: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines) + "\n"

    @property
    def mail_list(self) -> str:
        """The list of the settings that gets it: success or failure."""
        return MAIL_LISTS[self.status]


def subject(deployment: Deployment, status: str, table: str, what: str) -> str:
    """Status and what happened stay whole; of a long name of stack or table the end is left out."""
    stack = _shortened(deployment.stack_name, _LONGEST_STACK)
    room = _LONGEST_SUBJECT - len(f"[{stack}] {status} : {what}")
    text = f"[{stack}] {status} {_shortened(table, max(room, _SHORTEST_TABLE))}: {what}"
    return _UNPRINTABLE.sub("?", text)[:_LONGEST_SUBJECT]


def _shortened(name: str, room: int) -> str:
    return name if len(name) <= room else name[: room - 2] + ".."


def links(execution: str, deployment: Deployment, job_run: str = "") -> list[str]:
    """Where to look: the execution, and the job run if there is one; their ARNs where no console is known."""
    region, application = deployment.region, f"applications/{deployment.application_id}"
    place = f"{application}/jobs/{job_run}"
    seen = execution, f"{deployment.arn_head('emr-serverless')}/{application}/jobruns/{job_run}"
    if deployment.partition in _CONSOLES:
        console = f"https://{region}.{_CONSOLES[deployment.partition]}"
        seen = (
            f"{console}/states/home?region={region}#/v2/executions/details/{execution}",
            f"{console}/emr/home?region={region}#/serverless/{place}",
        )
    lines = [f"Execution: {seen[0]}"]
    return [*lines, f"Job: {seen[1]}", f"Job log: {deployment.log_uri}{place}/"] if job_run else lines


def history_line(horizon: Horizon | None) -> list[str]:
    """How long the source's history still reaches back to the watermark; nothing where nobody knows."""
    if horizon is None:
        return []
    if horizon.is_lost:
        return ["History is lost: the source's history no longer reaches back to the watermark."]
    # Rounded down: a level that is not reached yet must not be told as if it were.
    share = f"{int(horizon.used_percent)} % of the recovery period of {number_of(horizon.recovery_days, 'day')} used"
    return [f"History would be lost in {words(horizon.left)} ({share})."]
