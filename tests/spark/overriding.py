"""Jobs with something said of columns, for the Spark tests of overrides."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pipeline.columns.declared.overrides import Overrides
from pipeline.job_order import JobOrder
from spark.job import run
from tests.spark.shop import Shop

SECRET = "a secret that no plan, log or table may show"  # noqa: S105 - a test's own


def carry_out(source: Shop, order: JobOrder, secret: str = SECRET, **columns: Any) -> Mapping[str, Any]:
    """Run an order with what is said of columns; returns its report."""
    return run(source.spark, replace(order, columns=Overrides.parse(columns)), secret)


def hashed(canonical: str, secret: str = SECRET) -> str:
    """What anybody who knows the secret computes."""
    return hmac.new(secret.encode(), canonical.encode(), hashlib.sha256).hexdigest()
