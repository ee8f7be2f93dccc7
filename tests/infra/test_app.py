"""The app: where settings come from, how wrong ones are refused, and that synth needs nothing but the tree."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from aws_cdk import App

from infra.app import read_settings
from infra.paths import ROOT
from infra.stack import TidemarkStack
from pipeline.errors import SettingRefused
from pipeline.settings import Settings

CDK_JSON = json.loads((ROOT / "cdk.json").read_text())
CONTEXT = CDK_JSON["context"]
MAILED = ("success", "failure")
SHOP = {"tables": [{"name": "shop", "window_minutes": 15}]}

pytestmark = pytest.mark.synth


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(SHOP))
    return str(path)


def run_app(folder, context, command=(sys.executable, "-m", "infra.app"), **variables):
    """Run the app as the CDK CLI does, with no account, no credentials and no file to find them in."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],  # where jsii keeps what it has unpacked
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "CDK_OUTDIR": str(folder / "cdk.out"),
        "CDK_CONTEXT_JSON": json.dumps(context),
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20",
        **variables,
    }
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_settings_come_from_the_context():
    assert read_settings(App(context={"tidemark": SHOP}), {}).tables[0].name == "shop"


def test_a_file_named_by_the_option_or_the_environment_takes_their_place(file):
    default = {"tidemark": {"tables": [{"name": "orders"}]}}
    assert read_settings(App(context={**default, "tidemark-settings": file}), {}).tables[0].name == "shop"
    assert read_settings(App(context=default), {"TIDEMARK_SETTINGS": file}).tables[0].name == "shop"
    both = App(context={**default, "tidemark-settings": file})
    assert read_settings(both, {"TIDEMARK_SETTINGS": "/nowhere.json"}).tables[0].name == "shop"


def test_columns_may_be_a_schema_file_of_their_own(tmp_path):
    schema = tmp_path / "orders.schema.json"
    schema.write_text('{"total": "N"}')
    tables = [{"name": "orders", "columns": str(schema)}]
    (table,) = read_settings(App(context={"tidemark": {"tables": tables}}), {}).tables
    assert table.columns.to_json() == {"/total": {"type": "N"}}
    schema.write_text('{"email": {"hash": true}, "email": "S"}')
    with pytest.raises(SettingRefused, match=r"tables\[0\].columns.*it says 'email' more than once"):
        read_settings(App(context={"tidemark": {"tables": tables}}), {})
    schema.unlink()
    with pytest.raises(SettingRefused, match=r"tables\[0\].columns"):
        read_settings(App(context={"tidemark": {"tables": tables}}), {})


def test_a_name_that_cdk_json_says_twice_is_refused_wherever_the_settings_stand_in_it(tmp_path, file):
    """The CDK CLI takes the last of the two: a hash would be gone, and nobody would know."""
    columns = '{"email": {"hash": true}, "email": "S"}'
    cdk_json = tmp_path / "cdk.json"
    cdk_json.write_text(f'{{"context": {{"tidemark": {{"tables": [{{"name": "shop", "columns": {columns}}}]}}}}}}')
    app = App(context=json.loads(cdk_json.read_text())["context"])
    with pytest.raises(SettingRefused, match=r"cdk\.json.*it says 'email' more than once"):
        read_settings(app, {}, cdk_json)
    assert read_settings(app, {"TIDEMARK_SETTINGS": file}, cdk_json) == Settings.parse(SHOP)
    cdk_json.unlink()
    assert read_settings(App(context={"tidemark": SHOP}), {}, cdk_json) == Settings.parse(SHOP)


def test_files_are_read_as_utf_8_whatever_the_machine_s_encoding_is(tmp_path):
    """Read in another one, a name would be that of no attribute, and what is to be hashed would stay plain."""
    settings, schema = tmp_path / "settings.json", tmp_path / "orders.schema.json"
    schema.write_text('{"straße": {"hash": true}}', "utf-8")
    settings.write_text(json.dumps({"tables": [{"name": "orders", "columns": str(schema), "hash_secret": "pii"}]}))
    plain = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    made = run_app(tmp_path, CONTEXT, TIDEMARK_SETTINGS=str(settings), **plain)
    (columns,) = (tmp_path / "cdk.out").glob("asset.*.json")
    assert (made.returncode, json.loads(columns.read_bytes())) == (0, {"orders": {"/straße": {"hash": True}}})


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_file_may_say_its_encoding_by_a_byte_order_mark(tmp_path, encoding):
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(SHOP), encoding)
    assert read_settings(App(context={"tidemark-settings": str(path)}), {}) == Settings.parse(SHOP)


def test_a_file_that_cannot_be_read_is_refused_by_name(tmp_path):
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "endless.json").write_text("[" * 100_000)
    for name in ("broken.json", "endless.json", "missing.json"):
        with pytest.raises(SettingRefused, match=f"tidemark-settings is .*{name}"):
            read_settings(App(context={"tidemark-settings": str(tmp_path / name)}), {})


def test_a_wrong_setting_ends_synth_with_its_name_and_what_is_allowed(tmp_path):
    ended = run_app(tmp_path, {"tidemark": {"tables": [{"name": "shop", "window_minutes": 5}]}})
    assert ended.returncode == 1
    refusal, remedy = ended.stderr.splitlines()
    assert refusal == (
        "SettingRefused: tables[0].window_minutes is 5; allowed is a whole number from 15 to 1440, "
        '"auto", or an object with "shortest" and "longest"'
    )
    assert remedy.startswith("To do:")


def test_a_command_that_is_meant_for_one_stack_does_nothing_to_another(tmp_path):
    """As a mail has it, pasted where nothing says in which file that stack's settings are."""
    ended = run_app(tmp_path, {"tidemark": SHOP}, TIDEMARK_STACK="Staging")
    assert (ended.returncode, ended.stderr.splitlines()) == (
        1,
        [
            "SettingRefused: stack_name is 'Tidemark'; allowed is 'Staging', because TIDEMARK_STACK says so",
            "To do: Set TIDEMARK_SETTINGS to the file with the settings of Staging; if they stand in cdk.json, unset it.",
        ],
    )
    assert not (tmp_path / "cdk.out" / "manifest.json").exists()
    staging = tmp_path / "staging.json"
    staging.write_text(json.dumps({**SHOP, "stack_name": "Staging"}))
    made = run_app(tmp_path, {**CONTEXT, "tidemark": SHOP}, TIDEMARK_STACK="Staging", TIDEMARK_SETTINGS=str(staging))
    assert (made.returncode, (tmp_path / "cdk.out" / "Staging.template.json").exists()) == (0, True)


def test_synth_needs_no_home_that_takes_anything(tmp_path):
    """The user of a pipeline may have none: what jsii unpacks lies in the project's folder."""
    made = run_app(tmp_path, CONTEXT, ("sh", "-c", CDK_JSON["app"]), HOME=os.devnull)
    assert (made.returncode, made.stderr) == (0, "")
    assert (tmp_path / "cdk.out" / "Tidemark.template.json").exists()


def test_synth_asks_for_no_account_and_gives_the_same_bytes_for_the_same_input(tmp_path, template, settings):
    app = App(context=CONTEXT, outdir=str(tmp_path))
    TidemarkStack(app, settings.stack_name, settings=settings)
    app.synth()
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert "missing" not in manifest, "a look-up would need the account"
    assert manifest["artifacts"]["Tidemark"]["environment"] == "aws://unknown-account/unknown-region"
    assert (tmp_path / template.path.name).read_bytes() == template.path.read_bytes()


def test_more_tables_than_a_stack_holds_are_refused_by_name():
    settings = Settings.parse({"tables": [{"name": f"table-{n}"} for n in range(160)]})
    with pytest.raises(SettingRefused, match=r"tables has 160 entries; allowed are 15\d"):
        TidemarkStack(App(), "TooMany", settings=settings)


def test_settings_that_make_too_large_a_template_are_refused_with_its_size_and_what_is_allowed(tmp_path):
    mail = {kind: [f"person-number-{n:02}.{kind}@some-company.example.com" for n in range(20)] for kind in MAILED}
    tables = [{"name": f"orders-{n:03}-{'x' * 189}"} for n in range(123)]
    ended = run_app(tmp_path, {**CONTEXT, "tidemark": {"tables": tables, "defaults": {"mail": mail}}})
    assert ended.returncode == 1
    told = (
        r"SettingRefused: tables has 123 entries, .* template of (\d{7}) bytes; allowed are 1048576: spread them over"
    )
    found = re.search(rf"^{told}.*\nTo do:", ended.stderr, re.MULTILINE)
    assert found, ended.stderr
    assert int(found[1]) == (tmp_path / "cdk.out" / "Tidemark.template.json").stat().st_size > 1_048_576


#: What `Object.getOwnPropertyNames(Object.prototype)` of Node.js says.
OF_EACH_OBJECT = (
    *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"),
    *("toLocaleString", "toString", "valueOf"),
    *("__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"),
)


@pytest.mark.parametrize(
    "names", [("Resource", "Default"), OF_EACH_OBJECT], ids=["children of its own", "what each object has"]
)
def test_tables_may_be_called_what_cdk_takes_for_its_own(tmp_path, names):
    settings = Settings.parse({"tables": [{"name": name} for name in names]})
    app = App(context=CONTEXT, outdir=str(tmp_path))
    TidemarkStack(app, settings.stack_name, settings=settings)
    app.synth()
    template = json.loads((tmp_path / f"{settings.stack_name}.template.json").read_text())
    made = [one for one in template["Resources"].values() if one["Type"] == "AWS::Scheduler::Schedule"]
    followed = [json.loads(schedule["Properties"]["Target"]["Input"])["table"] for schedule in made]
    assert sorted(followed) == sorted(names)
