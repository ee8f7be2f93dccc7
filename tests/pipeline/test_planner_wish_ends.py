"""Who has asked for a backfill, a full export or a verification is told once how it has ended, whatever became of its run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.errors import error_names
from pipeline.modes import BACKFILL, CALLED, FULL, MAINTAIN, VERIFY
from pipeline.planning.actions import HANDED_OVER, WISH_FULFILLED, Export, Halt, Idle, Record
from pipeline.planning.planner import next_action
from pipeline.planning.rules import Rules
from pipeline.table.marker import TableState
from tests.pipeline.world import HOUR, ME, RECREATED, at, backfill, claim, full, plan, seen, table, update, verify, wish

BACKFILLED = plan("10:00 12:00", BACKFILL, 7)
LOADED = plan("12:00", FULL, 7)
VERIFIED = plan("12:00", VERIFY, 7)
WISHES = [BACKFILLED, LOADED, VERIFIED]
FOR_GOOD = sorted(name for name, kind in error_names().items() if not kind.heals_by_itself)


def done(wished):
    """A world in which a wish is done, and its run has died."""
    if wished.mode == VERIFY:
        return seen("12:00", "09:00-12:30", claim=claim(wished, reported=True))
    return seen(shows=table("12:00", job_id=wished.job_id), restorable="09:00-12:30", claim=claim(wished))


@pytest.mark.parametrize("wished", WISHES, ids=lambda wished: wished.mode)
def test_what_is_done_and_nobody_has_told_is_told_before_anything_else(wished):
    world = done(wished)
    told = Record(at("12:00"), "2026-11-21T12:00:00Z", wished.mode, untold=wished.job_id)
    for ask in (update, verify, full, lambda world: backfill(world, "09:00")):
        assert ask(world) == told
    later = update(replace(world, told_end=wished.job_id))
    assert isinstance(later, Idle)


@pytest.mark.parametrize("wished", WISHES, ids=lambda wished: wished.mode)
def test_it_is_not_told_again_by_a_run_that_could_not_record_it_and_its_own_leaves_it_to_the_next(wished):
    world = done(wished)
    assert isinstance(update(replace(world, is_first_round=False)), Idle)
    begun = replace(world.claim, owner=ME, reported=False)
    undone = replace(world, table=table("12:00"), claim=begun)
    assert update(undone) == Export(wished, 7, adopted=True), "what it has only begun it goes on with"
    own = replace(world, claim=replace(world.claim, owner=ME))
    assert (update(own).kind, update(own).reason) == ("Idle", HANDED_OVER)
    asked = {VERIFY: verify, FULL: full, BACKFILL: lambda world: backfill(world, "10:00")}[wished.mode]
    assert asked(own).reason == WISH_FULFILLED
    assert isinstance(next_action(world, replace(wish(), dry_run=True), Rules(HOUR)), Idle)


def test_what_others_have_committed_since_is_not_taken_for_it():
    shows = table("12:00", job_id="merge-of-another", done=(BACKFILLED,))
    assert isinstance(update(seen(shows=shows, restorable="09:00-12:30", claim=claim(BACKFILLED))), Idle)
    later = seen(shows=shows, restorable="11:00-12:30", claim=claim(BACKFILLED))
    assert isinstance(update(later), Idle), "nor is it given up once it could not be done any more"


@pytest.mark.parametrize("error", FOR_GOOD)
@pytest.mark.parametrize("wished", WISHES, ids=lambda wished: wished.mode)
def test_what_its_job_has_refused_for_good_is_told_by_its_own_name_and_remedy(wished, error):
    refused = replace(claim(wished, refused_with=error), refusal="This is why.", remedy="Do this.")
    world = seen("12:00", "09:00-13:00", claim=refused)
    action = update(world)
    assert isinstance(action, Halt)
    assert (action.error, action.remedy, action.ends, action.mode) == (error, "Do this.", wished.job_id, wished.mode)
    assert action.message.startswith(
        f"the {CALLED[wished.mode]} ({wished.job_id}), of which no run has told: This is why."
    )
    asked = {BACKFILL: BACKFILL_FROM, FULL: FULL_AGAIN, VERIFY: VERIFY_AGAIN}[wished.mode]
    assert action.asked == ("" if error == "VerificationFailed" else asked)
    assert action.message.endswith(f"(It was asked for as {asked})" if action.asked else "This is why.")
    assert update(replace(world, told_end=wished.job_id)) == Export(plan("12:00 13:00"), 8)


@pytest.mark.parametrize("error", ["JobFailed", "TableContended", "TableGone", "ChecksumMismatch"])
def test_of_a_verification_every_refusal_is_the_end(error):
    action = update(seen("12:00", claim=claim(VERIFIED, refused_with=error)))
    again = "Ask for it again once the table is up to date." if error == "TableGone" else "Ask for it again."
    assert (action.error, action.remedy) == (error, again)
    assert isinstance(update(seen("12:00", claim=claim(BACKFILLED, refused_with=error))), Export)


def test_a_verification_of_which_two_runs_have_died_is_told_to_be_given_up():
    action = update(seen("12:00", "09:00-13:00", claim=claim(VERIFIED, number=8)))
    assert isinstance(action, Halt)
    assert (action.error, action.ends, action.asked) == (
        "WishGivenUp",
        VERIFIED.job_id,
        '{"table":"orders","mode":"verify"}',
    )


def test_who_asks_for_the_same_again_or_for_everything_anew_hears_of_that():
    refused = seen("12:00", "09:00-13:00", claim=claim(BACKFILLED, refused_with="KeyDoesNotFit"))
    assert isinstance(backfill(refused, "10:00"), Export)
    too_late = seen("12:00", "11:00-13:00", claim=refused.claim)
    assert full(refused) == full(too_late) == Export(plan("13:00", FULL, 8), 8)
    assert isinstance(backfill(refused, "11:00"), Halt)


def test_maintenance_is_due_again_and_ends_without_a_word():
    begun = claim(plan("12:00", MAINTAIN, 7), refused_with="PartitionsKept")
    assert isinstance(update(seen("12:00", "09:00-13:00", claim=begun)), Export)


BACKFILL_FROM = '{"table":"orders","mode":"backfill","from":"2026-11-21T10:00:00Z"}'
VERIFY_AGAIN, UPDATED = '{"table":"orders","mode":"verify"}', '{"table":"orders","mode":"update"}'
ANEW, LATER = "Nothing: the next run makes the table anew", "Ask for it again once the table is up to date."
CATCH_UP, AGAIN = "Let the table catch up", "Ask for it again."
FULL_AGAIN, FULL_BRINGS = '{"table":"orders","mode":"full"}', "A full export brings what the backfill was to bring;"
GONE, LOST = seen("", "09:00-14:00"), seen("12:00", "12:30-14:00")
BACK, FAR_BACK, AHEAD = (seen(watermark, "09:00-14:00") for watermark in ("11:00", "09:30", "13:00"))
#: As a new source table's is: it begins when that was made.
RECREATED_HISTORY = replace(LOST.source, table=RECREATED)
OF_ANOTHER, STRANGE = seen("12:00", "09:00-14:00", source=RECREATED), seen(shows=TableState(exists=True))


@pytest.mark.parametrize(
    ("wished", "world", "said", "asked", "remedy"),
    [
        pytest.param(VERIFIED, GONE, "gone or another one", VERIFY_AGAIN, LATER, id="verify, no table"),
        pytest.param(VERIFIED, STRANGE, "gone or another one", VERIFY_AGAIN, LATER, id="verify, a stranger's table"),
        pytest.param(
            VERIFIED, BACK, "it is at 2026-11-21T11:00:00Z now", VERIFY_AGAIN, LATER, id="verify, rolled back"
        ),
        pytest.param(VERIFIED, AHEAD, "it is at 2026-11-21T13:00:00Z now", VERIFY_AGAIN, LATER, id="verify, moved on"),
        pytest.param(VERIFIED, LOST, "nothing before", VERIFY_AGAIN, LATER, id="verify, history lost"),
        pytest.param(VERIFIED, OF_ANOTHER, "with id id-of-the-new", VERIFY_AGAIN, LATER, id="verify, another source"),
        pytest.param(BACKFILLED, GONE, "gone or another one", "", ANEW, id="backfill, no table"),
        pytest.param(
            BACKFILLED, STRANGE, "gone or another one", FULL_AGAIN, FULL_BRINGS, id="backfill, a stranger's table"
        ),
        pytest.param(BACKFILLED, BACK, "it is at 2026-11-21T11:00:00Z now", BACKFILL_FROM, AGAIN, id="backfill, back"),
        pytest.param(BACKFILLED, FAR_BACK, "it is at 2026-11-21T09:30:00Z now", UPDATED, CATCH_UP, id="backfill, far"),
        pytest.param(
            BACKFILLED, OF_ANOTHER, "with id id-of-the-new", FULL_AGAIN, FULL_BRINGS, id="backfill, another source"
        ),
        pytest.param(
            BACKFILLED, replace(LOST, source=RECREATED_HISTORY), "id-of-the-new", FULL_AGAIN, FULL_BRINGS, id="young"
        ),
        pytest.param(LOADED, replace(GONE, source=OF_ANOTHER.source), "another one now", "", ANEW, id="full, no table"),
    ],
)
def test_what_was_begun_for_a_source_or_a_table_that_is_no_more_is_told(wished, world, said, asked, remedy):
    world = replace(world, claim=claim(wished))
    for rules in (Rules(HOUR), Rules(HOUR, rebuilds=True)):
        action = next_action(world, wish(), rules)
        assert isinstance(action, Halt)
        assert (action.error, action.ends, action.asked) == ("WishGivenUp", wished.job_id, asked)
        assert action.remedy.startswith(remedy)
        assert said in action.message
        told = next_action(replace(world, told_end=wished.job_id), wish(), rules)
        assert getattr(told, "error", "") != "WishGivenUp", "and what comes next is not held up"


@pytest.mark.parametrize(("rebuilds", "asked", "remedy"), [(False, FULL_AGAIN, FULL_BRINGS), (True, "", ANEW)])
def test_a_backfill_of_a_table_that_was_rolled_back_behind_its_history_is_brought_by_a_full_export(
    rebuilds, asked, remedy
):
    world = replace(seen("08:00", "09:00-14:00"), claim=claim(BACKFILLED))
    action = next_action(world, wish(), Rules(HOUR, rebuilds=rebuilds))
    assert (action.error, action.asked) == ("WishGivenUp", asked)
    assert action.remedy.startswith(remedy)


@pytest.mark.parametrize("wished", [BACKFILLED, LOADED])
def test_what_comes_too_late_for_a_table_that_is_gone_is_brought_by_the_next_run(wished):
    action = update(seen("", "12:30-14:00", claim=claim(wished)))
    assert (action.error, action.asked) == ("WishGivenUp", "")
    assert action.remedy.startswith(ANEW)


def test_a_full_export_of_the_old_source_is_not_given_up_while_there_is_a_table_that_needs_another():
    assert update(replace(OF_ANOTHER, claim=claim(LOADED))).error == "TableRecreated"


def test_nothing_is_told_of_a_backfill_that_somebody_has_taken_back():
    taken_back = replace(claim(BACKFILLED), committed=True)
    for ended in (taken_back, replace(taken_back, failed_runs=3)):
        assert update(replace(BACK, claim=ended)) == Export(plan("11:00 14:00"), 8)
        late = seen("11:00", "10:30-14:00", claim=ended)
        assert update(late) == Export(plan("11:00 14:00"), 8), "nor once it could not be done any more"


def test_a_backfill_that_comes_too_late_is_told_as_that_also_where_the_table_was_rolled_back():
    action = update(seen("11:45", "10:30-14:00", claim=claim(BACKFILLED)))
    assert (action.error, action.asked) == ("WishGivenUp", BACKFILL_FROM.replace("10:00", "10:30"))
    assert "was to begin at 2026-11-21T10:00:00Z" in action.message
    assert action.remedy == "Ask for it again; a backfill begins at a later instant then."
    assert update(seen("12:45", "12:30-14:00", claim=claim(LOADED))).remedy == AGAIN


def begun_near_where_history_ends(begun, watermark, **ended):
    """A world in which a backfill has ended, and all that the source keeps is there, so that the oldest of it goes."""
    found = replace(claim(plan(f"{begun} {watermark}", BACKFILL)), **ended)
    world = seen(watermark, "01/13:00-21/12:50", claim=found)
    return replace(world, source=replace(world.source, recovery_days=20))


ENDED = [{"failed_runs": 3}, {"refused_with": "OverrideContradicted"}]


@pytest.mark.parametrize("ended", ENDED)
@pytest.mark.parametrize(
    ("begun", "begins"), [("01/13:20", "01/14:00"), ("01/14:10", "01/14:10"), ("02/11:45", "02/11:45")]
)
def test_a_backfill_is_to_be_asked_for_again_from_an_instant_that_is_taken(begun, begins, ended):
    world = begun_near_where_history_ends(begun, "02/12:00", **ended)
    action = update(world)
    assert action.asked == BACKFILL_FROM.replace("21T10:00", begins.replace("/", "T"))
    assert ("; a backfill begins at a later instant then." in action.remedy) == (
        begun != begins and "failed_runs" in ended
    )
    again = backfill(replace(world, told_end=action.ends), begins)
    assert again == Export(plan(f"{begins} 02/12:00", BACKFILL, 8), 8)


@pytest.mark.parametrize(("ended", "asked"), [(ENDED[0], '{"table":"orders","mode":"update"}'), (ENDED[1], "")])
def test_where_none_would_be_taken_none_is_to_be_asked_for(ended, asked):
    action = update(begun_near_where_history_ends("01/13:20", "01/14:10", **ended))
    assert (action.asked, "No backfill is possible now" in action.remedy) == (asked, bool(asked))


def test_of_a_backfill_that_is_given_up_where_the_table_is_gone_the_next_run_makes_that_good():
    left = claim(plan("10:00 12:00", BACKFILL), owner=ME)
    action = update(seen("", claim=replace(left, failed_runs=3)))
    assert isinstance(action, Halt)
    assert (action.error, action.asked) == ("WishGivenUp", "")
    assert action.remedy.startswith("Nothing: the next run makes the table anew")
