"""The table's parameters in Parameter Store: settings, control, last-export-time, told and the claims ``run/<n>``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from lambdas.aws import columns
from lambdas.aws.clients import client, error_code
from pipeline.columns.declared.overrides import Overrides
from pipeline.deployment import Deployment
from pipeline.errors import InputRefused, SettingRefused, SettingsMissing
from pipeline.mails.told import Told
from pipeline.places import CLAIMS, CONTROL, LAST_EXPORT_TIME, SETTINGS, TOLD
from pipeline.planning.journal import Claim
from pipeline.settings import TableSettings

_MOST_DELETED_AT_ONCE = 10  # DeleteParameters takes no more names
#: They go when a table is removed from the deployment, and are at their first version when it is added again.
_MADE_BY_THE_DEPLOYMENT = (SETTINGS, CONTROL)


@dataclass(frozen=True)
class TableParameters:
    """All of a table's parameters, read at once.

    `runs` maps a claim's number, as text, to its value, `claimed_at` to when it was made.
    """

    settings: TableSettings
    control: str
    recorded: str
    runs: dict[str, str]
    claimed_at: dict[str, datetime]
    told: Told


def read(deployment: Deployment, table: str, *, by_schedule: bool = False) -> TableParameters:
    """Read a table's parameters. Raises InputRefused for a table that is not configured.

    `by_schedule`: the table's own schedule asks, so it is configured: raises SettingsMissing instead.
    """
    parameters = _below(deployment.parameter(table))
    values = {name: parameter["Value"] for name, parameter in parameters.items()}
    if SETTINGS not in values and by_schedule:
        missing = deployment.parameter(table, SETTINGS)
        raise SettingsMissing(f"there is no parameter {missing}, though the schedule of {table} has started a run")
    if SETTINGS not in values:
        raise InputRefused(f"table is {table!r}; configured are {', '.join(configured_tables(deployment))}")
    claims = {
        name.removeprefix(f"{CLAIMS}/"): found for name, found in parameters.items() if name.startswith(f"{CLAIMS}/")
    }
    return TableParameters(
        settings=_settings(deployment.parameter(table, SETTINGS), values[SETTINGS], columns.read(deployment, table)),
        control=values.get(CONTROL, ""),
        recorded=values.get(LAST_EXPORT_TIME, ""),
        runs={number: claim["Value"] for number, claim in claims.items()},
        claimed_at={number: claim["LastModifiedDate"] for number, claim in claims.items()},
        told=_told(parameters),
    )


def _settings(name: str, text: str, said: Overrides) -> TableSettings:
    """The settings as the deployment has written them, and what it says of columns; anything else is not the deployment's."""
    try:
        return TableSettings.from_json(text, said)
    except (ValueError, RecursionError, SettingRefused) as wrong:
        raise SettingsMissing(f"{name} is not what was deployed: {wrong}") from wrong


def read_again(deployment: Deployment, table: str) -> tuple[Told, str]:
    """Read once more what `read_told_and_watermark` reads, but by path: Plan's role may read parameters in no other way."""
    return _told_and_watermark(_below(deployment.parameter(table)))


def read_told(deployment: Deployment, table: str) -> Told:
    """Read what the mails about a table have said so far."""
    return read_told_and_watermark(deployment, table)[0]


def read_told_and_watermark(deployment: Deployment, table: str) -> tuple[Told, str]:
    """Read what the mails have said so far, and the operator's view of the watermark, "" where there is none."""
    names = [deployment.parameter(table, name) for name in (TOLD, LAST_EXPORT_TIME, *_MADE_BY_THE_DEPLOYMENT)]
    found = _by_name(deployment.parameter(table), client("ssm").get_parameters(Names=names)["Parameters"])
    return _told_and_watermark(found)


def _told_and_watermark(found: Mapping[str, Any]) -> tuple[Told, str]:
    return _told(found), found[LAST_EXPORT_TIME]["Value"] if LAST_EXPORT_TIME in found else ""


def _told(found: Mapping[str, Any]) -> Told:
    """What has been told of the table as it is deployed now. `found`: its parameters, as AWS describes them."""
    if TOLD not in found:
        return Told()
    made = sorted(
        (found[name]["LastModifiedDate"], found[name]["Version"]) for name in _MADE_BY_THE_DEPLOYMENT if name in found
    )
    # The table is deployed since the older of the two was made: the newer one may be one that somebody has deleted and a repair
    # made again, which ends no incident. When the older one was made is known only if it was never written again.
    is_known = len(made) == len(_MADE_BY_THE_DEPLOYMENT) and made[0][1] == 1
    deployed = made[0][0] if is_known else None
    return Told.from_text(found[TOLD]["Value"]).since_deployed(found[TOLD]["LastModifiedDate"], deployed)


def write_told(deployment: Deployment, table: str, told: Told) -> None:
    """Write what the mails have said."""
    name = deployment.parameter(table, TOLD)
    client("ssm").put_parameter(Name=name, Value=told.to_text(), Type="String", Overwrite=True)


def configured_tables(deployment: Deployment) -> list[str]:
    """The names of all tables that have settings."""
    names = _below(deployment.parameter_prefix)
    return sorted(name.removesuffix(f"/{SETTINGS}") for name in names if name.endswith(f"/{SETTINGS}"))


def _below(path: str) -> dict[str, Any]:
    """Every parameter below a path: the rest of its name to what AWS says of it."""
    pages = client("ssm").get_paginator("get_parameters_by_path").paginate(Path=f"{path}/", Recursive=True)
    return _by_name(path, (parameter for page in pages for parameter in page["Parameters"]))


def _by_name(path: str, parameters: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {parameter["Name"].removeprefix(f"{path}/"): parameter for parameter in parameters}


def create_claim(deployment: Deployment, table: str, claim: Claim) -> bool:
    """Create ``run/<n>`` if nobody has; False where somebody was faster. This is the atomic step of the product.

    Since the number was read as free, others may have made it, gone on, and removed it as an old one: then a higher one is in
    force, and this one counts for nothing.
    """
    try:
        client("ssm").put_parameter(
            Name=deployment.parameter(table, f"{CLAIMS}/{claim.number}"),
            Value=claim.to_text(),
            Type="String",
            Overwrite=False,
        )
    except ClientError as error:
        if error_code(error) == "ParameterAlreadyExists":
            return False
        raise
    return max(map(int, _below(deployment.parameter(table, CLAIMS))), default=0) <= claim.number


def remove_claims_before(deployment: Deployment, table: str, runs: dict[str, str], number: int) -> None:
    """Remove the claims older than the one before `number`.

    The one before stays, so that a starter who read the parameters a moment ago cannot create it again.
    """
    old = sorted(n for n in map(int, runs) if n < number - 1)
    for first in range(0, len(old), _MOST_DELETED_AT_ONCE):
        names = [deployment.parameter(table, f"{CLAIMS}/{n}") for n in old[first : first + _MOST_DELETED_AT_ONCE]]
        client("ssm").delete_parameters(Names=names)


def record_watermark(deployment: Deployment, table: str, watermark: str) -> None:
    """Write the operator's view of the watermark."""
    client("ssm").put_parameter(
        Name=deployment.parameter(table, LAST_EXPORT_TIME), Value=watermark, Type="String", Overwrite=True
    )
