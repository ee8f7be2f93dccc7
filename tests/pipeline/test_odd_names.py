"""Names that a person has given to columns: those that no job can carry are refused, and a full export makes them readable."""

from __future__ import annotations

import pytest

from pipeline.columns.declared.overrides import NO_OVERRIDES
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.override_checks import check_followed
from pipeline.columns.profile import Profile
from pipeline.columns.rebuild import Target, rebuilt
from pipeline.columns.types import LONG, TEXT, ColumnType, Field, Kind
from pipeline.errors import OverrideContradicted, RebuildNeeded
from pipeline.identity import KeyAttribute

PK, KEY = Field("pk", "pk", TEXT), (KeyAttribute("pk", "S"),)


def holding(name: str) -> Field:
    """A list of structs with a field of that name."""
    struct = ColumnType(Kind.STRUCT, fields=(Field("In", name, TEXT), Field("w", "in", TEXT)))
    return Field("l", "l", ColumnType(Kind.LIST, element=struct))


@pytest.mark.parametrize(
    ("odd", "readable"),
    [
        pytest.param(Field("Total", "a.b", TEXT), Field("Total", "total", TEXT), id="a dot"),
        pytest.param(Field("Total", "#odd", TEXT), Field("Total", "total", TEXT), id="as a job's own"),
        pytest.param(Field("V", "a`b", TEXT), Field("V", "v_2", TEXT), id="a quote, and a readable name that is taken"),
        pytest.param(holding("a`b"), holding("in_2"), id="a quote inside"),
        pytest.param(Field("Total", "_file", TEXT), Field("Total", "total", TEXT), id="as engines do"),
        pytest.param(Field("", "x.y", TEXT), Field("", "x_y", TEXT), id="of a column that holds no attribute"),
    ],
)
def test_a_name_that_no_job_can_carry_is_refused_and_a_full_export_gives_a_readable_one(odd, readable):
    before = Columns((PK,), (Field("v", "v", TEXT), odd))
    with pytest.raises(RebuildNeeded, match=r"the column of '(Total|V|In|x\.y)'") as refused:
        check_followed(before, NO_OVERRIDES)
    assert "RENAME COLUMN" in refused.value.remedy
    target = rebuilt(before, KEY, Profile())
    assert target.columns.attributes == (before.attributes[0], readable)
    assert (target.removed, target.replaced) == ({odd.name}, {readable.name})
    check_followed(target.columns, NO_OVERRIDES)


@pytest.mark.parametrize("name", ["Mine", "the total", "größe", "it's"])
def test_any_other_name_is_a_persons_to_give(name):
    before = Columns((PK,), (Field("v", name, TEXT), holding("a.b")))
    check_followed(before, NO_OVERRIDES)
    assert rebuilt(before, KEY, Profile()).columns == before


def test_another_name_of_the_key_makes_a_new_table():
    before = Columns((Field("pk", "k.k", TEXT),), (Field("v", "v", TEXT),), frozenset({"pk_bucket"}))
    target = rebuilt(
        before, KEY, Profile(), fixed=frozenset({"k.k", "v"})
    )  # a load finds the key among what stays, always
    assert (target.columns.key, target.columns.attributes) == ((PK,), before.attributes)
    assert target.replaces_key


def test_what_no_full_export_can_rename_is_for_a_person_to_rename():
    before = Columns((PK,), (Field("v", "a.b", TEXT),))
    with pytest.raises(RebuildNeeded, match=r"the column of 'v' 'a\.b'") as refused:
        rebuilt(before, KEY, Profile(), fixed=frozenset({"pk", "a.b"}))
    assert "partitioned or sorted by it" in refused.value.remedy


def test_a_column_in_capitals_that_readers_take_for_the_products_own_gets_another_name_by_a_full_export():
    before = Columns(
        (PK,), (Field("", "_Misfits", TEXT), Field("Pk_Bucket", "Pk_Bucket", TEXT)), frozenset({"pk_bucket"})
    )
    check_followed(before, NO_OVERRIDES)
    assert [field.name for field in rebuilt(before, KEY, Profile()).columns.attributes] == ["_misfits_2", "pk_bucket_2"]


def test_a_name_in_capitals_stays_where_the_table_is_sorted_by_the_column():
    before = Columns((PK,), (Field("v", "State", TEXT), Field("w", "state", TEXT)))
    assert rebuilt(before, KEY, Profile(), fixed=frozenset({"State"})).columns == before
    assert [field.name for field in rebuilt(before, KEY, Profile()).columns.attributes] == ["v", "state"]


@pytest.mark.parametrize("all_seen", [True, False])
def test_columns_that_hold_no_attribute_stay_each_what_it_is(all_seen):
    own = (Field("", "price", TEXT), Field("", "amount", LONG), Field("", "notes", ColumnType(Kind.LIST, element=TEXT)))
    before = Columns((PK,), (Field("v", "v", TEXT), *own))
    assert rebuilt(before, KEY, Profile(), all_seen=all_seen) == Target(before)


def test_of_columns_that_hold_no_attribute_each_is_replaced_that_changes():
    foreign = Field("on", "on", ColumnType(Kind.OTHER))
    with_dates = ColumnType(Kind.STRUCT, fields=(foreign, Field("t", "t", TEXT)))
    dates = ColumnType(Kind.STRUCT, fields=(foreign,))
    own = [("x.y", TEXT), ("dates", dates), ("mine", with_dates), ("z.w", TEXT), ("stays", LONG)]
    before = Columns((PK,), tuple(Field("", name, type_) for name, type_ in own))
    target = rebuilt(before, KEY, Profile())
    assert [field.name for field in target.columns.attributes] == ["x_y", "mine", "z_w", "stays"]
    assert target.replaced == {"x_y", "mine", "z_w"}
    assert target.removed == {"x.y", "dates", "mine", "z.w"}


def test_a_column_that_holds_no_attribute_never_gets_the_name_of_one_that_it_is_called_like():
    before = Columns((PK,), (Field("a.b", "x.y", TEXT), Field("", "a.b", TEXT)))
    target = rebuilt(before, KEY, Profile())
    assert target.columns.attributes == (Field("a.b", "a_b", TEXT), Field("", "a_b_2", TEXT))
    assert target.replaced == {"a_b", "a_b_2"}


@pytest.mark.parametrize(
    ("attribute", "own", "taken"),
    [("a", [Field("", "_1", TEXT)], []), ("", [Field("", "_1", TEXT)], []), ("a", [], ["_1"])],
)
def test_a_column_that_holds_no_attribute_and_is_one_with_another_in_files_is_a_persons_to_rename(
    attribute, own, taken
):
    before = Columns((PK,), (Field(attribute, "1", TEXT), *own), frozenset(taken))
    for refusal, check in (
        (RebuildNeeded, lambda: check_followed(before, NO_OVERRIDES)),
        (OverrideContradicted, lambda: rebuilt(before, KEY, Profile())),
    ):
        with pytest.raises(refusal, match="'1' and '_1'") as refused:
            check()
        which = "_1" if attribute else "1"
        assert (
            refused.value.remedy
            == f"Give somebody's own column {which!r} another name (ALTER TABLE ... RENAME COLUMN)."
        )
