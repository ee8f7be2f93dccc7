"""What EMR runs is clean for Python 3.9, its default interpreter: grammar, names, and unions that would be worked out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.sources import relative, sources

#: Modules to the names they gained after 3.9; empty: the module itself is newer.
NEWER_NAMES: dict[str, frozenset[str]] = {
    "tomllib": frozenset(),
    "datetime": frozenset({"UTC"}),
    "enum": frozenset({"StrEnum", "verify", "member", "nonmember"}),
    "hashlib": frozenset({"file_digest"}),
    "contextlib": frozenset({"aclosing", "chdir"}),
    "inspect": frozenset({"get_annotations"}),
    "itertools": frozenset({"pairwise", "batched"}),
    "types": frozenset({"NoneType", "UnionType", "EllipsisType"}),
    "typing": frozenset(
        {"TypeAlias", "ParamSpec", "Concatenate", "TypeGuard", "Self", "Never", "assert_never", "override"}
    ),
}
#: Functions to the arguments they gained.
NEWER_ARGUMENTS = {
    "zip": {"strict"},
    "dataclass": {"slots", "kw_only", "match_args"},
    "field": {"kw_only"},
    "bisect_left": {"key"},
    "bisect_right": {"key"},
}


def newer_than_3_9(source: str) -> list[str]:
    """What of the source Python 3.9 does not know. Raises SyntaxError for its grammar."""
    parsed = ast.parse(source, feature_version=(3, 9))
    return [*_names(parsed), *_arguments(parsed), *_unions(parsed)]


def _names(parsed: ast.Module) -> Iterator[str]:
    for node in ast.walk(parsed):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if NEWER_NAMES.get(alias.name) == frozenset())
        if isinstance(node, ast.ImportFrom) and node.module in NEWER_NAMES:
            newer = NEWER_NAMES[node.module]
            yield from (f"{node.module}.{alias.name}" for alias in node.names if not newer or alias.name in newer)
        if isinstance(node, ast.Attribute) and node.attr in NEWER_NAMES.get(ast.unparse(node.value), ()):
            yield ast.unparse(node)


def _arguments(parsed: ast.Module) -> Iterator[str]:
    for node in ast.walk(parsed):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).rpartition(".")[2]
            newer = {keyword.arg for keyword in node.keywords} & NEWER_ARGUMENTS.get(called, set())
            yield from (f"{called}({name}=…)" for name in newer)


def _unions(parsed: ast.Module) -> Iterator[str]:
    """``X | None`` where it would be worked out: outside of annotations, and in them without the future import."""
    lazy = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in parsed.body)
    annotations = [
        a for node in ast.walk(parsed) for a in (getattr(node, "annotation", None), getattr(node, "returns", None))
    ]
    never_worked_out = {part for a in annotations if a is not None and lazy for part in ast.walk(a)}
    for node in ast.walk(parsed):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and node not in never_worked_out:
            sides = [ast.unparse(side) for side in (node.left, node.right)]
            if "None" in sides or {"str", "int", "float", "bytes", "bool", "dict", "list"} & set(sides):
                yield " | ".join(sides)


@pytest.mark.parametrize("package", ["pipeline", "spark"])
def test_what_runs_on_emr_needs_no_newer_python(package):
    found = {relative(path): newer for path in sources(package) if (newer := newer_than_3_9(path.read_text()))}
    assert found == {}


@pytest.mark.parametrize(
    "source",
    [
        "import tomllib",
        "from tomllib import loads",
        "from datetime import UTC",
        "import datetime\nnow = datetime.UTC",
        "from itertools import pairwise",
        "zip([], [], strict=True)",
        "@dataclasses.dataclass(frozen=True, slots=True)\nclass A: ...",
        "Text = str | None",
        "def f(x: str | None): ...",
        "from __future__ import annotations\nisinstance(1, int | str)",
    ],
)
def test_the_check_would_notice(source):
    assert newer_than_3_9(source)


@pytest.mark.parametrize("source", ["match x:\n    case 1: pass", "try:\n    pass\nexcept* OSError:\n    pass"])
def test_the_older_grammar_would_notice(source):
    with pytest.raises(SyntaxError):
        newer_than_3_9(source)


@pytest.mark.parametrize(
    "source",
    [
        "from __future__ import annotations\ndef f(x: str | None) -> list[int] | None: ...",
        "from __future__ import annotations\nx: dict[str, int] | None = None",
        "flags = a | b",
        "names = set(a) | set(b)",
        "text.removeprefix('a')",
    ],
)
def test_what_3_9_knows_is_left_alone(source):
    assert newer_than_3_9(source) == []
