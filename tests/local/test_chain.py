"""Which exports of a folder a replay applies, and what it refuses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from local.chain import chain_for
from local.found_exports import FoundExport
from pipeline.errors import Gap, ManifestUnreadable, OtherTable, OtherTableId, Overlap
from pipeline.exports.manifests import ExportManifest
from pipeline.exports.windows import ExportWindow
from pipeline.identity import KeyAttribute, SourceTable

SOURCE = SourceTable("arn:aws:dynamodb:eu-west-1:111122223333:table/orders", "id-1", (KeyAttribute("pk", "S"),))


def at(clock: str) -> datetime:
    hour, minute = map(int, clock.split(":"))
    return datetime(2026, 11, 1, tzinfo=UTC) + timedelta(hours=hour, minutes=minute)


def full(clock: str, arn: str = SOURCE.arn, table_id: str = SOURCE.id) -> FoundExport:
    return FoundExport(
        f"full-{clock}", ExportManifest(f"full {clock}", arn, table_id, "b", 0, 0, at(clock), None, "files")
    )


def window(start: str, end: str) -> FoundExport:
    covered = ExportWindow(at(start), at(end))
    name = f"{start}-{end}"
    return FoundExport(name, ExportManifest(name, SOURCE.arn, SOURCE.id, "b", 0, 0, None, covered, "files"))


def uris(exports, watermark=None):
    chain = chain_for(exports, SOURCE, at(watermark) if watermark else None)
    return ([chain.base.uri] if chain.base else []) + [export.uri for export in chain.windows]


@pytest.mark.parametrize(
    ("exports", "watermark", "expected"),
    [
        pytest.param([full("1:00")], None, ["full-1:00"], id="a full export alone"),
        pytest.param(
            [window("2:00", "3:00"), full("1:00"), window("1:00", "2:00")],
            None,
            ["full-1:00", "1:00-2:00", "2:00-3:00"],
            id="windows in their order, whatever the folder's",
        ),
        pytest.param([full("1:00"), window("1:00", "2:00")], "2:00", [], id="everything applied already"),
        pytest.param(
            [full("1:00"), window("1:00", "2:00"), window("2:00", "3:00")], "2:00", ["2:00-3:00"], id="only what is new"
        ),
        pytest.param(
            [full("1:00"), window("1:00", "2:00"), full("5:00"), window("5:00", "6:00")],
            "2:00",
            ["full-5:00", "5:00-6:00"],
            id="a rebuild after a stretch that no window covers",
        ),
        pytest.param(
            [full("1:00"), window("1:00", "2:00"), full("1:30"), window("2:00", "3:00")],
            "1:00",
            ["1:00-2:00", "2:00-3:00"],
            id="windows that lead past a later full export need it not",
        ),
        pytest.param(
            [full("1:00"), window("1:00", "2:00"), full("2:00")],
            "1:00",
            ["1:00-2:00"],
            id="nor do those that lead as far",
        ),
        pytest.param(
            [full("1:00"), window("1:00", "2:00"), full("1:30"), window("2:00", "3:00")],
            None,
            ["full-1:00", "1:00-2:00", "2:00-3:00"],
            id="where there is no table either",
        ),
        pytest.param(
            [full("1:00"), window("1:00", "2:00"), full("2:00"), window("2:00", "3:00")],
            None,
            ["full-2:00", "2:00-3:00"],
            id="of full exports that lead as far the newest",
        ),
        pytest.param(
            [full("1:00"), window("1:00", "2:00"), full("1:30"), window("1:30", "3:00")],
            "1:00",
            ["full-1:30", "1:30-3:00"],
            id="a rebuild that leads further than the windows",
        ),
        pytest.param(
            [full("1:00"), window("1:00", "2:00"), window("1:00", "3:00")],
            None,
            ["full-1:00", "1:00-3:00"],
            id="the same stretch exported twice: the longer way is taken",
        ),
        pytest.param(
            [full("1:00"), window("1:00", "2:00"), window("1:20", "2:00")],
            None,
            ["full-1:00", "1:00-2:00"],
            id="a backfill inside the chain adds nothing",
        ),
    ],
)
def test_the_chain_holds_what_is_new_in_order(exports, watermark, expected):
    assert uris(exports, watermark) == expected


@pytest.mark.parametrize(
    ("exports", "watermark", "error"),
    [
        pytest.param(
            [full("1:00"), window("1:30", "2:30")], None, Gap, id="the first window starts after the full export"
        ),
        pytest.param(
            [full("1:00"), window("1:00", "2:00"), window("2:30", "3:00")], None, Gap, id="a hole between windows"
        ),
        pytest.param([window("3:00", "4:00")], "2:00", Gap, id="a hole after the watermark"),
        pytest.param(
            [full("1:00"), window("0:45", "2:00")], None, Overlap, id="a window that begins before the full export"
        ),
        pytest.param(
            [full("1:00"), window("1:00", "2:00"), window("1:45", "3:00")], None, Overlap, id="windows that overlap"
        ),
        pytest.param(
            [full("1:00"), window("1:00", "3:00")],
            "2:00",
            Overlap,
            id="a full export of before is no way past the watermark",
        ),
        pytest.param([window("1:00", "2:00")], None, ManifestUnreadable, id="no full export and no table"),
        pytest.param([full("1:00", arn=SOURCE.arn + "-2")], None, OtherTable, id="another source table"),
        pytest.param([full("1:00", table_id="id-2")], None, OtherTableId, id="a source table created anew"),
    ],
)
def test_what_is_no_chain_is_refused_by_name(exports, watermark, error):
    with pytest.raises(error):
        uris(exports, watermark)
