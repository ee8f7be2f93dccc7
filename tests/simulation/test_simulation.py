"""Years of schedule in virtual time, in which everything fails that can; and the bugs that this finds."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.simulation import export_bugs, machine, mail_bugs, seeded_bugs
from tests.simulation.execution import WAYS
from tests.simulation.faults import FAULTS
from tests.simulation.many import live_through, summary
from tests.simulation.seeded_bugs import BUGS, job_without_guard
from tests.simulation.simulation import Lived, simulate
from tests.simulation.timeline import Violation
from tests.statemachine.definition import ENDS, STATES

TICKS_OF_A_DAY = 24 * 4
#: So many tables, with as many lengths of window, live for so many days each: more than three years in all.
LIVES, DAYS_OF_A_LIFE = 6, 200
PLANTED = {**BUGS, **export_bugs.EXPORT_BUGS, **mail_bugs.MAIL_BUGS}
#: A seeded bug is found in one of so many tables, each within so many days.
TABLES, DAYS = 12, 240
#: The tables in which most bugs show soonest come first.
_SEEDS = sorted(range(TABLES), key=lambda seed: (seed != 4, seed != 0, seed != 8))
#: The tables in which some show much sooner.
_SOONEST = {
    seeded_bugs.claim_overwritten: 2,
    seeded_bugs.clamped_to_the_earliest_restorable_time: 0,
    seeded_bugs.maintenance_forgotten: 2,
    seeded_bugs.wish_given_up_in_silence: 10,
    seeded_bugs.wish_of_another_taken_for_done: 7,
    export_bugs.export_of_a_dead_job_made_again: 6,
    mail_bugs.command_of_contradictions_is_to_run_again: 2,
    mail_bugs.command_that_nobody_knows: 2,
    mail_bugs.no_warning_without_a_failure: 0,
}
#: Seconds: whichever of the tests comes first waits for all the years, perhaps beside others that want the processors.
_WHILE_THE_YEARS_PASS = 1500
DOCUMENT = (Path(__file__).parents[2] / "docs" / "simulation.md").read_text()


@pytest.fixture(scope="module")
def lived() -> list[Lived]:
    """Tables with six lengths of window."""
    found = list(live_through(range(LIVES), DAYS_OF_A_LIFE))
    broken = [text for text in found if isinstance(text, str)]
    assert broken == [], broken[0]
    return [one for one in found if isinstance(one, Lived)]


def found_by(bug: seeded_bugs.Bug, shown_as: str) -> str:
    """The violation that a bug must lead to, by how it begins; empty where there are only others, or none."""
    for seed in sorted(_SEEDS, key=lambda seed: seed != _SOONEST.get(bug)):
        try:
            with bug():
                simulate(seed, DAYS)
        except Violation as violation:
            if re.match(shown_as, str(violation)):
                return str(violation)
    return ""


def test_a_table_lives_through_two_months_in_which_everything_fails():
    one = simulate(seed=0, days=60)
    assert one.ticks == 60 * 96
    assert one.faults.total() > 20


def test_the_same_seed_lives_through_the_same():
    assert simulate(seed=4, days=30) == simulate(seed=4, days=30)


def test_the_model_has_the_states_of_the_definition():
    assert set(machine.STATES) == {name for name, state in STATES.items() if state["Type"] not in ENDS}


@pytest.mark.simulation
@pytest.mark.timeout(_WHILE_THE_YEARS_PASS)
def test_years_pass_without_a_window_lost_or_doubled_and_never_stuck(lived: list[Lived]):
    assert sum(one.ticks for one in lived) == LIVES * DAYS_OF_A_LIFE * TICKS_OF_A_DAY
    assert all(one.commits > 200 for one in lived), summary(lived)
    assert sum(one.verified for one in lived) > 2 * LIVES, summary(lived)


@pytest.mark.simulation
@pytest.mark.timeout(_WHILE_THE_YEARS_PASS)
def test_years_take_every_way_of_the_state_machine_and_no_other(lived: list[Lived]):
    taken = {way for one in lived for way in one.ways}
    assert taken == {(name, target) for name, targets in WAYS.items() for target in targets}


@pytest.mark.simulation
@pytest.mark.timeout(_WHILE_THE_YEARS_PASS)
def test_years_see_every_fault_many_times(lived: list[Lived]):
    seen: Counter[str] = sum((one.faults for one in lived), Counter())
    assert len(seen) == len(FAULTS)
    assert min(seen.values()) >= 10


@pytest.mark.parametrize(("bug", "shown_as"), [pytest.param(*one, id=one[0].__name__) for one in PLANTED.items()])
def test_a_seeded_bug_is_found_and_its_timeline_can_be_read(bug, shown_as):
    text = found_by(bug, shown_as)
    assert text, f"{TABLES} tables lived {DAYS} days with {bug.__name__}"
    assert "What led there:" in text
    assert " plans " in text


def test_another_violation_than_its_own_does_not_count_as_a_bug_s():
    assert found_by(seeded_bugs.end_past_the_latest_restorable_time, "exports are legal")
    assert found_by(seeded_bugs.end_past_the_latest_restorable_time, "the chain touches") == ""


@pytest.mark.parametrize(
    "bug", [seeded_bugs.cursor_moved_at_export_start, seeded_bugs.clamped_to_the_earliest_restorable_time]
)
def test_without_the_job_s_own_guard_a_lost_window_shows_as_a_wrong_table(bug):
    with job_without_guard():
        assert found_by(bug, "the table is the source at its watermark")


def test_the_document_names_every_fault_and_every_seeded_bug():
    faults = [fault.__name__.strip("_").replace("_", " ") for fault in FAULTS]
    bugs = [bug.__name__.replace("_", " ") for bug in PLANTED]
    assert [name for name in [*faults, *bugs] if name not in DOCUMENT] == []
