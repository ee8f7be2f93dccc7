"""Whose exports a local table is made of, where a folder holds those of several source tables."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from local.found_exports import FoundExport
from local.sources import exports_of, source_to_follow, told_others
from pipeline.errors import OtherTable, OtherTableId
from pipeline.exports.manifests import ExportManifest
from pipeline.identity import KeyAttribute, SourceTable
from pipeline.table.marker import Marker

ORDERS = "arn:aws:dynamodb:eu-west-1:111122223333:table/orders"
CUSTOMERS = "arn:aws:dynamodb:eu-west-1:111122223333:table/customers"
KEY = (KeyAttribute("pk", "S"),)
SOURCE = SourceTable(ORDERS, "id-1", KEY)


def full(hour: int, arn: str = ORDERS, table_id: str = "id-1") -> FoundExport:
    at = datetime(2026, 11, 1, hour, tzinfo=UTC)
    return FoundExport(f"{table_id}-{hour}", ExportManifest("export", arn, table_id, "b", 0, 0, at, None, "files"))


OF_CUSTOMERS, OF_ANOTHER_ID = full(2, CUSTOMERS, "id-2"), full(3, ORDERS, "id-3")
MARKER = Marker(
    datetime(2026, 11, 1, 1, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC), "load", "j", ORDERS, "id-1", {}
)


@pytest.mark.parametrize(
    ("found", "marker", "named"),
    [
        pytest.param([full(1), full(4)], None, "", id="the exports' own where they are of one source table"),
        pytest.param([OF_CUSTOMERS, full(1)], None, ORDERS, id="the one that is named by its ARN"),
        pytest.param([OF_ANOTHER_ID, full(1)], None, "id-1", id="the one that is named by its table id"),
        pytest.param([OF_CUSTOMERS, OF_ANOTHER_ID, full(1)], MARKER, "", id="the table's own, whatever else is there"),
        pytest.param([OF_CUSTOMERS, full(1)], MARKER, ORDERS, id="the table's own, and it is named"),
        pytest.param([OF_ANOTHER_ID], MARKER, "", id="the table's own, though the folder holds no export of it"),
    ],
)
def test_the_source_to_follow_is(found, marker, named):
    assert source_to_follow(found, marker, KEY, named) == SOURCE


@pytest.mark.parametrize(
    ("found", "marker", "named", "error", "told"),
    [
        pytest.param(
            [full(1), OF_CUSTOMERS, full(4)],
            None,
            "",
            OtherTable,
            "the folder holds exports of several source tables:\n"
            f"  {CUSTOMERS} (table id id-2): 1 export, up to 2026-11-01T02:00:00Z\n"
            f"  {ORDERS} (table id id-1): 2 exports, up to 2026-11-01T04:00:00Z",
            id="several ARNs",
        ),
        pytest.param(
            [full(1), OF_ANOTHER_ID, OF_CUSTOMERS],
            None,
            ORDERS,
            OtherTableId,
            "the folder holds exports of several source tables; one that was created anew has the same ARN and another "
            f"table id:\n  {ORDERS} (table id id-1): 1 export, up to 2026-11-01T01:00:00Z\n"
            f"  {ORDERS} (table id id-3): 1 export, up to 2026-11-01T03:00:00Z",
            id="one ARN with several table ids",
        ),
        pytest.param(
            [full(1)],
            None,
            CUSTOMERS,
            OtherTable,
            f"the folder holds no export of {CUSTOMERS}, but of:\n"
            f"  {ORDERS} (table id id-1): 1 export, up to 2026-11-01T01:00:00Z",
            id="one is named of which there is none",
        ),
    ],
)
def test_where_the_folder_leaves_open_which_source_to_follow_all_are_listed(found, marker, named, error, told):
    with pytest.raises(error) as refused:
        source_to_follow(found, marker, KEY, named)
    assert refused.value.message == told
    assert "Say with --source which one" in refused.value.remedy


@pytest.mark.parametrize("named", [CUSTOMERS, "id-3"])
def test_a_table_keeps_its_source_whoever_names_another(named):
    with pytest.raises(OtherTable) as refused:
        source_to_follow([full(1), OF_CUSTOMERS, OF_ANOTHER_ID], MARKER, KEY, named)
    assert refused.value.message == f"the table follows {ORDERS} (table id id-1), not {named}"


def test_exports_of_others_are_left_alone_and_told():
    found = [OF_CUSTOMERS, full(1), OF_ANOTHER_ID]
    assert exports_of(found, SOURCE) == [full(1)]
    assert "\n".join(told_others(found, SOURCE)) == (
        f"Left alone, for the table follows {ORDERS} (table id id-1):\n"
        f"  {CUSTOMERS} (table id id-2): 1 export, up to 2026-11-01T02:00:00Z\n"
        f"  {ORDERS} (table id id-3): 1 export, up to 2026-11-01T03:00:00Z"
    )
    assert told_others([full(1)], SOURCE) == []


@pytest.mark.parametrize(
    ("found", "error"),
    [
        pytest.param([OF_CUSTOMERS], OtherTable, id="another table"),
        pytest.param([OF_CUSTOMERS, OF_ANOTHER_ID], OtherTableId, id="the table before it was created anew"),
    ],
)
def test_a_folder_with_exports_of_others_only_is_refused(found, error):
    with pytest.raises(error):
        exports_of(found, SOURCE)
