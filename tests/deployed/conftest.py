"""One local AWS with the real deployment on it; every test begins on the freshly deployed account."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from local.control import LocalAws
from local.deployed import Deployed, deploy
from tests.deployed.world import DEFAULTS, KNOBS, World
from tests.inside_a_window import begin_inside_a_window

SETTINGS: dict[str, Any] = {
    "defaults": DEFAULTS,
    "tables": [
        {
            "name": "orders",
            "window_minutes": 15,
            "tick_minutes": 15,
            "mail": {"success": ["data-team@example.com"], "failure": ["on-call@example.com"]},
        },
        {
            "name": "ledger",
            "window_minutes": 60,
            "columns": {
                "note": {"drop": True},
                "/ship.to/Zip-Code": {"hash": True},
                "total": {"type": "decimal(38,2)", "name": "amount"},
            },
            "hash_secret": "shop/ledger",
        },
    ],
}


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    home = tmp_path_factory.mktemp("aws")
    aws = LocalAws.start(home)
    try:
        stack = deploy(aws, SETTINGS, home / "deployment")
        aws.snapshot()
        yield stack
    finally:
        aws.stop()


@pytest.fixture(scope="session")
def make_world(deployed: Deployed) -> Callable[[], World]:
    """Begin anew on the freshly deployed account."""

    def fresh() -> World:
        deployed.aws.restore()
        deployed.aws.set_faults()
        deployed.aws.set_knobs(**KNOBS)
        begin_inside_a_window(deployed.aws)
        return World(deployed)

    return fresh


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    return make_world()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The proof of least privilege looks at what all other tests have used, so it comes last."""
    items.sort(key=lambda item: item.path.name == "test_least_privilege.py")
