"""What the service remembers: applications and job runs, as the API shows them, and the tokens they were made with.

Records are plain dictionaries with the API's member names and JSON types, instants in seconds of the virtual clock.
One lock guards them all; whoever waits for a change of state waits on it.
"""

import secrets
from dataclasses import dataclass, field
from threading import Condition
from typing import Any

Record = dict[str, Any]


@dataclass
class Store:
    """Everything there is, oldest first. A token is remembered with the id of the application it was used on."""

    applications: dict[str, Record] = field(default_factory=dict)
    job_runs: dict[str, Record] = field(default_factory=dict)
    tokens: dict[tuple[str, str], str] = field(default_factory=dict)
    changed: Condition = field(default_factory=Condition)

    def clear(self) -> None:
        """Forget everything."""
        for kept in (self.applications, self.job_runs, self.tokens):
            kept.clear()


STORE = Store()


def new_id() -> str:
    """An id of the form AWS gives: sixteen digits and small letters that begin with 00."""
    return f"00{secrets.token_hex(7)}"


def arn_of(application_id: str, job_run_id: str | None = None) -> str:
    """The ARN of an application, or of one of its job runs."""
    from ministack.core.responses import get_account_id, get_region

    arn = f"arn:aws:emr-serverless:{get_region()}:{get_account_id()}:/applications/{application_id}"
    return arn if job_run_id is None else f"{arn}/jobruns/{job_run_id}"
