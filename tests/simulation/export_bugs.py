"""Bugs planted in how exports are asked for, found again and waited for, each as a patch; the simulation must find them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from unittest.mock import patch

from pipeline.exports.requests import ExportRequest, client_token
from pipeline.instants import EPOCH
from pipeline.planning import half_done
from tests.simulation import machine
from tests.simulation.seeded_bugs import Bug


@contextmanager
def token_without_retry() -> Iterator[None]:
    """An export that failed is asked for with the token of the one that failed."""

    def token(source_id: str, request: ExportRequest, bucket: str, prefix: str, attempt: int, _retry: int) -> str:
        return client_token(source_id, request, bucket, prefix, attempt, retry=0)

    with patch.object(machine, "client_token", token):
        yield


@contextmanager
def token_of_each_asking() -> Iterator[None]:
    """Who asks again for the same export has another token."""

    def token(source_id: str, request: ExportRequest, bucket: str, prefix: str, attempt: int, retry: int) -> str:
        return f"{client_token(source_id, request, bucket, prefix, attempt, retry)}-{next(askings)}"

    askings = count()
    with patch.object(machine, "client_token", token):
        yield


@contextmanager
def export_of_a_dead_job_made_again() -> Iterator[None]:
    """What a job was given is asked for by its token, which DynamoDB has forgotten where the job took long to die."""
    with patch.object(machine, "_given_before", lambda _run: []):
        yield


@contextmanager
def damaged_export_read_again() -> Iterator[None]:
    """Work that was refused for its files is tried again with the same files."""
    with patch.object(half_done, "is_damaged", lambda _claim: False):
        yield


@contextmanager
def token_without_the_window() -> Iterator[None]:
    """All exports of a table have the same token."""

    def token(source_id: str, _: ExportRequest, bucket: str, prefix: str, attempt: int, retry: int) -> str:
        return client_token(source_id, ExportRequest(at=EPOCH), bucket, prefix, attempt, retry)

    with patch.object(machine, "client_token", token):
        yield


@contextmanager
def looks_as_often_on_the_second_day() -> Iterator[None]:
    """Exports that take long are looked at every half minute until the end."""

    def waited(checks: int) -> timedelta:
        return timedelta(seconds=30) * checks

    with patch.object(machine, "_wait", lambda _checks: 30), patch.object(machine, "_waited", waited):
        yield


_SUCCEEDS = "a run that starts while nothing is wrong succeeds\n.* although nothing was wrong: "
#: Every bug that is planted, and how the violation begins that it must lead to: the invariant, or more of its text.
EXPORT_BUGS: Mapping[Bug, str] = {
    token_without_retry: _SUCCEEDS + "export/[0-9]+ ended as FAILED with ",
    token_of_each_asking: "nothing is exported twice",
    token_without_the_window: "another request has another token",
    export_of_a_dead_job_made_again: "nothing is exported twice",
    damaged_export_read_again: _SUCCEEDS + "export/[0-9]+ is damaged",
    looks_as_often_on_the_second_day: "an execution stays far below 25,000 events",
}
