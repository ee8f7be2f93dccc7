"""What is said of the columns of all tables, in one file."""

from __future__ import annotations

import json

from pipeline.columns.declared.columns_file import from_file, to_file
from pipeline.columns.declared.overrides import NO_OVERRIDES, Overrides
from pipeline.settings import TableSettings

NAMED = "shop/pii"
SAID = Overrides.parse({"e-mail 📧": {"hash": True}, "/address/zip": {"type": "S", "name": "zip"}})


def test_each_table_finds_what_is_said_of_its_own_columns():
    text = to_file({"orders": SAID, "carts": Overrides.parse({"total": "N"}), "ledger": NO_OVERRIDES}).encode()
    assert from_file(text, "orders") == SAID
    assert from_file(text, "carts").to_json() == {"/total": {"type": "N"}}
    assert from_file(text, "ledger") == from_file(text, "no such table") == NO_OVERRIDES


def test_the_same_settings_make_the_same_file():
    said = {"orders": SAID, "carts": SAID}
    assert to_file(said) == to_file(dict(reversed(said.items())))
    assert list(json.loads(to_file({"orders": SAID, "ledger": NO_OVERRIDES}))) == ["orders"]


def test_what_is_said_of_columns_tells_settings_from_others_though_it_lies_apart():
    digests = {TableSettings("orders", "orders", columns=said).digest for said in (SAID, SAID, NO_OVERRIDES)}
    assert len(digests) == 2


def test_a_secret_is_used_only_where_a_column_is_hashed():
    for said, used in ((SAID, NAMED), (Overrides.parse({"total": "N"}), ""), (NO_OVERRIDES, "")):
        assert TableSettings("orders", "orders", columns=said, hash_secret=NAMED).used_secret == used
