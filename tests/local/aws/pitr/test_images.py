"""Images: equal items are equal texts, and every value survives."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.aws.pitr.images import full_export_form, image_of, key_of, plain_number, stored_form
from local.aws.pitr.ion import ion_change, ion_item

TEXT = st.text(max_size=5)
SCALARS = st.one_of(
    st.builds(lambda text: {"S": text}, TEXT),
    st.builds(lambda number: {"N": str(number)}, st.integers()),
    st.just({"B": "AAEC"}),
    st.builds(lambda flag: {"BOOL": flag}, st.booleans()),
    st.just({"NULL": True}),
    st.builds(lambda texts: {"SS": texts}, st.lists(TEXT, min_size=1, unique=True)),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.builds(lambda members: {"M": members}, st.dictionaries(TEXT, inner, max_size=3)),
        st.builds(lambda elements: {"L": elements}, st.lists(inner, max_size=3)),
    ),
    max_leaves=8,
)
ITEMS = st.dictionaries(TEXT.filter(lambda name: name != "pk"), VALUES, max_size=4).map(
    lambda attributes: {"pk": {"S": "1"}, **attributes}
)


def comparable(value):
    """The value with its sets in order."""
    if isinstance(value, dict):
        return {name: sorted(inner) if name == "SS" else comparable(inner) for name, inner in value.items()}
    return [comparable(inner) for inner in value] if isinstance(value, list) else value


@given(ITEMS)
def test_every_value_survives_in_both_forms(item):
    image = image_of(item)
    assert comparable(json.loads(image)) == comparable(item)
    assert comparable(json.loads(full_export_form(image, ["pk"]))) == comparable(item)


@given(ITEMS, st.randoms())
def test_equal_items_have_equal_images(item, random):
    names = list(item)
    random.shuffle(names)
    assert image_of({name: item[name] for name in names}) == image_of(item)
    assert image_of({"s": {"SS": ["a", "b", "c"]}}) == image_of({"s": {"SS": ["c", "a", "b"]}})


def test_incremental_images_are_alphabetical_and_full_items_have_their_keys_first_and_the_rest_unsorted():
    item = {"zeta": {"S": "1"}, "sk": {"N": "3"}, "pk": {"S": "1"}, "alpha": {"S": "2"}, "mid": {"S": "3"}}
    image = image_of(item)
    assert list(json.loads(image)) == ["alpha", "mid", "pk", "sk", "zeta"]
    full = list(json.loads(full_export_form(image, ["pk", "sk"])))
    assert full[:2] == ["pk", "sk"]
    assert full[2:] not in (sorted(full[2:]), ["zeta", "alpha", "mid"])


def test_text_is_utf_8_as_it_is():
    assert image_of({"name": {"S": 'São "Paulo" 😀\n'}}) == '{"name":{"S":"São \\"Paulo\\" 😀\\n"}}'


def test_a_key_is_its_attributes_partition_key_first():
    assert key_of({"x": {"S": "x"}, "a": {"N": "1"}, "z": {"S": "p"}}, ["z", "a"]) == '{"z":{"S":"p"},"a":{"N":"1"}}'


@pytest.mark.parametrize(
    ("given_text", "stored"),
    [
        ("1000", "1000"),
        ("1e3", "1000"),
        ("+1.50", "1.5"),
        ("-0", "0"),
        ("0.00", "0"),
        (".5", "0.5"),
        ("007", "7"),
        ("-1.0", "-1"),
        ("1e-20", "0." + "0" * 19 + "1"),
        ("1e125", "1" + "0" * 125),
        ("1E-130", "0." + "0" * 129 + "1"),
        ("9" * 38, "9" * 38),
        ("9." + "9" * 37 + "E+125", "9" * 38 + "0" * 88),
    ],
)
def test_numbers_are_plain_decimals(given_text, stored):
    assert plain_number(given_text) == stored


@pytest.mark.parametrize("text", ["", "abc", "NaN", "Infinity"])
def test_what_is_not_a_number_is_refused(text):
    with pytest.raises(ValueError, match="is not a number"):
        plain_number(text)


def test_the_stored_form_normalises_at_every_depth():
    item = {"m": {"M": {"l": {"L": [{"N": "1.0"}, {"NS": ["1", "1.0", "2"]}]}}}, "s": {"SS": ["a", "a"]}}
    assert stored_form(item) == {"m": {"M": {"l": {"L": [{"N": "1"}, {"NS": ["1", "2"]}]}}}, "s": {"SS": ["a"]}}


def test_ion_lines_are_as_the_developer_guide_shows_them():
    item = {"Id": {"N": "103"}, "PageCount": {"N": "600"}, "Out": {"BOOL": False}, "Authors": {"SS": ["A", "B"]}}
    assert ion_item(item) == ('$ion_1_0 {Item:{Id:103.,PageCount:6d2,Out:false,Authors:$dynamodb_SS::["A","B"]}}')
    images = {"Keys": {"Id": {"N": "103"}}, "NewImage": {"Id": {"N": "103"}, "a b": {"B": "AAEC"}, "n": {"NULL": True}}}
    assert ion_change(1684374845117899, images) == (
        "$ion_1_0 {Record:{Keys:{Id:103.},Metadata:{WriteTimestampMicros:1684374845117899.},"
        'NewImage:{Id:103.,"a b":{{AAEC}},n:null}}}'
    )
    nested = {"m": {"M": {"l": {"L": [{"S": 'x"'}, {"N": "-1.5"}, {"N": "0"}]}}}}
    assert ion_item(nested) == '$ion_1_0 {Item:{m:{l:["x\\"",-1.5,0.]}}}'
