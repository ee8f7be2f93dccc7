"""The independent reader: what PyIceberg makes of a file's columns, with the nulls that it loses."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyiceberg.io import pyarrow as arrow_io
from pyiceberg.schema import Schema
from pyiceberg.types import ListType, MapType, NestedField, StringType, StructType

from local.reader import nulls_kept

INSIDE = StructType(NestedField(9, "x", StringType(), required=False))
LIST = ListType(3, INSIDE, element_required=False)


@pytest.mark.parametrize(
    ("type_", "held"),
    [
        pytest.param(LIST, [{"x": "a"}, {"x": None}, None], id="list of structs"),
        pytest.param(MapType(3, StringType(), 4, INSIDE, value_required=False), [("a", {"x": "b"})], id="map"),
        pytest.param(ListType(2, LIST, element_required=False), [None, [{"x": "a"}], []], id="list of lists"),
        pytest.param(ListType(3, StringType(), element_required=False), ["a", None], id="list of texts"),
    ],
)
def test_null_is_read_as_null_and_empty_as_empty(type_, held):
    schema = Schema(NestedField(1, "found", type_, required=False))
    written = [held, None, held, [], None, held]
    whole = pa.record_batch({"found": pa.array(written, arrow_io.schema_to_pyarrow(schema).field("found").type)})
    with nulls_kept():
        for batch, expected in ((whole, written), (whole.slice(1, 4), written[1:5])):
            assert arrow_io._to_requested_schema(schema, schema, batch)["found"].to_pylist() == expected


def test_pyiceberg_reads_as_it_does_by_itself_once_our_reading_has_ended():
    its_own = arrow_io.ArrowProjectionVisitor
    with nulls_kept():
        ours = arrow_io.ArrowProjectionVisitor
    assert (its_own.__module__, ours.__module__) == (arrow_io.__name__, nulls_kept.__module__)
    assert arrow_io.ArrowProjectionVisitor is its_own
