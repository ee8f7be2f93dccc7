"""Commits that may lose a race: who lost looks whether its work is in the table all the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import IllegalArgumentException

from pipeline.errors import Gap, Overlap, TableContended
from pipeline.job_order import JobOrder
from pipeline.table.guard import is_done
from pipeline.table.marker import TableState
from spark.iceberg.table import Table
from spark.java import causes, classes

#: What Iceberg raises when somebody else has committed meanwhile, or when it cannot tell whether its own commit arrived.
_LOST = {"CommitFailedException", "CommitStateUnknownException"}
#: And what of a commit of rows, where they stand against what others have written; where nobody has, it may mean anything.
_AGAINST_OTHERS = {"ValidationException"}
#: What it says where a branch has come from elsewhere, and where the table was rolled back, without a name of their own.
_SAID = ("fast-forward", "is not an ancestor of")
#: The same names are in use for what Glue refuses: among the causes is then an exception of Glue's own, of these packages.
_OF_GLUE = ".services.glue."
#: What is a conflict nevertheless.
_GLUES_CONFLICTS = {"ConcurrentModificationException", "CommitStateUnknownException"}


def committed(table: Table, order: JobOrder, commit: Callable[[], object]) -> None:
    """Run `commit`; where it loses a race, end well if the order's work is in the table, else raise TableContended.

    Raises OtherTable, OtherTableId or WatermarkMissing where whoever won has made it another table; TableGone where there
    is none any more.
    """
    try:
        undisturbed(table, order, commit)
    except TableContended:
        if not _is_done(table.state(), order):
            raise


def _is_done(state: TableState, order: JobOrder) -> bool:
    try:
        return is_done(state, order)
    except (Gap, Overlap):
        return False  # somebody has taken the table elsewhere


def unless_overtaken(
    table: Table, order: JobOrder, say: Callable[[], Mapping[str, str]]
) -> Callable[[], Mapping[str, str]]:
    """What a commit says of itself as `say` has it, refused where the order fits the table no more, or is done.

    To Iceberg only rows are a conflict: a commit of none, as of a window in which nothing has changed, would let this one
    come after it and take the watermark back. Raises TableContended, and what `committed` raises of another table.
    """

    def said() -> Mapping[str, str]:
        properties, state = say(), table.state()
        try:
            is_overtaken = is_done(state, order)
        except (Gap, Overlap):
            is_overtaken = True
        if is_overtaken:
            here = f"{order.table} was changed while {order.job_id} worked on it"
            raise TableContended(f"{here}: {state.found} now")
        return properties

    return said


def undisturbed(table: Table, order: JobOrder, commit: Callable[[], Any]) -> Any:
    """Make one commit of an order's or several and return what `commit` returns. Raises TableContended where one loses a race."""
    last_read = table.last_read
    try:
        return commit()
    except (Py4JJavaError, IllegalArgumentException) as failure:
        is_lost = _is_conflict(failure, _LOST)
        if not is_lost and not (_is_conflict(failure, _AGAINST_OTHERS) and _has_changed(table, last_read)):
            raise
        raise _contended(order, failure) from failure


def _has_changed(table: Table, last_read: tuple[str, str]) -> bool:
    """Whether anybody, this job included, has committed since then; so has who has removed the table."""
    return not table.metadata() or table.last_read != last_read


def lost_race(order: JobOrder, failure: Exception) -> TableContended | None:
    """What a failure is, if a commit beside that of the rows has lost a race: of columns, branches, snapshots, properties."""
    is_lost = isinstance(failure, Py4JJavaError) and _is_conflict(failure, _LOST)
    return _contended(order, failure) if is_lost else None


def _contended(order: JobOrder, failure: Exception) -> TableContended:
    # The text of the bridge begins with the call that has met it.
    said = failure.java_exception.toString() if isinstance(failure, Py4JJavaError) else str(failure)
    what = said.splitlines()[0]
    return TableContended(f"{order.table} was changed while {order.job_id} worked on it: {what}")


def _is_conflict(failure: Exception, conflicts: Set[str]) -> bool:
    if isinstance(failure, Py4JJavaError):
        is_of_glue = any(_OF_GLUE in name for name in classes(failure))
        return not (_GLUES_CONFLICTS if is_of_glue else conflicts).isdisjoint(causes(failure))
    return any(said in str(failure) for said in _SAID)
