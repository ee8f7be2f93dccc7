"""Attributes that items no longer have are told where old images are compared: which, how many items, the key of one."""

from __future__ import annotations

import pytest

from pipeline.columns.overrides import Overrides
from tests.spark.overriding import SECRET
from tests.spark.sample_items import N, S, item
from tests.spark.shop import NEW_ONLY

pytestmark = pytest.mark.spark

NULL = {"NULL": True}


def loaded(shop, **more):
    source = shop(**{"compare_old_images": True, **more})
    source.put(1, *(item(pk, v=N, note=S, empty=NULL) for pk in "abcdefg"), item("c", v=N, note=S, **{"a/b": S}))
    source.load(5)
    source.put(6, item("a", v=N), item("b", v=S, note=S), item("c", v=N, note=NULL), item("new", v=N))
    source.put(7, item("d", v=N), item("e", v=N))
    source.put(22, item("d", v=N, note=N), item("f"), item("g", v=N))
    source.delete(23, item("g"))
    return source


@pytest.mark.parametrize("odd", [N, S], ids=["all as it was", "something odd"])
def test_what_items_had_before_a_stretch_and_have_no_more_is_told(shop, odd):
    source = loaded(shop)
    source.put(8, item("b", v=odd, note=S))
    report = source.merge(5, 20, 35)
    # Of `d` the note came back, as a number; `f` has lost everything, `g` is gone as a whole.
    assert report["removed_attributes"] == [
        {"path": "/note", "count": 4, "example": '{"pk":"a"}'},
        {"path": "/a~1b", "count": 1, "example": '{"pk":"c"}'},
        {"path": "/v", "count": 1, "example": '{"pk":"f"}'},
    ]
    assert source.differences(35) == []
    assert source.merge(35, 50)["removed_attributes"] == []


def test_what_is_dropped_is_told_of_nowhere_and_a_hash_is_there(shop):
    said = Overrides.parse({"note": {"drop": True}, "v": {"hash": True}})
    report = loaded(shop, columns=said, secret=SECRET).merge(5, 20, 35)
    assert [one["path"] for one in report["removed_attributes"]] == ["/a~1b", "/v"]


@pytest.mark.parametrize("given", [{"view": NEW_ONLY}, {"compare_old_images": False}])
def test_without_old_images_and_where_they_are_not_compared_nothing_is_told_of_it(shop, given):
    assert loaded(shop, **given).merge(5, 20, 35)["removed_attributes"] == []
