"""Whose exports a local table is made of, where a folder holds those of several source tables."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from local.found_exports import FoundExport, FoundExports, RefusedExport
from local.sources import exports_to_follow
from pipeline.errors import CountMismatch, OtherTable, OtherTableId, PipelineError, UnknownFormat
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


def refused(error: PipelineError, source: tuple[str, str] | None) -> RefusedExport:
    return RefusedExport(Path("/mirror/AWSDynamoDB/x"), error, source)


OF_CUSTOMERS, OF_ANOTHER_ID = full(2, CUSTOMERS, "id-2"), full(3, ORDERS, "id-3")
ODD = refused(UnknownFormat("outputFormat is 'ION'"), (CUSTOMERS, "id-2"))
MARKER = Marker(
    datetime(2026, 11, 1, 1, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC), "load", "j", ORDERS, "id-1", {}
)
LEFT_ALONE = f"Left alone, for the table follows {ORDERS} (table id id-1):"
ONE_OF_CUSTOMERS = f"  {CUSTOMERS} (table id id-2): 1 export, up to 2026-11-01T02:00:00Z"
ONE_OF_ANOTHER_ID = f"  {ORDERS} (table id id-3): 1 export, up to 2026-11-01T03:00:00Z"
CANNOT = "    /mirror/AWSDynamoDB/x cannot be applied: UnknownFormat"


@pytest.mark.parametrize(
    ("found", "marker", "named", "left_alone"),
    [
        pytest.param([full(1)], None, "", [], id="the exports' own where they are of one source table"),
        pytest.param([OF_CUSTOMERS, full(1)], None, ORDERS, [ONE_OF_CUSTOMERS], id="the one that is named by its ARN"),
        pytest.param(
            [OF_ANOTHER_ID, full(1)], None, "id-1", [ONE_OF_ANOTHER_ID], id="the one that is named by its table id"
        ),
        pytest.param(
            [OF_CUSTOMERS, OF_ANOTHER_ID, full(1)],
            MARKER,
            "",
            [ONE_OF_CUSTOMERS, ONE_OF_ANOTHER_ID],
            id="the table's own, whatever else is there",
        ),
        pytest.param(
            [OF_CUSTOMERS, full(1)], MARKER, ORDERS, [ONE_OF_CUSTOMERS], id="the table's own, and it is named"
        ),
    ],
)
def test_what_is_followed_is(found, marker, named, left_alone):
    followed = exports_to_follow(FoundExports(found), marker, KEY, named)
    assert (followed.source, followed.exports) == (SOURCE, [full(1)])
    assert "\n".join(followed.left_alone) == "\n".join([LEFT_ALONE, *left_alone] if left_alone else [])


@pytest.mark.parametrize(("marker", "named"), [(MARKER, ""), (None, ORDERS)])
def test_of_exports_that_cannot_be_applied_those_of_others_are_left_alone(marker, named):
    followed = exports_to_follow(FoundExports([full(1)], [ODD]), marker, KEY, named)
    none = f"  {CUSTOMERS} (table id id-2): 0 exports\n{CANNOT}"
    assert (followed.source, "\n".join(followed.left_alone)) == (SOURCE, f"{LEFT_ALONE}\n{none}")
    followed = exports_to_follow(FoundExports([full(1), OF_CUSTOMERS], [ODD]), marker, KEY, named)
    assert "\n".join(followed.left_alone) == f"{LEFT_ALONE}\n{ONE_OF_CUSTOMERS}\n{CANNOT}"


@pytest.mark.parametrize(
    ("complete", "source", "marker", "named"),
    [
        pytest.param([full(1)], (ORDERS, "id-1"), MARKER, "", id="of the table's source"),
        pytest.param([full(1)], (ORDERS, "id-1"), None, "", id="of the only one"),
        pytest.param([OF_CUSTOMERS], (ORDERS, "id-1"), None, ORDERS, id="of the one that is named"),
        pytest.param([full(1)], None, MARKER, ORDERS, id="of nobody knows which"),
        pytest.param([], (CUSTOMERS, "id-2"), MARKER, "", id="of another, and there is nothing else"),
    ],
)
def test_one_that_cannot_be_applied_is_refused_where_it_is(complete, source, marker, named):
    damaged = CountMismatch("3 items, 4")
    with pytest.raises(CountMismatch) as said:
        exports_to_follow(FoundExports(complete, [refused(damaged, source)]), marker, KEY, named)
    assert said.value is damaged


@pytest.mark.parametrize(
    ("found", "named", "error", "told"),
    [
        pytest.param(
            FoundExports([full(1), OF_CUSTOMERS, full(4)]),
            "",
            OtherTable,
            f"the folder holds exports of several source tables:\n{ONE_OF_CUSTOMERS}\n"
            f"  {ORDERS} (table id id-1): 2 exports, up to 2026-11-01T04:00:00Z",
            id="several ARNs",
        ),
        pytest.param(
            FoundExports([full(1)], [ODD]),
            "",
            OtherTable,
            f"the folder holds exports of several source tables:\n  {CUSTOMERS} (table id id-2): 0 exports\n{CANNOT}\n"
            f"  {ORDERS} (table id id-1): 1 export, up to 2026-11-01T01:00:00Z",
            id="several ARNs, and the exports of one cannot be applied",
        ),
        pytest.param(
            FoundExports([full(1), OF_ANOTHER_ID, OF_CUSTOMERS]),
            ORDERS,
            OtherTableId,
            "the folder holds exports of several source tables; one that was created anew has the same ARN and another "
            f"table id:\n  {ORDERS} (table id id-1): 1 export, up to 2026-11-01T01:00:00Z\n{ONE_OF_ANOTHER_ID}",
            id="one ARN with several table ids",
        ),
        pytest.param(
            FoundExports([full(1)]),
            CUSTOMERS,
            OtherTable,
            f"the folder holds no export of {CUSTOMERS}, but of:\n"
            f"  {ORDERS} (table id id-1): 1 export, up to 2026-11-01T01:00:00Z",
            id="one is named of which there is none",
        ),
    ],
)
def test_where_the_folder_leaves_open_which_source_to_follow_all_are_listed(found, named, error, told):
    with pytest.raises(error) as said:
        exports_to_follow(found, None, KEY, named)
    assert said.value.message == told
    assert "Say with --source which one" in said.value.remedy


@pytest.mark.parametrize("named", [CUSTOMERS, "id-3"])
def test_a_table_keeps_its_source_whoever_names_another(named):
    with pytest.raises(OtherTable) as said:
        exports_to_follow(FoundExports([full(1), OF_CUSTOMERS, OF_ANOTHER_ID]), MARKER, KEY, named)
    assert said.value.message == f"the table follows {ORDERS} (table id id-1), not {named}"


@pytest.mark.parametrize(
    ("found", "error"),
    [
        pytest.param([OF_CUSTOMERS], OtherTable, id="another table"),
        pytest.param([OF_CUSTOMERS, OF_ANOTHER_ID], OtherTableId, id="the table before it was created anew"),
    ],
)
def test_a_folder_with_exports_of_others_only_is_refused(found, error):
    with pytest.raises(error):
        exports_to_follow(FoundExports(found), MARKER, KEY, "")
