"""Who may import whom, and what the rules must not ask."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from tests.sources import PACKAGES, ROOT, imports, nodes, relative, sources

#: Modules that tell the time, throw dice, or look at the machine.
RESTLESS = {
    "time",
    "random",
    "secrets",
    "uuid",
    "os",
    "platform",
    "socket",
    "threading",
    "urllib.request",
    "subprocess",
}
DEPLOYED = tuple(package for package in PACKAGES if package != "local")


def test_the_import_contracts_hold():
    lint = Path(sys.executable).with_name("lint-imports")
    checked = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "Contracts: 7 kept, 0 broken." in checked.stdout


def test_nothing_deployed_imports_the_local_aws():
    assert [relative(path) for path in sources(*DEPLOYED) if _tops(path) & {"local"}] == []


def test_nothing_imports_the_tests():
    assert [relative(path) for path in sources(*PACKAGES) if _tops(path) & {"tests"}] == []


def test_the_rules_import_nothing_that_is_not_the_same_every_time():
    assert {relative(path): found for path in sources("pipeline") if (found := imports(path) & RESTLESS)} == {}


def test_the_rules_ask_no_clock():
    asked = [(relative(path), ast.unparse(call.func)) for path in sources("pipeline") for call in nodes(path, ast.Call)]
    clocks = (".now", ".utcnow", ".today", ".fromtimestamp")
    assert [(where, name) for where, name in asked if name.endswith(clocks)] == []


def test_every_call_to_aws_of_the_functions_is_in_one_folder():
    edges = [path for path in sources("lambdas") if path.parent.name == "aws"]
    assert edges
    others = set(sources("lambdas")) - set(edges)
    assert [relative(path) for path in others if "boto3" in imports(path)] == []


def _tops(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imports(path)}
