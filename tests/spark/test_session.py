"""The session that local jobs run in."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.spark


def test_a_session_on_this_machine_offers_nothing_to_the_network(spark):
    parts = spark.sparkContext._jsc.sc().env()
    assert {parts.rpcEnv().address().host(), parts.blockManager().blockManagerId().host()} == {"127.0.0.1"}
