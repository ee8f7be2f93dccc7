"""Verifications for the Spark tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from local.aws.pitr.offline import FullExport
from pipeline.errors import VerificationFailed
from pipeline.job_order import JobOrder
from tests.spark.shop import Shop, minute


def verify_order(s: Shop, at: float) -> JobOrder:
    """The order for a verification at a minute, with its export."""
    (export,) = s.export(FullExport(minute(at)))
    return s.order("verify", [export], minute(at), minute(at))


def verify(s: Shop, at: float) -> Mapping[str, Any]:
    """The report of a verification that finds no difference."""
    return s.run(verify_order(s, at))


def differences(s: Shop, at: float) -> Mapping[str, Any]:
    """The report of a verification that must fail."""
    order = verify_order(s, at)
    with pytest.raises(VerificationFailed):
        s.run(order)
    return s.report(order)


def tamper(s: Shop, changes: Mapping[str, Mapping[str, str]]) -> None:
    """Somebody changes rows, all at once: of each key the columns, and what SQL sets."""
    columns = sorted({column for change in changes.values() for column in change})
    text = {
        column: " ".join(f'WHEN "{pk}" THEN {change[column]}' for pk, change in changes.items() if column in change)
        for column in columns
    }
    sets = ", ".join(f"{column} = CASE pk {cases} ELSE {column} END" for column, cases in text.items())
    s.change("UPDATE TABLE SET SETS WHERE pk IS NOT NULL", SETS=sets)
