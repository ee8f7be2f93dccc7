"""What the user says of columns wins over the data; values to be hidden never reach the table, nor anything else."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import spark.loading.sampling
from pipeline.columns.declared.columns_file import to_file
from pipeline.columns.declared.overrides import Overrides
from pipeline.columns.item_sample import observed_items
from pipeline.errors import HashSecretUnfit, JobFailed, RebuildNeeded, SettingRefused, VerificationFailed
from spark.hiding.protection import Protection
from spark.job import run
from tests.spark.overriding import SECRET, carry_out, hashed
from tests.spark.sample_items import N, S, item, lines
from tests.spark.session import plans_in_full

pytestmark = pytest.mark.spark

PERSON = {"M": {"name": {"S": "Ada"}, "zip": {"S": "1000"}, "card.no": {"N": "42"}}}
SAID = {
    "amount": {"type": "decimal(38,2)", "name": "price"},
    "code": "string",
    "email": {"hash": True},
    "/who/card.no": {"hash": True},
    "/who/zip": {"drop": True},
    "/all/*/zip": {"drop": True},
    "/all/*/name": {"hash": True},
    "secret note": {"drop": True},
}


@pytest.fixture(scope="module")
def protected(shop):
    """A load, a merge with new shapes, and a verification of both, with every kind of override."""
    source = shop()
    source.put(
        1,
        item("a", amount=N, code=N, email={"S": "Ada@x.org"}, who=PERSON, all={"L": [PERSON, S, PERSON]}),
        {**item("b", amount={"N": "1.5"}, code=S, email={"N": "7"}), "secret note": {"S": "hide me"}},
    )
    loaded = carry_out(source, source.full(5), **SAID)
    source.put(6, {**item("c", who=S, all={"M": {"any": PERSON}}, email={"SS": ["y", "x"]}), "secret note": N})
    source.put(6, item("d", email={"NULL": True}, phone={"S": "hide me too"}))
    merged = carry_out(source, source.windows(5, 25), **SAID, phone={"hash": True})
    return source, loaded, merged


def test_types_and_names_are_as_the_user_says(protected):
    source = protected[0]
    rows = source.rows()
    assert (str(rows["a"]["price"]), str(rows["b"]["price"])) == ("1.00", "1.50")
    assert (rows["a"]["code"], rows["b"]["code"]) == ("1", "x")


def test_a_hash_is_what_anybody_with_the_secret_computes(protected):
    rows = protected[0].rows()
    assert rows["a"]["email"] == hashed('{"S":"Ada@x.org"}')
    assert rows["b"]["email"] == hashed('{"N":"7"}')
    assert rows["a"]["who"] == {"name": "Ada", "card_no": hashed('{"N":"42"}')}
    assert rows["d"]["phone"] == hashed('{"S":"hide me too"}')


def test_equal_sets_have_one_hash_and_null_has_none(protected):
    rows = protected[0].rows()
    assert (rows["c"]["email"], rows["d"]["email"]) == (hashed('{"SS":["x","y"]}'), None)


def test_types_are_decided_from_what_hiding_leaves_of_items(spark):
    said = Overrides.parse({**SAID, "phone": {"hash": True}, "/all/*/list/*": {"drop": True}})
    values = (
        N,
        S,
        {"B": "AA=="},
        {"BOOL": True},
        {"NULL": True},
        {"SS": ["a"]},
        {"NS": ["1", "2.5"]},
        {"L": [N, PERSON]},
    )
    values += (PERSON, {"L": [PERSON, {"M": {"list": {"L": [N]}, "zip": PERSON}}]}, {"M": {"any": PERSON, "zip": N}})
    values += ({"M": {"any": {"M": {"list": {"NS": ["1"]}}}}},)
    items = [{name: value} for name in ("email", "who", "all", "secret note", "phone", "other") for value in values]
    safe = Protection.of(said, SECRET).items_text(lines(spark, items), "value", "safe").select("safe").collect()
    assert observed_items(items, said) == observed_items(json.loads(row[0]) for row in safe)


def test_hidden_values_are_hidden_wherever_they_stand(protected):
    source, _, merged = protected
    rows = source.rows()
    assert "secret_note" not in rows["b"]
    shown = json.dumps(rows, default=str) + json.dumps(merged)
    assert [word for word in ("hide me", "Ada@x.org", "1000") if word in shown] == []
    assert json.loads(rows["c"]["all"]) == {"any": {"name": hashed('{"S":"Ada"}'), "card.no": 42}}


def test_a_verification_knows_what_is_dropped_and_hashed(protected):
    source = protected[0]
    order = replace(source.full(25), job="verify", columns=Overrides.parse({**SAID, "phone": {"hash": True}}))
    assert run(source.spark, order, SECRET)["result"] == "0 differences"


def test_a_verification_shows_what_differs_by_its_hash(shop):
    source = shop()
    source.put(1, item("a", email={"S": "Ada@x.org"}, note={"S": "hide me"}))
    said = {"email": {"hash": True}, "note": {"drop": True}}
    carry_out(source, source.full(5), **said)
    source.change("UPDATE TABLE SET email = 'else'")
    order = replace(source.full(5), job="verify")
    with pytest.raises(VerificationFailed):
        carry_out(source, order, **said)
    report, shown = source.report(order), json.dumps({"S": hashed('{"S":"Ada@x.org"}')}, separators=(",", ":"))
    assert report["differences"][0]["values"] == [{"path": "/email", "source": shown, "table": '"else"'}]
    assert [word for word in ("Ada@x.org", "hide me") if word in json.dumps(report)] == []


def test_no_plan_property_or_report_shows_the_secret(protected):
    source, loaded, merged = protected
    pads = [bytes(b ^ pad for b in SECRET.encode().ljust(64, b"\0")).hex() for pad in (0x36, 0x5C)]
    protection = Protection.of(Overrides.parse({"email": {"hash": True}}), SECRET)
    items = source.spark.sql("SELECT map('email', map('S', 'x')) AS item")
    plan = protection.protected(items, "item")._jdf.queryExecution()
    with plans_in_full(source.spark):
        plans = [plan.toString(), plan.executedPlan().toString()]
    shown = [*plans, repr(protection), json.dumps([loaded, merged, source.metadata])]
    for hidden in (SECRET, SECRET.encode().hex(), *(pad[:32] for pad in pads)):
        assert [text for text in shown if hidden in text.lower()] == []
    assert "LocalTableScan" in shown[1]


def test_what_the_table_was_loaded_with_holds_until_a_rebuild(protected):
    source = protected[0]
    source.put(26, item("e"))
    order, before = source.windows(25, 45), source.metadata
    verification = replace(source.full(25), job="verify")
    said = {**SAID, "phone": {"hash": True}}
    for changed, secret in (
        ({**said, "code": {"hash": True}}, SECRET),
        ({name: what for name, what in said.items() if name != "secret note"}, SECRET),
        (said, SECRET + "!"),
    ):
        for refused in (order, verification):
            with pytest.raises(RebuildNeeded):
                carry_out(source, refused, secret, **changed)
    with pytest.raises(RebuildNeeded):
        carry_out(source, order, **{**said, "code": "S"})
    with pytest.raises(HashSecretUnfit):
        carry_out(source, order, "short", **said)
    with pytest.raises(SettingRefused, match="rows are found by their key"):
        carry_out(source, order, pk={"drop": True})
    assert source.metadata == before


def test_an_order_may_name_the_file_that_says_everything_of_columns(shop, tmp_path):
    source = shop()
    source.put(1, item("a", total=N, email=S))
    said = {f"attribute {n}": "S" for n in range(1_500)} | {"total": "decimal(38,2)", "email": {"hash": True}}
    order = replace(source.full(5), columns_file=(tmp_path / "columns.json").as_uri())
    with pytest.raises(JobFailed, match=r"columns\.json, which says what the settings say of columns, does not exist"):
        run(source.spark, order, SECRET)
    assert source.report(order)["error"] == "JobFailed"
    (tmp_path / "columns.json").write_text(
        to_file({"orders": Overrides.parse(said), "carts": Overrides.parse({"email": "N"})})
    )
    assert run(source.spark, order, SECRET)["outcome"] == "committed"
    row = source.rows()["a"]
    assert (row["email"], str(row["total"])) == (hashed('{"S":"x"}'), "1.00")


def test_a_rebuild_brings_what_was_declared_since(shop):
    source = shop()
    source.put(1, item("a", v=N, w=S, gone=S, m={"M": {"x": S, "y": S}}))
    carry_out(source, source.full(5))
    source.put(6, item("b", w=S))
    said = {"v": {"name": "value"}, "w": {"hash": True}, "gone": {"drop": True}, "/m/x": {"drop": True}}
    carry_out(source, source.full(30), **said)
    assert source.rows()["a"] == {
        **{"pk": "a", "value": 1, "w": hashed('{"S":"x"}'), "m": {"y": "x"}},
        **{"_write_time": None, "_misfits": None},
    }


def test_a_declared_type_is_made_of_values_that_no_sample_has(shop, monkeypatch):
    monkeypatch.setattr(spark.loading.sampling, "MOST_ITEMS", 2)
    source, rare = shop(), item("rare", w={"M": {"a": S}}, lines={"L": [N]}, gone=S)
    source.put(1, *(item(f"k{i}") for i in range(20)), rare)
    carry_out(source, source.full(5))
    assert source.rows()["rare"]["w"] == {"a": "x"}
    source.put(6, item("rare", w={"M": {"a": S}}, lines={"L": [N]}))
    report = carry_out(source, source.full(30), w="map", **{"/lines/*": "string", "gone": "N"})
    told = {row["path"]: (row["before"], row["after"], row.get("count")) for row in report["changed_columns"]}
    assert told == {
        "/w": ("struct", "map<string,string>", 1),
        "/lines/*": ("bigint", "string", 1),
        "/gone": ("string", "bigint", None),
    }
    assert (report["counts"]["misfits"], source.rows()["rare"]["w"]) == (0, [("a", "x")])
    merged = carry_out(source, source.windows(30, 50), w="map", **{"/lines/*": "string", "gone": "N"})
    assert merged["outcome"] == "committed"


def test_what_any_number_of_stars_reaches_in_maps_and_lists_alike_is_hidden(spark):
    inside, path = S, ""
    for step in range(7):
        inside, path = ({"L": [inside, N]} if step % 2 else {"M": {"k": inside, "n": N}}), path + "/*"
    said = Overrides.parse({f"/a{path}": {"hash": True}, f"/b{path}/*": {"drop": True}})
    protection = Protection.of(said, SECRET)
    safe = protection.items_text(lines(spark, [{"a": inside, "b": inside}]), "value", "safe").first()["safe"]
    assert safe.count(hashed('{"S":"x"}')) == 1
    assert safe.count(hashed('{"N":"1"}')) == 1
    assert safe.count('{"S":"x"}') == 1, "of b, which is not so deep"
    assert protection.contradicted("item").count("map_values") < 2 * 8 * 7, "no more for each star than for the last"


def test_many_names_are_hidden_beside_all_others_wherever_they_stand(spark):
    names = [f"name {number}" for number in range(15)]
    rules = {f"/m/{name}": {"drop": True} if at % 2 else {"hash": True} for at, name in enumerate(names)}
    said = Overrides.parse({**rules, "/m/*/secret": {"drop": True}, **{name: {"hash": True} for name in names}})
    inside = {"M": {"x": S, "secret": S}}
    level = {**dict.fromkeys(names, S), "other": inside}
    items = [{"m": {"M": level}, **level}, {"m": {"L": [inside, S]}}]
    safe = Protection.of(said, SECRET).items_text(lines(spark, items), "value", "safe").select("safe").collect()
    assert observed_items(items, said) == observed_items(json.loads(row[0]) for row in safe)
    first, second = (json.loads(row[0]) for row in safe)
    left = {name: {"S": hashed('{"S":"x"}')} for name in names}
    assert first == {
        "m": {"M": {**{n: left[n] for n in names[::2]}, "other": {"M": {"x": S}}}},
        **left,
        "other": inside,
    }
    assert second == {"m": {"L": [{"M": {"x": S}}, S]}}
