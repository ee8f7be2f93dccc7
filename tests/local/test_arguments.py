"""What ``python -m local`` refuses before it begins, each by the name of the argument."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.__main__ import main
from local.control import LocalAws
from local.failed import Failed
from local.session import local_session
from tests.local_command import run_local


def refused(capsys, *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert ended.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


@pytest.fixture
def replay(tmp_path) -> dict[str, str]:
    """The arguments of a replay, by name."""
    return {"--table": "shop.orders", "--key": "customer:S", "--warehouse": str(tmp_path / "warehouse")}


def words(folder: Path, arguments: dict[str, str]) -> list[str]:
    return ["replay", str(folder), *(word for argument in arguments.items() for word in argument)]


@pytest.mark.parametrize(
    "name",
    [
        *("a.b.orders", "orders", "shop.", ".orders", "shop.o/../p", "shop.o`x", "shop.örders"),
        *(pytest.param(name, id="long") for name in (f"shop.{'o' * 256}", f"{'s' * 256}.orders")),
    ],
)
def test_a_table_has_one_namespace_and_a_plain_name(tmp_path, replay, capsys, name):
    said = refused(capsys, *words(tmp_path, replay | {"--table": name}))
    assert f"argument --table: {name!r} is not NAMESPACE.NAME, such as shop.orders" in said


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["order:N", "line:N"], "argument --key: line:N is one too many: a key has two attributes at most"),
        (["customer:N"], "argument --key: customer:N: the key has the attribute 'customer' already"),
    ],
)
def test_a_key_has_two_attributes_at_most_and_none_twice(tmp_path, replay, capsys, more, told):
    keys = [word for attribute in more for word in ("--key", attribute)]
    assert told in refused(capsys, *words(tmp_path, replay), *keys)


def test_a_warehouse_is_a_folder(tmp_path, replay, capsys):
    file = tmp_path / "a-file"
    file.write_text("")
    assert "argument --warehouse: " in refused(capsys, *words(tmp_path, replay | {"--warehouse": str(file)}))


@pytest.mark.parametrize("below", ["warehouse", "more/folders/warehouse"])
@pytest.mark.parametrize("verb", ["replay", "verify", "maintain"])
def test_a_warehouse_does_not_lie_below_a_file(tmp_path, replay, capsys, verb, below):
    file = tmp_path / "a-file"
    file.write_text("")
    if verb == "maintain":
        arguments = ["--table", "shop.orders", "--warehouse", str(file / below)]
    else:
        arguments = words(tmp_path, replay | {"--warehouse": str(file / below)})[1:]
    said = f"argument --warehouse: {str(file / below)!r} cannot be a folder, for {str(file)!r} is a file"
    assert said in refused(capsys, verb, *arguments)


@pytest.mark.parametrize("file", ["shop", "shop/orders"])
@pytest.mark.parametrize("verb", ["replay", "verify", "maintain"])
def test_a_table_has_no_file_in_the_place_of_its_folder(tmp_path, replay, capsys, verb, file):
    folder = tmp_path / "warehouse" / "shop" / "orders"
    in_place = tmp_path / "warehouse" / file
    in_place.parent.mkdir(parents=True)
    in_place.write_text("")
    arguments = words(tmp_path, replay)[1:]
    if verb == "maintain":
        arguments = ["--table", "shop.orders", "--warehouse", str(tmp_path / "warehouse")]
    assert main([verb, *arguments]) == 1
    said = f"{folder} cannot be a folder, for {in_place} is a file; name another table or warehouse."
    assert capsys.readouterr().err.splitlines() == [said]


def test_exports_are_a_folder(tmp_path, replay, capsys):
    file = tmp_path / "a-file"
    file.write_text("")
    assert f"argument exports: {str(file)!r} is not a folder" in refused(capsys, *words(file, replay))


def test_a_folder_that_cannot_even_be_looked_at_is_refused_by_its_argument(tmp_path, replay, capsys):
    """As one below a folder of another user's."""
    place = tmp_path / ("x" * 256) / "below"
    for argument, arguments in (
        ("exports", words(place, replay)),
        ("--warehouse", words(tmp_path, replay | {"--warehouse": str(place)})),
        ("--home", ["demo", "--home", str(place)]),
    ):
        said = f"argument {argument}: {place} cannot be looked at: File name too long; name another folder."
        assert refused(capsys, *arguments).endswith(said)


def test_a_warehouse_that_cannot_be_made_is_said_in_one_sentence_before_java_is_asked(tmp_path):
    (tmp_path / "a-file").write_text("")
    warehouse = tmp_path / "a-file" / "warehouse"
    with pytest.raises(Failed) as failed:
        local_session(warehouse)
    assert str(failed.value) == (
        f"{warehouse} cannot be made, or cannot be written to: Not a directory; name another warehouse."
    )


def test_a_user_without_a_name_is_said_in_one_sentence_before_java_is_asked(tmp_path, monkeypatch):
    monkeypatch.setattr("os.getuid", lambda: 4_000_000_000)
    with pytest.raises(
        Failed, match="The user of this process, 4000000000, has no name on this machine, and Spark needs"
    ):
        local_session(tmp_path)


def test_a_home_that_the_shell_has_left_in_a_path_is_a_person_s(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (file := tmp_path / "a-file").write_text("")
    said = refused(capsys, "maintain", "--table", "shop.orders", "--warehouse=~/a-file")
    assert f"'~/a-file' cannot be a folder, for {str(file)!r} is a file" in said


def test_the_home_of_the_demo_is_a_folder(tmp_path, capsys):
    file = tmp_path / "a-file"
    file.write_text("")
    for home in (file, file / "below"):
        said = refused(capsys, "demo", "--home", str(home))
        assert (
            f"argument --home: {str(home)!r} cannot be a folder, for {str(file)!r} is a file; allowed is a folder"
            in said
        )


def test_a_home_of_the_local_aws_that_cannot_be_made_is_said_in_one_sentence(tmp_path):
    (tmp_path / "a-file").write_text("")
    home = tmp_path.resolve() / "a-file" / "home"
    with pytest.raises(Failed) as failed:
        LocalAws.start(home)
    assert str(failed.value) == f"{home} cannot be made, or cannot be written to: Not a directory; name another folder."


def test_what_the_terminal_has_no_characters_for_is_told_all_the_same(tmp_path, monkeypatch):
    # Something of somebody's, which the local AWS does not empty.
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    ended = run_local("demo", "--home", str(tmp_path))
    assert (ended.returncode, ended.stdout) == (1, "Starting the local AWS \\u2026\n")


@pytest.mark.parametrize("days", ["0", "2", "3651", "99999999999", "-1", "x"])
def test_snapshots_are_kept_as_long_as_the_settings_allow(tmp_path, capsys, days):
    said = refused(
        capsys, "maintain", "--table", "shop.orders", "--warehouse", str(tmp_path), f"--snapshot-days={days}"
    )
    assert f"argument --snapshot-days: {days!r} is not a whole number from 3 to 3650" in said
