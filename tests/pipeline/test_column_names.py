"""Column names: readable, unique, stable, and the exact attribute name kept beside them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.columns.declared.overrides import Overrides
from pipeline.columns.names import LONGEST_NAME, REPLACEMENT, RESERVED, column_names, doc_of, fits_doc
from pipeline.columns.rebuild import rebuilt
from tests.pipeline.seen import KEY, S, columns, item, profile


@pytest.mark.parametrize(
    ("attribute", "name"),
    [
        pytest.param("status", "status", id="what is fine stays"),
        pytest.param("customerId", "customerid", id="engines fold names to lower case"),
        pytest.param("Passenger ID", "passenger_id", id="a space"),
        pytest.param("a.b-c:d", "a_b_c_d", id="dots and dashes"),
        pytest.param("Crème", "creme", id="an accent drops"),
        pytest.param("2026", "2026", id="a leading digit"),
        pytest.param("select", "select", id="a reserved word"),
        pytest.param("'; DROP TABLE x --", "_drop_table_x_", id="SQL"),
        pytest.param("😀", "attribute", id="nothing readable"),
        pytest.param("_misfits", "_misfits_2", id="one of our own"),
        pytest.param("_file", "_file_2", id="one that Iceberg gives every table"),
        pytest.param("x" * 300, "x" * LONGEST_NAME, id="too long"),
    ],
)
def test_an_attribute_gets_a_readable_name(attribute, name):
    assert column_names([attribute], {}, RESERVED) == {attribute: name}


def test_names_that_read_alike_get_suffixes_whatever_order_they_come_in():
    expected = {"A b": "a_b", "a b": "a_b_2", "a.b": "a_b_3"}
    assert column_names(["a.b", "A b", "a b"], {}) == expected
    assert column_names(["a b", "a.b", "A b"], {}) == expected


def test_names_that_are_one_in_parquet_files_get_suffixes():
    assert column_names(["1", "_1", "#1"], {}) == {"#1": "_1", "1": "1_2", "_1": "_1_3"}
    assert column_names(["1"], {"x": "_1"}) == {"1": "1_2"}


def test_names_that_differ_by_case_only_are_one_to_readers():
    assert column_names(["price", "Tax"], {"total": "Price"}, ["TAX"]) == {"Tax": "tax_2", "price": "price_2"}


def test_a_name_once_given_stays_and_newcomers_go_beside_it():
    assert column_names(["ID", "id"], {"id": "id"}) == {"ID": "id_2", "id": "id"}


@given(st.lists(st.text(min_size=1, max_size=300), unique=True, max_size=30))
def test_names_are_unique_and_what_every_engine_takes(attributes):
    names = column_names(attributes, {}, RESERVED)
    assert set(names) == set(attributes)
    assert len({*names.values(), *RESERVED}) == len(names) + len(RESERVED)
    assert all(re.fullmatch(r"[a-z0-9_]{1,251}", name) for name in names.values())


def test_a_name_leaves_room_for_what_its_replacement_is_called():
    names = column_names(["x" * 300, "X" * 300, "x" * 252], {})
    assert {len(name) for name in names.values()} == {251}
    assert {len(name + REPLACEMENT) for name in names.values()} == {255}, "what Glue takes"


@given(st.text(min_size=1, max_size=400))
def test_a_comment_is_the_exact_name_or_a_form_of_it_that_glue_takes(attribute):
    doc = doc_of(attribute)
    assert fits_doc(doc)
    assert doc == attribute or not fits_doc(attribute)


@pytest.mark.parametrize("attribute", ["two\nlines", "x" * 256, "é" * 128, "bell\x07", "\ufffe"])
def test_what_a_comment_cannot_hold_is_known(attribute):
    assert not fits_doc(attribute)


@pytest.mark.parametrize("attribute", ["tab\tinside", "x" * 255, "é" * 127, "😀", "a.b 'c' \"d\" `e`"])
def test_what_a_comment_can_hold_is_known(attribute):
    assert fits_doc(attribute)


def test_what_readers_take_for_a_column_that_goes_is_written_under_a_name_of_its_own_until_then():
    said = Overrides.parse({"1": {"name": "first"}, "v": {"name": "_1"}})
    target = rebuilt(columns(item(**{"1": S, "w": S})), KEY, profile(item(**{"1": S, "v": S})), said)
    assert [field.name for field in target.written.attributes] == ["first#new", "w", "_1#new"]
    assert (target.removed, target.replaced) == ({"1"}, {"first", "_1"})
