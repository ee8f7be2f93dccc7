"""The bundles hold what they say, the same bytes every time, and run without anything beside them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from importlib.util import cache_from_source

import pytest

from infra.bundles import lambda_bundle, spark_bundle
from infra.functions import FUNCTIONS
from infra.libraries import SERVICES, LibrariesMissing
from infra.paths import ROOT

#: Everything at the top of the Lambda bundle: our packages, and what the lock file names.
LIBRARIES = {
    "aws_lambda_powertools",
    "aws_xray_sdk",
    "boto3",
    "botocore",
    "dateutil",
    "jmespath",
    "s3transfer",
    "six.py",
    "typing_extensions.py",
    "urllib3",
    "wrapt",
}
#: Lambda takes 50 MB; a small bundle is uploaded in a moment. A third of it is what starts need not compile.
MOST_BYTES = 5_000_000
LOAD_HANDLERS = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
compiled = set()
sys.addaudithook(lambda event, of: event == "compile" and compiled.add(str(of[1])))
for handler in sys.argv[3:]:
    module, _, name = handler.rpartition(".")
    assert callable(getattr(importlib.import_module(module), name)), handler
import boto3
for service in sys.argv[2].split(","):
    boto3.client(service, region_name="eu-west-1")
assert all(m.__file__.startswith(sys.argv[1]) for m in (boto3, sys.modules["aws_lambda_powertools"], sys.modules["wrapt"]))
assert not [file for file in compiled if file.startswith(sys.argv[1])], compiled
"""


@pytest.fixture
def tree(tmp_path):
    """A copy of what bundles are made of, to be changed."""
    for folder in ("pipeline", "lambdas", "spark"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / ".tools").symlink_to(ROOT / ".tools")
    return tmp_path


def names(bundle):
    with zipfile.ZipFile(bundle.path) as archive:
        return archive.namelist()


def test_the_lambda_bundle_holds_the_two_packages_and_the_locked_libraries_and_nothing_else():
    entries = names(lambda_bundle())
    assert {name.split("/")[0] for name in entries} == LIBRARIES | {"pipeline", "lambdas", "__pycache__"}
    assert not [name for name in entries if name.endswith((".so", ".pyi")) or "dist-info" in name]
    sources = {name for name in entries if name.endswith(".py")}
    assert {cache_from_source(name) for name in sources} == {name for name in entries if name.endswith(".pyc")}
    services = {m[1] for name in entries if (m := re.match(r"botocore/data/([^/]+)/", name))}
    assert services == set(SERVICES)
    assert lambda_bundle().path.stat().st_size < MOST_BYTES


def test_the_spark_bundle_holds_the_two_packages_and_nothing_else():
    entries = names(spark_bundle())
    assert {name.split("/")[0] for name in entries} == {"pipeline", "spark"}
    assert {name.rpartition(".")[2] for name in entries} == {"py"}


def test_the_libraries_are_those_that_the_project_is_tested_with():
    pinned = [dict(re.findall(r"^([\w.-]+)==(\S+)", path.read_text(), flags=re.M)) for path in locks()]
    everything, of_lambdas = pinned
    assert of_lambdas.items() <= everything.items()
    assert {"boto3", "aws-lambda-powertools", "aws-xray-sdk"} <= set(of_lambdas)


def locks():
    return ROOT / "requirements.lock", ROOT / "lambdas" / "requirements.lock"


def test_the_same_tree_gives_the_same_bytes_wherever_and_whenever(tree):
    ours, copy = lambda_bundle(), lambda_bundle(tree)
    assert copy.digest == ours.digest
    assert copy.path.read_bytes() == ours.path.read_bytes()
    assert spark_bundle(tree).path.read_bytes() == spark_bundle().path.read_bytes()
    with zipfile.ZipFile(ours.path) as archive:
        entries = archive.infolist()
    assert {(entry.date_time, entry.external_attr) for entry in entries} == {((1980, 1, 1, 0, 0, 0), 0o100644 << 16)}
    assert [entry.filename for entry in entries] == sorted(entry.filename for entry in entries)


def test_a_changed_file_gives_another_bundle_and_what_python_leaves_lying_about_does_not(tree):
    before = spark_bundle(tree)
    (tree / "pipeline" / "__pycache__").mkdir(exist_ok=True)
    (tree / "pipeline" / "__pycache__" / "left.cpython-311.pyc").write_bytes(b"left")
    assert spark_bundle(tree).digest == before.digest
    with (tree / "pipeline" / "exports" / "windows.py").open("a") as file:
        file.write("# changed\n")
    after = spark_bundle(tree)
    assert after.digest != before.digest
    with zipfile.ZipFile(after.path) as archive:
        assert archive.read("pipeline/exports/windows.py").endswith(b"# changed\n")


def test_a_bundle_that_is_up_to_date_is_left_alone(tree):
    first = lambda_bundle(tree)
    written = first.path.stat().st_mtime_ns
    assert lambda_bundle(tree) == first
    assert first.path.stat().st_mtime_ns == written


def test_half_an_archive_is_written_anew(tree):
    whole = spark_bundle(tree).path.read_bytes()
    (tree / "build" / "spark.zip").write_bytes(whole[: len(whole) // 2])
    assert spark_bundle(tree).path.read_bytes() == whole


def test_missing_libraries_are_told_with_the_command_that_helps(tree):
    (tree / "lambdas" / "requirements.lock").write_text("boto3==0.0.1\n")
    with pytest.raises(LibrariesMissing, match="run `make install`"):
        lambda_bundle(tree)


def test_every_handler_and_client_starts_from_the_bundle_alone_and_compiles_nothing(tmp_path):
    with zipfile.ZipFile(lambda_bundle().path) as archive:
        archive.extractall(tmp_path)
    # -I -S: neither this environment's packages nor the tree; the variables are those by which the tracer knows Lambda.
    subprocess.run(  # this very interpreter
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            LOAD_HANDLERS,
            str(tmp_path),
            ",".join(SERVICES),
            *(f.handler for f in FUNCTIONS),
        ],
        env={"LAMBDA_TASK_ROOT": "/var/task", "AWS_LAMBDA_FUNCTION_NAME": "any", "POWERTOOLS_SERVICE_NAME": "Tidemark"},
        cwd=tmp_path,
        check=True,
    )
