"""The history of one table while point-in-time recovery is on: what an export shows is read off it.

A journal holds the items as they were when recovery was switched on, and every write since, in order. Pure: all times
are arguments, in microseconds since the epoch. Switching recovery off ends a journal; on again begins another.

An instant is exclusive: `state_at(t)` shows the writes before t, and a window ``[start, end)`` the net effect of those
from start on and before end. So a full export at t and a window that starts at t meet exactly.
"""

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from local.aws.pitr.times import DAY

DEFAULT_RECOVERY_DAYS = 35


class HistoryGone(LookupError):
    """The instant lies before the history that the journal still holds."""


@dataclass(frozen=True)
class Change:
    """The net change of one item within a window: `old` just before it, `new` at its end, None for no item.

    `at` is the time of the window's last write of the item.
    """

    key: str
    at: int
    old: str | None
    new: str | None


@dataclass(frozen=True)
class RestorableRange:
    """The instants that can be exported, both included."""

    earliest: int
    latest: int


@dataclass(frozen=True)
class _Write:
    at: int
    image: str | None


class Journal:
    """One table's items (key text to image text) since `enabled_at`, safe to use from several threads."""

    def __init__(
        self, enabled_at: int, items: Mapping[str, str] | None = None, recovery_days: int = DEFAULT_RECOVERY_DAYS
    ) -> None:
        self.enabled_at = enabled_at
        self.recovery_days = recovery_days
        self._lock = threading.RLock()
        # The items as they were at _held_from, and every write since: by time, and by key.
        self._items = dict(items or {})
        self._held_from = enabled_at
        self._times: list[int] = []
        self._keys: list[str] = []
        self._writes: dict[str, list[_Write]] = {}
        # History before this was given up when the recovery period was shortened.
        self._not_before = enabled_at
        self._holds: Counter[int] = Counter()

    def write(self, at: int, key: str, image: str | None) -> None:
        """Note that an item was put (its image) or deleted (None); deleting what is not there is no write.

        A time before the last one counts as the last one: the order of the calls is the order of history.
        """
        with self._lock:
            at = max(at, self._times[-1] if self._times else self.enabled_at)
            if image is None and self._image_before(key, at + 1) is None:
                return
            self._times.append(at)
            self._keys.append(key)
            self._writes.setdefault(key, []).append(_Write(at, image))
            # Once a day of history, so that folding costs each write no more than itself.
            if at - self._held_from > (self.recovery_days + 1) * DAY:
                self._fold(at - self.recovery_days * DAY)

    def replace(self, at: int, items: Mapping[str, str]) -> None:
        """Note that the table's whole content was swapped for `items`, as the writes that lead there."""
        with self._lock:
            before = self.state_at(at + 1)
            for key in before.keys() - items.keys():
                self.write(at, key, None)
            for key, image in items.items():
                if before.get(key) != image:
                    self.write(at, key, image)

    def state_at(self, at: int) -> dict[str, str]:
        """Every item as it was just before `at`: key text to image text. Raises HistoryGone."""
        with self._lock:
            self._check_held(at)
            state = dict(self._items)
            for key in self._writes:
                image = self._image_before(key, at)
                if image is None:
                    state.pop(key, None)
                else:
                    state[key] = image
            return state

    def net_changes(self, start: int, end: int, *, with_no_ops: bool = False) -> list[Change]:
        """One change per item written in ``[start, end)``; none for one inserted and deleted in it. Raises HistoryGone.

        `with_no_ops` also shows items that were only written as they already were. (Whether DynamoDB does is not
        documented; an item changed and changed back is shown in any case.)
        """
        with self._lock:
            self._check_held(start)
            written = self._keys[bisect_left(self._times, start) : bisect_left(self._times, end)]
            changes = (self._net_change(key, start, end, with_no_ops) for key in dict.fromkeys(written))
            return [change for change in changes if change is not None]

    def bytes_written(self, start: int, end: int) -> int:
        """The size of everything written in ``[start, end)``, repeated writes included: what a window is billed by."""
        with self._lock:
            written = set(self._keys[bisect_left(self._times, start) : bisect_left(self._times, end)])
            within = (write for key in written for write in self._writes[key] if start <= write.at < end)
            return sum(len(write.image or "") for write in within)

    def restorable(self, now: int, lag: int) -> RestorableRange:
        """What can be exported at `now`: never from before recovery was on, and `lag` behind the present."""
        earliest = max(self._not_before, now - self.recovery_days * DAY)
        return RestorableRange(earliest, max(earliest, now - lag))

    def keep_for(self, days: int, now: int) -> None:
        """Change the recovery period: shortening gives history up at once, lengthening brings none back."""
        with self._lock:
            self._not_before = self.restorable(now, 0).earliest
            self.recovery_days = days
            self._not_before = self.restorable(now, 0).earliest

    def hold(self, start: int) -> None:
        """Keep the history from `start` on until `release`, however the clock moves: an export is under way."""
        with self._lock:
            self._holds[start] += 1

    def release(self, start: int) -> None:
        """End one `hold` of the same start."""
        with self._lock:
            self._holds[start] -= 1
            self._holds += Counter()  # drops those that are zero

    @property
    def writes_held(self) -> int:
        """How many writes have not been folded into the items the journal starts from."""
        return len(self._times)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        with self._lock:
            twin = type(self)(self.enabled_at, self._items, self.recovery_days)
            twin._held_from, twin._not_before = self._held_from, self._not_before
            twin._times, twin._keys = list(self._times), list(self._keys)
            twin._writes = {key: list(writes) for key, writes in self._writes.items()}
            twin._holds = Counter(self._holds)
            return twin

    def _check_held(self, at: int) -> None:
        if at < self._held_from:
            raise HistoryGone(f"the history is held from {self._held_from} on, not from {at}")

    def _image_before(self, key: str, at: int) -> str | None:
        writes = self._writes.get(key, ())
        position = _position(writes, at)
        return writes[position - 1].image if position else self._items.get(key)

    def _net_change(self, key: str, start: int, end: int, with_no_ops: bool) -> Change | None:
        writes = self._writes[key]
        old = self._image_before(key, start)
        last, image = None, old
        for write in writes[_position(writes, start) : _position(writes, end)]:
            if with_no_ops or write.image != image:
                last = write.at
            image = write.image
        if last is None or (old is None and image is None):
            return None
        return Change(key, last, old, image)

    def _fold(self, before: int) -> None:
        """Make everything before an instant part of the items the journal starts from."""
        before = min((before, *self._holds))
        count = bisect_left(self._times, before)
        for key in set(self._keys[:count]):
            writes = self._writes[key]
            image = self._image_before(key, before)
            if image is None:
                self._items.pop(key, None)
            else:
                self._items[key] = image
            del writes[: _position(writes, before)]
            if not writes:
                del self._writes[key]
        del self._times[:count], self._keys[:count]
        self._held_from = max(self._held_from, before)


def _position(writes: list[_Write] | tuple[()], at: int) -> int:
    """How many of the writes are before `at`."""
    return bisect_left(writes, at, key=lambda write: write.at)
