"""No false alarms: items of any shape, after growth, misfits and a rebuild, are found equal to their rows."""

from __future__ import annotations

import random

import pytest

from local.aws.pitr.offline import FullExport
from spark.job import run
from tests.spark.shop import minute

pytestmark = pytest.mark.spark


def verify(s, at):
    (export,) = s.export(FullExport(minute(at)))
    return run(s.spark, s.order("verify", [export], minute(at), minute(at)))


class Attributes:
    """Items of any shape, that grow, change their types and hold what no column takes."""

    def __init__(self, seed):
        self.random = random.Random(seed)  # noqa: S311  # test data, not a secret

    def item(self, pk, names):
        chosen = [name for name in names if self.random.random() < 0.6]
        return {"pk": {"S": pk}, **{name: self.value(name, 0) for name in chosen}}

    def value(self, name, depth):
        r = self.random
        usual = {"n": "N", "s": "S", "l": "L", "m": "M", "x": r.choice("NSLM")}.get(name[0], r.choice("NSLM"))
        kind = r.choice(["N", "S", "BOOL", "NULL", "SS", "NS", "BS", "B", "L", "M"]) if r.random() < 0.08 else usual
        if kind in "LM" and depth > 3:
            kind = "S"
        made = {
            "N": lambda: r.choice(
                ["1", "-7", "12.50", "0.001", "1" + "0" * 40, "123456789012345678901234567890.12345678"]
            ),
            "S": lambda: r.choice(["", "x", 'q"u\\o', "/a~b", "[1,2]", "true", "ä🙂", '":{}']),
            "BOOL": lambda: r.random() < 0.5,
            "NULL": lambda: True,
            "SS": lambda: sorted({r.choice("abcdef") for _ in range(3)}),
            "NS": lambda: sorted({str(r.randrange(50)) for _ in range(3)}),
            "BS": lambda: [r.randbytes(2)],
            "B": lambda: r.randbytes(3),
            "L": lambda: [self.value(r.choice(["n", "n", "m", "s", "x"]), depth + 1) for _ in range(r.randrange(4))],
            "M": lambda: {
                k: self.value(k, depth + 1) for k in r.sample(["n1", "s/1", "m~1", "l1", "x1"], r.randrange(4))
            },
        }[kind]()
        return {kind: made}


def test_no_false_alarm_after_growth_retyping_and_misfits(shop):
    s, made = shop(), Attributes(seed=1)
    early = ["n one", "s.two", "l3", "m4"]
    s.put(1, *(made.item(f"k{n}", early) for n in range(20)))
    s.load(5)
    for round_, names in enumerate([[*early, "x5", "m6"], [*early, "x5", "m6", "l7", "n8", "x9"]]):
        at = 6 + 15 * round_
        s.put(at, *(made.item(f"k{made.random.randrange(30)}", names) for _ in range(15)))
        s.delete(at + 1, {"pk": {"S": f"k{made.random.randrange(20)}"}})
        s.merge(5 + 15 * round_, 20 + 15 * round_)
    assert s.differences(35) == []
    assert verify(s, 35)["result"] == "0 differences"
    assert s.load(35)["outcome"] == "committed"
    assert verify(s, 35)["result"] == "0 differences"
