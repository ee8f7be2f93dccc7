"""What a person with a folder of exports is told to do: nothing that needs a schedule or a deployment."""

from __future__ import annotations

import json

import pytest

from local.__main__ import main
from local.remedies import REMEDIES, told
from pipeline.errors import JobRefused, SettingRefused, TableUnfit, error_names

_KINDS = (JobRefused, TableUnfit, SettingRefused)
RAISED = {name: kind for name, kind in error_names().items() if issubclass(kind, _KINDS)}


def test_every_error_that_a_job_raises_has_a_remedy_for_a_local_table():
    assert set(REMEDIES) == set(RAISED)


@pytest.mark.parametrize("name", REMEDIES)
def test_a_remedy_needs_neither_schedule_nor_deployment(name):
    said = told(RAISED[name]("What happened."))
    assert said == f"{name}: What happened.\nTo do: {REMEDIES[name]}"
    assert not any(word in said for word in ("schedule", "cdk.json", "deploy", "next run"))


def test_what_an_error_says_to_do_in_just_this_case_stays():
    assert told(RAISED["Gap"]("What happened.", "Do this.")) == "Gap: What happened.\nTo do: Do this."


def test_a_setting_for_a_local_table_is_no_setting_of_a_deployment(tmp_path, capsys):
    (tmp_path / "columns.json").write_text('{"total": {"type": "money"}}')
    table = ["--table", "shop.orders", "--key", "pk:S", "--warehouse", str(tmp_path)]
    with pytest.raises(SystemExit):
        main(["replay", str(tmp_path), *table, "--columns", str(tmp_path / "columns.json")])
    refused = capsys.readouterr().err
    assert "money" in refused
    assert SettingRefused.default_remedy not in refused


def test_a_folder_without_exports_says_what_it_must_hold(tmp_path, capsys):
    table = ["--table", "shop.orders", "--key", "pk:S", "--warehouse", str(tmp_path)]
    assert main(["replay", str(tmp_path), *table]) == 1
    assert "To do: Mirror the export bucket into the folder, every file under its whole key." in capsys.readouterr().err


def test_what_an_export_says_does_not_lead_the_terminal(tmp_path, capsys):
    odd = tmp_path / "AWSDynamoDB" / "1-a" / "manifest-summary.json"
    odd.parent.mkdir(parents=True)
    key = "\x1b]0;owned\x07\u202ekey\nof ours"
    said = dict.fromkeys(("exportArn", "tableArn", "tableId", "s3Bucket"), "x") | {"manifestFilesS3Key": key}
    said |= {"itemCount": 0, "outputFormat": "DYNAMODB_JSON", "exportTime": "2026-11-01T12:00:00Z"}
    odd.write_text(json.dumps(said))
    table = ["--table", "shop.orders", "--key", "pk:S", "--warehouse", str(tmp_path)]
    assert main(["replay", str(tmp_path), *table]) == 1
    refused = capsys.readouterr().err
    assert f"{odd} names \\x1b]0;owned\\x07\\u202ekey\nof ours, which lies elsewhere" in refused
    assert all(char.isprintable() for char in refused.replace("\n", ""))
