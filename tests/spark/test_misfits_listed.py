"""The misfits that a report lists: kinds of them, the most frequent first, and of very many no more than a person reads."""

from __future__ import annotations

import pytest

from tests.spark.sample_items import N, S, item

pytestmark = pytest.mark.spark


def test_of_very_many_kinds_the_most_frequent_are_listed_with_their_least_key(shop):
    source, names = shop(), [f"x{n:02}" for n in range(60)]
    source.put(1, *(item(pk, **dict.fromkeys(names, N)) for pk in "abc"))
    source.load(5)
    source.put(6, item("b", **dict.fromkeys(names, S)), item("c", **dict.fromkeys(names[-5:], S)))
    report = source.merge(5, 20)
    assert report["counts"]["misfits"] == 65
    often = [{"path": f"/{name}", "type": "S", "count": 2, "example": '{"pk":"b"}'} for name in names[-5:]]
    rarely = [{"path": f"/{name}", "type": "S", "count": 1, "example": '{"pk":"b"}'} for name in names[:45]]
    assert report["misfits"] == often + rarely


def test_elements_of_a_list_are_one_path_and_members_of_a_map_in_another_that_is_called_alike_are_not(shop):
    source = shop()

    def of(pk, rows, numbers, inside):
        return item(pk, rows={"L": rows}, l={"L": numbers}, m={"M": {"l": {"M": {"x": inside}}}})

    source.put(1, *(of(pk, [{"L": [N]}], [N], N) for pk in "abc"))
    source.load(5)
    source.put(6, of("b", [{"L": [N, S, S]}, {"L": [S]}], [N, S, S], S))
    told = {found["path"]: found["count"] for found in source.merge(5, 20)["misfits"]}
    assert told == {"/l/*": 2, "/m/l/x": 1, "/rows/*/*": 3}
    assert source.differences(20) == []
