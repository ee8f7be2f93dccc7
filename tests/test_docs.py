"""The documents keep up with the code: every error, setting, verb and link they name is there, and the other way round."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from pipeline import run_reports
from pipeline.deployment import Deployment
from pipeline.errors import REPAIR, DamagedExport, error_names
from pipeline.mails.frame import MAIL_LISTS
from pipeline.mails.success import success_mail
from pipeline.modes import MODES
from pipeline.planning.half_done import MOST_JOB_RUNS, MOST_TRIES
from pipeline.settings import Settings, SparkSettings, TableSettings
from tests.documents import OPERATIONS, SETTINGS, TABLES, blocks, section
from tests.pipeline.rounds import done, failed
from tests.pipeline.world import DEPLOYMENT, plan

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
FAILURES = (ROOT / "docs" / "failures.md").read_text()
DOCUMENTS = sorted(
    p
    for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("[!.]*/README.md")]
    if "node_modules" not in p.parts
)
#: Numbers as a text writes them out.
_WORDS = {2: "two", 3: "three", 4: "four"}


def test_every_error_has_a_section_in_the_manual_and_no_section_is_left_over():
    sections = re.findall(r"^### (\w+)$", OPERATIONS, flags=re.MULTILINE)
    assert sorted(sections) == sorted(error_names())


def test_every_section_of_the_manual_shows_the_command_of_its_error():
    for name, kind in error_names().items():
        assert kind.command in section(OPERATIONS, f"### {name}"), name


def test_mail_and_manual_warn_where_the_command_would_set_paused_tables_to_run():
    repaired = {name: kind for name, kind in error_names().items() if kind.command == REPAIR}
    assert len(repaired) == 6
    for name, kind in repaired.items():
        assert "to RUN" in kind.default_remedy, name
        assert "sets `control` to `RUN`" in section(OPERATIONS, f"### {name}"), name


def test_every_setting_stands_in_the_document_of_settings():
    settings = SETTINGS.split("\n## ")[0]
    wanted = [f"`{f.name}`" for f in fields(Settings) if f.name != "spark"]
    wanted += [f"`tables[].{f.name}`" for f in fields(TableSettings)]
    wanted += [f"`spark.{f.name}`" for f in fields(SparkSettings)]
    assert [name for name in wanted if name not in settings] == []


def test_of_every_setting_the_document_says_when_its_change_takes_effect():
    changes = section(SETTINGS, "## When a change takes effect")
    changed = {
        name
        for row in re.findall(r"^\| (`.*?) \|", changes, flags=re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    settings = [field.name for kind in (Settings, TableSettings) for field in fields(kind)]
    # Another name is one table less and one more.
    assert [name for name in settings if name not in {*changed, "name"}] == []


def test_the_settings_that_the_readme_shows_are_accepted():
    (shown,) = blocks(README, "json")
    settings = Settings.parse(json.loads(f"{{{shown}}}")["tidemark"])
    assert [(table.name, table.window_minutes) for table in settings.tables] == [("orders", 60), ("customers", 15)]


def test_every_mode_but_the_plain_one_is_shown_in_the_readme():
    assert [mode for mode in MODES if mode != "update" and f'"mode": "{mode}"' not in README] == []


def test_every_test_that_the_table_of_failures_names_exists():
    rows = [line for line in FAILURES.splitlines() if re.match(r"\| \d+ \|", line)]
    without = [row for row in rows if not re.search(r"`tests/\S+\.py::test_\w+` *\|", row)]
    named = re.findall(r"`(tests/\S+\.py)::(test_\w+)`", FAILURES)
    assert (len(rows), without) == (63, [])
    assert [f"{file}::{test}" for file, test in named if f"def {test}(" not in (ROOT / file).read_text()] == []


def test_every_make_verb_that_a_document_names_exists():
    verbs = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    named = {verb for text in map(Path.read_text, DOCUMENTS) for verb in re.findall(r"`make ([a-z-]+)`", text)}
    assert named <= verbs


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(document):
    links = re.findall(r"\]\(([^)#]*)#?([^)]*)\)", document.read_text())
    inside = [(document.parent / file if file else document, anchor) for file, anchor in links if "://" not in file]
    assert [str(target) for target, _ in inside if not target.exists()] == []
    assert [f"{target}#{anchor}" for target, anchor in inside if anchor and anchor not in _anchors(target)] == []


def test_every_file_of_the_tree_that_a_document_names_is_there():
    folders = "docs|infra|lambdas|local|pipeline|scripts|spark|statemachine|tests"
    named = {
        (document.name, file)
        for document in DOCUMENTS
        for file in re.findall(rf"`((?:{folders})/[\w./-]+\.\w+)`", document.read_text())
    }
    assert len(named) > 50
    assert [(document, file) for document, file in sorted(named) if not (ROOT / file).exists()] == []


def _anchors(document):
    """What links may name in a document: its headings in small letters, without signs, words joined by dashes."""
    text = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings]


def test_the_manual_names_all_that_mails_about_runs_tell_machines():
    told = section(OPERATIONS, "## Mails for machines")
    mails = [success_mail(done(plan("12:00")), DEPLOYMENT), failed()]
    assert [name for mail in mails for name in mail.facts if f"`{name}`" not in told] == []


def test_the_manual_names_each_status_that_machines_get():
    told = section(OPERATIONS, "## Mails for machines")
    assert [status for status in MAIL_LISTS if f"`{status}`" not in told.split("Beside these:")[0]] == []


def test_every_column_of_the_run_reports_has_its_meaning():
    table = section(TABLES, "## The table of runs")
    meant = {
        name for row in re.findall(r"^\| (`.*?) \|", table, flags=re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    assert meant == {run_reports.PARTITION, *run_reports.COLUMNS}


def test_the_parameter_paths_in_the_readme_are_those_of_the_code():
    blank = {f.name: "" for f in fields(Deployment)} | {"parameter_prefix": "/tidemark/Tidemark"}
    assert Deployment(**blank).parameter("orders", "control") in README
    assert Deployment(**blank).parameter("orders", "last-export-time") in README


def test_mail_and_manual_say_how_often_damaged_files_are_exported_and_what_is_refused_is_tried():
    tries = _WORDS[MOST_TRIES]
    assert f"are tried {tries} times with the same settings. Then Plan fails" in OPERATIONS
    assert set(re.findall(r"is tried (\w+) times with the same settings", OPERATIONS)) == {tries}
    assert set(re.findall(r"(?:stopped|Then start a run:) after (\w+) tries", OPERATIONS)) == {tries}
    assert f"name of a job's error: {tries} tries are over" in OPERATIONS
    for name, kind in error_names().items():
        if issubclass(kind, DamagedExport):
            told = section(OPERATIONS, f"### {name}")
            assert f"has the stretch exported anew; {tries} times in all." in told, name
            assert kind.default_remedy.endswith(f"export again, {tries} times in all."), name


def test_the_manual_says_after_how_many_job_runs_a_wish_is_given_up():
    runs = _WORDS[MOST_JOB_RUNS]
    assert set(re.findall(r"(\w+) job runs in all, then it is given up", OPERATIONS)) == {runs}
    given_up = section(OPERATIONS, "### WishGivenUp")
    assert f"a person has asked for has ended {runs} times without success" in given_up
    assert f"has ended {runs} times without success" in (error_names()["WishGivenUp"].__doc__ or "")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(ROOT)))
def test_no_document_has_names_that_hold_in_one_partition_of_aws_alone(document):
    """China and GovCloud have other ARNs, and China another domain; only services are called alike everywhere."""
    text = document.read_text()
    assert "arn:aws" not in text
    assert not [name for name in re.findall(r"(\S+)\.amazonaws\.com", text) if "." in name]
