"""The Spark session of the local commands."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.sources import ROOT

pytestmark = pytest.mark.spark
#: In a process of its own, where no Java runs yet.
_COUNT = """
import sys
from pathlib import Path
from local.session import local_session
spark = local_session(Path(sys.argv[1]))
print(spark.range(3).count())
spark.stop()
"""


def test_what_another_spark_of_the_person_is_told_plays_no_part(tmp_path):
    (tmp_path / "spark-defaults.conf").write_text("spark.extraListeners no.such.Listener\n")
    theirs = {"SPARK_CONF_DIR": str(tmp_path), "PYSPARK_SUBMIT_ARGS": "--master yarn --packages no.such:thing:1"}
    counted = subprocess.run(
        [sys.executable, "-c", _COUNT, str(tmp_path / "warehouse")],
        cwd=ROOT,
        env={**os.environ, **theirs},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (counted.returncode, counted.stdout) == (0, "3\n")
