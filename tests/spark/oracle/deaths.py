"""Jobs that are killed in the midst of their work, at a random step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any
from unittest.mock import patch

from spark import report
from spark.iceberg.table import Table
from spark.loading import load, passes
from spark.merging import merge
from tests.spark.shop import Killed

#: Steps of jobs that change something, or come right before or after what does.
_STEPS: tuple[tuple[Any, str], ...] = (
    (load, "with_names_given_back"),
    (passes, "_write"),
    (merge, "_commit"),
    (merge, "with_columns_made_ready"),
    *(
        (Table, step)
        for step in ("create", "new_branch", "evolve", "withdraw", "publish", "replace", "settle", "remember")
    ),
    (report, "write_report"),
)


@contextmanager
def dying(dice: Random) -> Iterator[str]:
    """While it lasts, a job that comes to a step of its work is killed right before it or after it. Which, in words."""
    (where, step), is_before = dice.choice(_STEPS), dice.random() < 0.5
    its_own = getattr(where, step)

    def dies(*arguments: Any, **named: Any) -> None:
        if not is_before:
            its_own(*arguments, **named)
        raise Killed

    with patch.object(where, step, dies):
        yield f"{'before' if is_before else 'after'} {step}"
