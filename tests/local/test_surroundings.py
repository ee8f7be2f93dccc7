"""What the local commands, and the verbs of the Makefile, are kept apart from."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from local.surroundings import clean_environment
from tests.sources import ROOT


def test_modules_of_another_python_play_no_part(tmp_path):
    (tmp_path / "pyspark.py").write_text("raise RuntimeError('of another Spark')")
    maintain = ["maintain", "--table", "shop.orders", "--warehouse", str(tmp_path / "warehouse")]
    command, elsewhere = [sys.executable, "-m", "local", *maintain], f"{tmp_path}:{ROOT}"
    ended = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": elsewhere},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stderr.startswith("WatermarkMissing: ")


@pytest.mark.parametrize("said", ["PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "PYTHONOPTIMIZE"])
def test_no_verb_hears_what_is_said_to_another_python(said):
    shown = ["make", "--eval", "show: ; @env", "show"]
    environment = subprocess.run(
        shown, cwd=ROOT, env={**os.environ, said: "/elsewhere"}, capture_output=True, text=True, check=True
    )
    assert said not in [line.partition("=")[0] for line in environment.stdout.splitlines()]


def test_what_a_local_aws_starts_knows_no_other_spark_but_where_the_machine_has_room(monkeypatch):
    for name in ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "PYSPARK_SUBMIT_ARGS", "SPARK_LOCAL_DIRS"):
        monkeypatch.setenv(name, "/elsewhere")
    assert {name: value for name, value in clean_environment().items() if value == "/elsewhere"} == {
        "SPARK_LOCAL_DIRS": "/elsewhere"
    }


def test_a_local_aws_is_no_stack_that_a_command_was_meant_for(monkeypatch):
    """As a mail's command says it, and a person may have exported: the demo would be refused as another stack."""
    monkeypatch.setenv("TIDEMARK_STACK", "Staging")
    assert "TIDEMARK_STACK" not in clean_environment()
