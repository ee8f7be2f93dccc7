"""The house rules that no linter knows: sizes, names, reasons, nothing left for later."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.sources import PACKAGES, ROOT, imports, nodes, relative, sources

MOST_LINES_OF_A_FILE, MOST_LINES_OF_A_FUNCTION = 250, 40
#: Longer files, each with its reason.
LONGER = {"pipeline/errors.py": "a catalogue, one entry per error as in the manual; half of it would be no idea"}
FORBIDDEN_NAMES = {
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "misc",
    "manager",
    "processor",
    "base",
    "data",
    "info",
}
#: Tests without an assertion of their own, each with what fails them.
SPEAK_BY_RAISING = {
    "tests/infra/test_bundles.py: test_every_handler_and_client_starts_from_the_bundle_alone_and_compiles_nothing": "check=True",
    "tests/infra/test_rules.py: test_cdk_nag_finds_nothing_without_a_reason": "synth raises what cdk-nag finds",
}
OURS = sources(*PACKAGES, "tests", "scripts")


def test_a_file_can_be_read_in_one_sitting():
    sizes = {relative(path): len(path.read_text().splitlines()) for path in OURS}
    assert {name: size for name, size in sizes.items() if size > MOST_LINES_OF_A_FILE and name not in LONGER} == {}
    assert [name for name in LONGER if sizes[name] <= MOST_LINES_OF_A_FILE] == []


def test_a_function_fits_on_a_page():
    longer = {
        f"{relative(path)}: {function.name}": length
        for path in sources(*PACKAGES)
        for function in nodes(path, ast.FunctionDef, ast.AsyncFunctionDef)
        if (length := function.end_lineno - function.lineno + 1) > MOST_LINES_OF_A_FUNCTION
    }
    assert longer == {}


def test_a_name_says_something():
    names = {part.removesuffix(".py") for path in OURS for part in path.relative_to(ROOT).parts}
    assert names & FORBIDDEN_NAMES == set()


def test_errors_are_caught_by_name_or_passed_on():
    broad = {
        f"{relative(path)}:{handler.lineno}"
        for path in sources(*PACKAGES)
        for handler in nodes(path, ast.ExceptHandler)
        if handler.type is None or set(re.findall(r"\w+", ast.unparse(handler.type))) & {"Exception", "BaseException"}
        if not (isinstance(handler.body[-1], ast.Raise) and handler.body[-1].exc is None)
    }
    assert broad == set()


def test_an_exemption_says_why():
    mark = re.compile(r"#\s*(?:noqa|type: ignore)\b(.*)$")
    assert [
        f"{relative(path)}:{number}"
        for path in OURS
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if (found := mark.search(line)) and not re.search(r"( - |#|  )\s*\w+", found[1])
    ] == []


def test_nothing_is_left_for_later():
    marks = re.compile("TO" + "DO|FIX" + "ME|XX" + "X")
    assert [relative(path) for path in OURS if marks.search(path.read_text())] == []


def test_no_test_is_skipped():
    marks = re.compile(r"mark\.(skip|xfail)|pytest\.(skip|xfail|importorskip)\(")
    this = Path(__file__)
    assert [relative(path) for path in sources("tests") if path != this and marks.search(path.read_text())] == []


def test_every_test_asserts_something():
    silent = [
        f"{relative(path)}: {function.name}"
        for path in sources("tests")
        for function in nodes(path, ast.FunctionDef)
        if function.name.startswith("test_")
        and not _asserts(function)
        and not any(_called(function) & _asserting(file) for file in _in_sight(path))
    ]
    assert [test for test in silent if test not in SPEAK_BY_RAISING] == []
    assert [test for test in SPEAK_BY_RAISING if test not in silent] == []


def _asserts(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Assert) for node in ast.walk(function)) or "raises" in _called(function)


def _called(function: ast.FunctionDef) -> set[str]:
    """The last names of everything a function calls."""
    return {ast.unparse(node.func).rpartition(".")[2] for node in ast.walk(function) if isinstance(node, ast.Call)}


def _asserting(path: Path) -> set[str]:
    """The functions of a file that a test may leave its assertions to; tests call no tests."""
    functions = nodes(path, ast.FunctionDef)
    return {one.name for one in functions if _asserts(one) and not one.name.startswith("test_")}


def _in_sight(path: Path) -> set[Path]:
    """The files whose functions a test of a file can call: its own, the conftest.py of its folders, and what these import."""
    own = {path, *(folder / "conftest.py" for folder in path.parents if folder.is_relative_to(ROOT / "tests"))}
    own = {file for file in own if file.exists()}
    imported = {ROOT / f"{name.replace('.', '/')}.py" for file in own for name in imports(file)}
    return own | {file for file in imported if file.is_relative_to(ROOT / "tests") and file.exists()}


def test_the_tests_are_no_package_so_that_they_do_not_shadow_what_they_test():
    assert list((ROOT / "tests").rglob("__init__.py")) == []
