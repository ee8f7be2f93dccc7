"""The Spark session of the local commands."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.sources import ROOT

pytestmark = pytest.mark.spark
#: In a process of its own, where no Java runs yet.
_COUNT = """
import sys
from pathlib import Path
from local.session import local_session
spark = local_session(Path(sys.argv[1]))
print(spark.read.text("file:" + sys.argv[2]).count())
spark.stop()
"""


def counted(warehouse: Path, **theirs: str) -> tuple[int, str]:
    """What is counted in a session on a machine where a person has set these variables, and the exit code."""
    (lines := warehouse.with_name("lines")).write_text("1\n2\n3\n")
    command = [sys.executable, "-c", _COUNT, str(warehouse), str(lines)]
    environment = {**os.environ, **theirs}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout


def test_what_another_spark_of_the_person_is_told_plays_no_part(tmp_path):
    (tmp_path / "spark-defaults.conf").write_text("spark.extraListeners no.such.Listener\n")
    told = {"SPARK_CONF_DIR": str(tmp_path), "PYSPARK_SUBMIT_ARGS": "--master yarn --packages no.such:thing:1"}
    assert counted(tmp_path / "warehouse", **told, SPARK_REMOTE="sc://no.such.host") == (0, "3\n")


def test_what_a_cluster_of_the_person_is_told_plays_no_part(tmp_path):
    a_codec = "<property><name>io.compression.codecs</name><value>no.such.Codec</value></property>"
    (tmp_path / "core-site.xml").write_text(f"<configuration>{a_codec}</configuration>")
    assert counted(tmp_path / "warehouse", HADOOP_CONF_DIR=str(tmp_path), YARN_CONF_DIR=str(tmp_path)) == (0, "3\n")


def test_a_person_who_interrupts_the_start_leaves_no_java_behind(tmp_path):
    command = [sys.executable, "-c", _COUNT, str(tmp_path / "warehouse"), "no file"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        while not Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        # Java has the pipes, too: they end with the last who has them.
        assert process.communicate(timeout=60)[1].rstrip().endswith("KeyboardInterrupt")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
