"""The journal: any state, the net changes of any window, and what may be asked for."""

import copy
import itertools
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.aws.pitr.journal import Change, HistoryGone, Journal, RestorableRange
from local.aws.pitr.times import DAY, SECOND

KEYS = ("a", "b", "c")
IMAGES = st.one_of(st.none(), st.sampled_from(["1", "2", "3"]))
# Small times, so that writes meet each other and the ends of windows.
HISTORIES = st.lists(st.tuples(st.integers(1, 20), st.sampled_from(KEYS), IMAGES), max_size=30).map(
    lambda writes: sorted(writes, key=lambda write: write[0])
)
INSTANTS = st.integers(0, 22)


def journal_of(writes, base=None, days=35):
    journal = Journal(0, base or {}, recovery_days=days)
    for at, key, image in writes:
        journal.write(at, key, image)
    return journal


def by_key(changes):
    return {change.key: change for change in changes}


def apply_changes(state, changes):
    """What a state becomes under net changes: what every reader of exports has to achieve."""
    result = dict(state)
    for change in changes:
        if change.new is None:
            result.pop(change.key, None)
        else:
            result[change.key] = change.new
    return result


@given(HISTORIES, st.dictionaries(st.sampled_from(KEYS), st.just("0")), INSTANTS)
def test_a_state_is_what_the_writes_before_the_instant_lead_to(writes, base, at):
    expected = dict(base)
    for written_at, key, image in writes:
        if written_at < at:
            expected.pop(key, None) if image is None else expected.update({key: image})
    assert journal_of(writes, base).state_at(at) == expected


@given(HISTORIES, INSTANTS, INSTANTS, st.booleans())
def test_net_changes_lead_from_the_state_at_the_start_to_the_state_at_the_end(writes, one, other, with_no_ops):
    start, end = sorted((one, other))
    journal = journal_of(writes, {"a": "0"})
    changes = journal.net_changes(start, end, with_no_ops=with_no_ops)
    assert apply_changes(journal.state_at(start), changes) == journal.state_at(end)


@given(HISTORIES, INSTANTS, INSTANTS)
def test_every_change_is_one_per_key_with_the_image_before_the_window_and_a_time_inside_it(writes, one, other):
    start, end = sorted((one, other))
    journal = journal_of(writes, {"a": "0"})
    before, after = journal.state_at(start), journal.state_at(end)
    changes = journal.net_changes(start, end)
    assert len(by_key(changes)) == len(changes)
    for change in changes:
        assert (change.old, change.new) == (before.get(change.key), after.get(change.key))
        assert start <= change.at < end
        assert change.old is not None or change.new is not None


@given(HISTORIES, st.lists(INSTANTS, min_size=2, max_size=6).map(sorted))
def test_a_chain_of_touching_windows_ends_at_the_final_state(writes, bounds):
    journal = journal_of(writes)
    copied = journal.state_at(bounds[0])
    for start, end in itertools.pairwise(bounds):
        copied = apply_changes(copied, journal.net_changes(start, end))
    assert copied == journal.state_at(bounds[-1])


def test_overlapping_windows_leave_a_ghost_row():
    journal = journal_of([(15, "ghost", "1"), (25, "ghost", None)])
    copied = apply_changes({}, journal.net_changes(0, 20))
    copied = apply_changes(copied, journal.net_changes(10, 30))
    assert copied == {"ghost": "1"}
    assert journal.state_at(30) == {}


@pytest.mark.parametrize(
    ("writes", "change"),
    [
        pytest.param([(5, "x")], Change("k", 5, None, "x"), id="insert"),
        pytest.param([(1, "x"), (5, "y")], Change("k", 5, "x", "y"), id="update"),
        pytest.param([(1, "x"), (5, None)], Change("k", 5, "x", None), id="delete"),
        pytest.param([(5, "x"), (6, None)], None, id="insert then delete"),
        pytest.param(
            [(1, "x"), (5, None), (6, "y")], Change("k", 6, "x", "y"), id="delete then re-insert is an update"
        ),
        pytest.param([(1, "x"), (5, "y"), (6, "z")], Change("k", 6, "x", "z"), id="many updates"),
        pytest.param([(1, "x"), (5, "y"), (6, "x")], Change("k", 6, "x", "x"), id="changed and changed back"),
        pytest.param([(1, "x"), (5, "x")], None, id="written as it was"),
        pytest.param(
            [(1, "x"), (5, "y"), (6, "y")], Change("k", 5, "x", "y"), id="the last write that changed something"
        ),
        pytest.param([(5, None)], None, id="delete of what is not there"),
        pytest.param([(4, "x")], Change("k", 4, None, "x"), id="a write at the window's start is inside"),
        pytest.param([(10, "x")], None, id="a write at the window's end is outside"),
    ],
)
def test_the_net_change_of_one_item(writes, change):
    journal = journal_of([(at, "k", image) for at, image in writes])
    assert journal.net_changes(4, 10) == ([change] if change else [])


def test_no_op_writes_can_be_shown():
    journal = journal_of([(1, "k", "x"), (5, "k", "x")])
    assert journal.net_changes(4, 10, with_no_ops=True) == [Change("k", 5, "x", "x")]


def test_a_write_dated_back_keeps_its_place_in_the_order():
    journal = journal_of([(9, "k", "x"), (5, "k", "y")])
    assert journal.state_at(10) == {"k": "y"}
    assert journal.state_at(9) == {}


def test_a_swap_of_all_items_is_noted_by_its_differences():
    journal = journal_of([(1, "same", "x"), (1, "other", "x"), (1, "gone", "x")])
    journal.replace(5, {"same": "x", "other": "y", "new": "x"})
    assert journal.state_at(6) == {"same": "x", "other": "y", "new": "x"}
    assert by_key(journal.net_changes(5, 6)).keys() == {"other", "gone", "new"}


@pytest.mark.parametrize(
    ("now", "lag", "expected"),
    [
        pytest.param(100 * SECOND, 300 * SECOND, (50 * SECOND, 50 * SECOND), id="latest is never before enabling"),
        pytest.param(DAY, 300 * SECOND, (50 * SECOND, DAY - 300 * SECOND), id="latest trails the present"),
        pytest.param(36 * DAY, 0, (DAY, 36 * DAY), id="earliest moves on with the recovery period"),
    ],
)
def test_the_restorable_range(now, lag, expected):
    assert Journal(50 * SECOND).restorable(now, lag) == RestorableRange(*expected)


def test_shortening_the_recovery_period_gives_history_up_and_lengthening_brings_none_back():
    journal = Journal(0)
    journal.keep_for(2, 10 * DAY)
    assert journal.restorable(10 * DAY, 0).earliest == 8 * DAY
    journal.keep_for(35, 10 * DAY)
    assert journal.restorable(10 * DAY, 0).earliest == 8 * DAY
    assert journal.restorable(12 * DAY, 0).earliest == 8 * DAY
    journal.keep_for(2, 20 * DAY)
    journal.keep_for(35, 30 * DAY)
    assert journal.restorable(31 * DAY, 0).earliest == 28 * DAY


@given(st.lists(st.tuples(st.integers(0, 60), st.sampled_from(KEYS), IMAGES), max_size=60), INSTANTS)
def test_history_older_than_the_recovery_period_is_folded_without_a_trace(raw, offset):
    half_days = sorted(raw, key=lambda write: write[0])
    writes = [(at * DAY // 2, key, image) for at, key, image in half_days]
    folding, keeping = journal_of(writes, days=3), journal_of(writes, days=1000)
    now = writes[-1][0] if writes else 0
    start = folding.restorable(now, 0).earliest
    end = min(now, start + offset * DAY // 8)
    assert folding.state_at(end) == keeping.state_at(end)
    assert by_key(folding.net_changes(start, end)) == by_key(keeping.net_changes(start, end))


def test_a_journal_does_not_grow_for_ever():
    journal = Journal(0, recovery_days=1)
    for hour in range(24 * 100):
        journal.write(hour * DAY // 24, "k", str(hour))
    assert journal.writes_held <= 3 * 24
    with pytest.raises(HistoryGone):
        journal.state_at(DAY)


def test_history_an_export_needs_is_held_however_the_clock_moves():
    journal = Journal(0, recovery_days=1)
    journal.write(1, "k", "early")
    journal.hold(1)
    journal.write(9 * DAY, "k", "late")
    assert journal.net_changes(1, 2) == [Change("k", 1, None, "early")]
    journal.release(1)
    journal.write(20 * DAY, "k", "later")
    with pytest.raises(HistoryGone):
        journal.net_changes(1, 2)


def test_a_copy_goes_its_own_way():
    journal = journal_of([(1, "k", "x")])
    twin = copy.deepcopy(journal)
    journal.write(2, "k", None)
    assert (journal.state_at(3), twin.state_at(3)) == ({}, {"k": "x"})


def test_a_hundred_thousand_writes_of_one_item_and_of_many_cost_no_more_than_seconds():
    began = time.process_time()
    journal = Journal(0)
    for number in range(100_000):
        journal.write(number, "hot" if number % 2 else f"k{number}", json.dumps(number))
    for start in range(0, 100_000, 10_000):
        journal.net_changes(start, start + 10_000)
    journal.state_at(100_000)
    assert time.process_time() - began < 60
