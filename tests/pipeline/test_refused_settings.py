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
        "a@example.com b",
        "a@example.com\n",
    ],
)
def test_what_is_more_than_one_mail_address_alone_is_refused(address):
    with pytest.raises(SettingRefused, match=r"mail\.failure is .*; allowed is mail addresses alone, such as"):
        parsed(mail={"failure": [address]})


@pytest.mark.parametrize(
    "address", ["a.b+c@example.com", "a/b=c'd@mail.example.com", "team@xn--mller-kva.example", "a-b_c@x.y"]
)
def test_a_mail_address_may_have_what_addresses_have(address):
    assert parsed(mail={"failure": [address]}).tables[0].mail.failure == (address,)


@pytest.mark.parametrize(
    "address", ["jürgen@example.com", "team@müller.example", "a\u202e@example.com", "a@example.cöm"]
)
def test_a_mail_address_that_is_not_in_ascii_is_refused_with_how_to_write_its_domain(address):
    told = r"mail\.success is '.*'; allowed is .*, in ASCII: a domain with other letters by its xn-- name"
    with pytest.raises(SettingRefused, match=told):
        parsed(mail={"success": [address]})


@pytest.mark.parametrize("name", ["xn--orders", "Sthree-orders", "amzn-s3-demo-bucket"])
def test_a_stack_whose_bucket_s3_would_not_take_is_refused(name):
    told = rf"^stack_name is '{name}'; allowed is 1-60 letters, .* and none of xn--, sthree- and amzn-s3-demo-"
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


@pytest.mark.parametrize("said", [True, False], ids=repr)
@pytest.mark.parametrize("name", ["tick_minutes", "buckets", "maintain_days"])
def test_yes_and_no_are_no_numbers(name, said):
    with pytest.raises(SettingRefused, match=rf"tables\[0\]\.{name} is {said}; allowed is "):
        parsed(**{name: said})


@pytest.mark.parametrize(
    ("name", "most", "over"),
    [
        ("iceberg_table", "t" * 255, "t" * 256),
        ("hash_secret", "s" * 512, "s" * 513),
        ("snapshot_days", 3650, 3651),
        ("maintain_days", 365, 366),
    ],
)
def test_what_is_said_of_a_table_has_bounds(name, most, over):
    assert getattr(parsed(**{name: most}).tables[0], name) == most
    with pytest.raises(SettingRefused, match=rf"tables\[0\]\.{name} is '?{over}'?; allowed is "):
        parsed(**{name: over})


@pytest.mark.parametrize(
    ("vcpus", "taken", "refused"),
    [
        (1, (2, 8), (1, 9)),
        (2, (4, 16), (3, 17)),
        (4, (8, 30), (7, 31)),
        (8, (16, 20, 60), (12, 18, 64)),
        (16, (32, 40, 120), (24, 36, 128)),
    ],
)
def test_workers_have_the_memory_that_emr_serverless_gives_them(vcpus, taken, refused):
    def of(memory):
        size = {"worker_vcpus": vcpus, "worker_memory_gb": memory}
        return Settings.parse({"tables": [{"name": "orders"}], "spark": size}).spark.worker_memory_gb

    assert tuple(of(memory) for memory in taken) == taken
    for memory in refused:
        with pytest.raises(SettingRefused, match=f"spark.worker_memory_gb is {memory}; allowed is one of "):
            of(memory)


def test_of_memory_that_nobody_has_set_the_refusal_says_which_setting_it_does_not_go_with():
    with pytest.raises(SettingRefused, match=r"spark.worker_memory_gb is 16; .* 7, 8, where spark.worker_vcpus is 1\n"):
        Settings.parse({"tables": [{"name": "orders"}], "spark": {"worker_vcpus": 1}})


@pytest.mark.parametrize(("name", "least", "most"), [("worker_disk_gb", 20, 200), ("max_executors", 1, 500)])
def test_sizes_of_jobs_have_bounds(name, least, most):
    def of(value):
        return getattr(Settings.parse({"tables": [{"name": "orders"}], "spark": {name: value}}).spark, name)

    assert (of(least), of(most)) == (least, most)
    for value in (least - 1, most + 1):
        with pytest.raises(SettingRefused, match=f"spark.{name} is {value}; allowed is a whole number from {least} to"):
            of(value)
