"""What holds for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says something of the machine, nothing of the code.
settings.register_profile("tidemark", deadline=None)
settings.load_profile("tidemark")

#: Folders whose tests share something that takes long to start: one process takes all of them.
_TOGETHER = ("deployed", "spark")


@pytest.hookimpl(tryfirst=True)  # xdist reads the marks in its own turn
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where the tests run in several processes (`make test`), those of a folder in `_TOGETHER` stay in one."""
    here = Path(__file__).parent
    for item in items:
        folder = item.path.relative_to(here).parts[0]
        # Elsewhere a file is the unit: its fixtures are its own.
        group = folder if folder in _TOGETHER else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))
