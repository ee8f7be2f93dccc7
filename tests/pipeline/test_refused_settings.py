"""Settings that look right at a glance, and would do nothing or fail later."""

from __future__ import annotations

import pytest

from pipeline.errors import SettingRefused
from pipeline.settings import Settings


def parsed(**said):
    return Settings.parse({"tables": [{"name": "orders", **said}]})


@pytest.mark.parametrize(
    "address",
    [
        "Bob<a@example.com>",
        "a@example.com;",
        "a@example.com,b@example.com",
        "a@example.com,x",
        '"a"@example.com',
        "mailto:a@example.com",
        "(a)a@example.com",
        "${Team}@example.com",
        "a@[192.0.2.1]",
        "a@b@example.com",
        "a\x07@example.com",
        "a\x7f@example.com",
    ],
)
def test_what_is_more_than_one_mail_address_alone_is_refused(address):
    with pytest.raises(SettingRefused, match=r"mail\.failure is .*; allowed is mail addresses alone, such as"):
        parsed(mail={"failure": [address]})


@pytest.mark.parametrize(
    "address", ["a.b+c@example.com", "a/b=c'd@mail.example.com", "jürgen@example.com", "a-b_c@x.y"]
)
def test_a_mail_address_may_have_what_addresses_have(address):
    assert parsed(mail={"failure": [address]}).tables[0].mail.failure == (address,)


@pytest.mark.parametrize("name", ["xn--orders", "Sthree-orders", "amzn-s3-demo-bucket"])
def test_a_stack_whose_bucket_s3_would_not_take_is_refused(name):
    told = rf"stack_name is '{name}'; allowed is 1-60 letters, .* and none of xn--, sthree- and amzn-s3-demo-"
    with pytest.raises(SettingRefused, match=told):
        Settings.parse({"stack_name": name, "tables": [{"name": "orders"}]})


@pytest.mark.parametrize("none", [0, False, {}, [], None], ids=repr)
def test_only_an_empty_text_is_no_secret(none):
    assert parsed(hash_secret="").tables[0].hash_secret == ""
    with pytest.raises(
        SettingRefused, match=r"hash_secret is .*; allowed is the name of a secret .*, or \"\" for none"
    ):
        parsed(hash_secret=none)


def test_scalars_beside_containers_in_a_schema_file_are_refused_with_the_reason():
    told = (
        r"columns\['a'\].type is 'S,SS'; allowed is several of S, N, B, BOOL or several of SS, NS, BS, L, M: no column takes "
        "a scalar beside a container"
    )
    with pytest.raises(SettingRefused, match=told):
        parsed(columns={"a": "S,SS"})
    with pytest.raises(SettingRefused, match="allowed is one of S, "):
        parsed(columns={"a": "decimal(38,39)"})


@pytest.mark.parametrize("said", ["PAUSE", "true", 1, None], ids=repr)
def test_a_table_is_paused_by_a_flag(said):
    with pytest.raises(SettingRefused, match=r"tables\[0\]\.paused is .*; allowed is true or false"):
        parsed(paused=said)
