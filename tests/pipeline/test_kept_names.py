"""The names that a replaced table gives to no other type."""

from __future__ import annotations

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.columns.growth import first_columns
from pipeline.columns.in_table.kept_names import kept_names
from pipeline.columns.rebuild import rebuilt
from pipeline.columns.types import LONG, TEXT, Kind
from pipeline.errors import OverrideContradicted
from pipeline.identity import KeyAttribute
from tests.pipeline.seen import N, S, profile

ID = (KeyAttribute("id", "S"),)
STRUCT = {"type": "struct", "fields": [{"id": 3, "name": "zip", "type": "string"}]}


def partitioned(*transforms: str, source: int = 1, sorted_by: str = "") -> dict:
    """A table with the columns ``was`` and ``inside``, and specs by these transforms of one of them."""
    specs = [
        {"spec-id": i, "fields": [{"name": f"part{i}", "transform": transform, "source-id": source}]}
        for i, transform in enumerate(transforms)
    ]
    order = {"order-id": 1, "fields": [{"transform": sorted_by, "source-id": source}] if sorted_by else []}
    columns = [{"id": 1, "name": "was", "type": "string"}, {"id": 2, "name": "inside", "type": STRUCT}]
    schema = {"schema-id": 0, "fields": columns}
    return {"schemas": [schema], "current-schema-id": 0, "partition-specs": specs, "sort-orders": [order]}


def named(kept, **attributes) -> dict[str, str]:
    """The names of attributes in a table that replaces one which keeps these."""
    found = first_columns(ID, profile({"id": S, **attributes}), kept=kept)
    return {field.attribute: field.name for field in found.attributes}


@pytest.mark.parametrize(
    ("transform", "type_", "value", "name"),
    [
        ("identity", "long", {"N": "1"}, "was"),
        ("identity", "long", {"N": "1.5"}, "was_2"),
        ("identity", "long", S, "was_2"),
        ("truncate[2]", "binary", {"B": b"x"}, "was"),
        ("truncate[2]", "binary", S, "was_2"),
        ("void", "boolean", {"BOOL": True}, "was"),
        ("void", "boolean", S, "was_2"),
        ("identity", "string", {"N": "9" * 40}, "was"),
        ("bucket[4]", "string", {"N": "9" * 40}, "was"),
        ("bucket[4]", "string", {"B": b"x"}, "was"),
    ],
)
def test_what_partitions_were_made_of_keeps_its_name_where_it_is_of_the_type_that_they_have(
    transform, type_, value, name
):
    metadata = partitioned(transform)
    metadata["schemas"][0]["fields"][0]["type"] = type_
    assert named(kept_names(metadata), was=value) == {"was": name}


@pytest.mark.parametrize(
    ("metadata", "value", "name"),
    [
        ({}, {"L": [S]}, "was"),
        (partitioned(), {"L": [S]}, "was"),
        (partitioned("bucket[4]"), S, "was"),
        (partitioned("bucket[4]"), {"N": "1.5"}, "was"),
        (partitioned("bucket[4]"), {"BOOL": True}, "was_2"),
        (partitioned("bucket[4]"), {"L": [S]}, "was_2"),
        (partitioned("identity"), {"BOOL": True}, "was_2"),
        (partitioned("identity"), S, "was"),
        (partitioned("identity"), {"M": {"a": S}}, "was_2"),
        (partitioned("identity", "truncate[2]"), {"BOOL": True}, "was_2"),
        (partitioned("bucket[4]", "identity"), S, "was"),
        (partitioned("bucket[4]", "identity"), {"N": "1"}, "was_2"),
        (partitioned("identity", "bucket[4]"), {"N": "1"}, "was_2"),
        (partitioned("identity", source=9), {"BOOL": True}, "was"),
        (partitioned("day"), S, "was_2"),
        (partitioned(sorted_by="bucket[4]"), {"SS": ["x"]}, "was_2"),
    ],
)
def test_an_attribute_has_the_name_that_partitions_were_made_of_only_where_they_can_be_made_of_it(
    metadata, value, name
):
    assert named(kept_names(metadata), was=value) == {"was": name}


def test_so_it_is_with_a_column_that_holds_what_partitions_were_made_of():
    for transform in ("bucket[4]", "identity"):
        kept = kept_names(partitioned(transform, source=3))
        assert named(kept, inside={"M": {"zip": {"L": [S]}}}, was={"L": [S]}) == {"inside": "inside_2", "was": "was"}


def test_a_name_of_partitions_is_no_column_s():
    assert named(kept_names(partitioned("bucket[4]")), part0=S, part1=S) == {"part0": "part0_2", "part1": "part1"}


def test_a_name_that_is_given_instead_is_none_that_is_kept_either():
    metadata = partitioned("bucket[4]")
    metadata["partition-specs"][0]["fields"][0]["name"] = "was_2"
    assert named(kept_names(metadata), was={"L": [S]}) == {"was": "was_3"}


def test_of_attributes_that_read_alike_none_has_such_a_name():
    found = named(kept_names(partitioned("bucket[4]")), Was={"L": [S]}, was=S)
    assert found == {"Was": "was_2", "was": "was_3"}


def test_a_declared_name_that_the_table_cannot_have_is_refused():
    said = Overrides.parse({"tags": {"name": "was"}})
    with pytest.raises(OverrideContradicted, match="'was' is declared for the attribute 'tags', of the kind list"):
        first_columns(ID, profile({"id": S, "tags": {"L": [S]}}), said, kept_names(partitioned("bucket[4]")))


def test_a_table_that_is_replaced_whole_keeps_the_type_of_what_partitions_were_made_of_and_one_that_stays_need_not():
    before, kept = first_columns(ID, profile({"id": S, "was": S})), kept_names(partitioned("bucket[4]"))
    now = profile({"id": S, "was": {"L": [S]}})
    stays = rebuilt(before, ID, now, kept=kept)
    assert (stays.replaced, stays.replaces_key, stays.columns.types["was"].kind) == ({"was"}, False, Kind.LIST)
    whole = rebuilt(before, (KeyAttribute("id", "N"),), now, kept=kept)
    assert (whole.replaced, whole.replaces_key, whole.columns.types["was"]) == ({"id"}, True, TEXT)
    before, now = first_columns(ID, profile({"id": S, "was": S, "n": N})), profile({"id": S, "was": {"L": [S]}, "n": S})
    sorted_too = rebuilt(before, (KeyAttribute("id", "N"),), now, fixed={"n"}, kept=kept)
    assert (sorted_too.columns.types["was"], sorted_too.columns.types["n"]) == (TEXT, LONG)
    said = Overrides.parse({"new": {"name": "part0"}})
    with pytest.raises(OverrideContradicted, match="'part0' is declared for the attribute 'new'"):
        rebuilt(before, (KeyAttribute("id", "N"),), profile({"id": S, "new": S}), said, kept=kept)


def lines(type_: dict) -> dict:
    """A table with one column."""
    return {**partitioned(), "schemas": [{"schema-id": 0, "fields": [{"id": 1, "name": "lines", "type": type_}]}]}


def inside(id_: int, name: str, type_) -> dict:
    """A struct of one field."""
    return {"type": "struct", "fields": [{"id": id_, "name": name, "type": type_}]}


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        # What Iceberg calls lines.x besides is lines.element.x.
        (inside(3, "x", "string"), {"M": {"x": S, "element": {"M": {"x": S}}}}, "lines_2"),
        (inside(3, "x", "string"), {"M": {"x": S, "element": S}}, "lines"),
        (
            inside(3, "element", inside(4, "x", "string")),
            {"L": [{"M": {"x": S, "element": {"M": {"x": S}}}}]},
            "lines_2",
        ),
        (inside(3, "element", inside(4, "x", "string")), {"L": [{"M": {"element": {"M": {"x": S}}}}]}, "lines"),
        ("string", {"L": [{"M": {"element": {"M": {"x": S}}, "x": S}}]}, "lines"),
    ],
)
def test_a_column_of_which_two_fields_would_be_one_to_the_table_before_gets_another_name(before, after, name):
    kept = kept_names(lines({"type": "list", "element-id": 2, "element": before}))
    assert named(kept, lines=after) == {"lines": name}


def test_a_name_is_refused_under_which_two_fields_would_be_one():
    kept = kept_names(lines({"type": "list", "element-id": 2, "element": inside(3, "x", "string")}))
    said = Overrides.parse({"/lines": {"name": "lines"}})
    seen = profile({"id": S, "lines": {"M": {"x": S, "element": {"M": {"x": S}}}}})
    with pytest.raises(OverrideContradicted, match="what Iceberg takes for two fields of it"):
        first_columns(ID, seen, said, kept)


def test_a_column_that_is_there_does_not_grow_by_a_field_that_would_be_another_to_the_table_before():
    inner = {"element": {"M": {"x": S}}}
    before = first_columns(ID, profile({"id": S, "lines": {"L": [{"M": inner}]}}))
    seen = profile({"id": S, "lines": {"L": [{"M": {**inner, "x": S, "y": S}}]}, "new": S})
    kept = kept_names(
        lines({"type": "list", "element-id": 2, "element": inside(3, "element", inside(4, "x", "string"))})
    )
    whole = rebuilt(before, (KeyAttribute("id", "N"),), seen, kept=kept)
    assert whole.columns.attributes[0] == before.attributes[0]
    assert [field.name for field in whole.columns.attributes] == ["lines", "new"]
