"""Whose exports of a folder are applied: one source table's, though the folder may hold those of many.

The source is the one that the table follows; of a first load, the one that the exports are of, or that a person names.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from local.found_exports import FoundExport, FoundExports
from pipeline.errors import OtherTable, OtherTableId
from pipeline.exports.manifests import check_source
from pipeline.identity import KeyAttribute, SourceTable
from pipeline.instants import format_instant
from pipeline.table.marker import Marker
from pipeline.wording import number_of

_NAME_ONE = (
    "Say with --source which one the table is to follow: by its ARN, or by its table id where several have the same ARN. "
    "Or give a folder with the exports of one only."
)


class Followed(NamedTuple):
    """The source table that a table follows, its exports in a folder, and lines about those of others, left alone."""

    source: SourceTable
    exports: list[FoundExport]
    left_alone: list[str]


def exports_to_follow(
    found: FoundExports, marker: Marker | None, key: tuple[KeyAttribute, ...], named: str
) -> Followed:
    """Return what a table follows. `marker`: None where there is no table yet; `named`: an ARN or a table id, or empty.

    Raises the refusal of an export that is of this source, or of nobody knows which; OtherTable where `named` is another one
    than the table's, or none of the folder's; OtherTable or OtherTableId where exports of several source tables could make
    the table, which lists them, and where the folder holds none of the table's own.
    """
    for export in found.refused:
        if export.source is None or not found.complete:
            raise export.refusal
    source = _source(found, marker, key, named)
    for export in found.refused:
        if export.source == _identity(source):
            raise export.refusal
    return Followed(source, _own(found.complete, source), _left_alone(found, source))


def _source(found: FoundExports, marker: Marker | None, key: tuple[KeyAttribute, ...], named: str) -> SourceTable:
    if marker:
        source = marker.source(key)
        if named and named not in _identity(source):
            raise OtherTable(
                f"the table follows {source.arn} (table id {source.id}), not {named}",
                "Leave --source out; for another source table, name another table or warehouse.",
            )
        return source
    fitting = {identity for identity in _reaches(found) if not named or named in identity}
    if not fitting:
        raise OtherTable(
            f"the folder holds no export of {named}, but of:\n{_listed(found, _reaches(found))}", _NAME_ONE
        )
    if len(fitting) > 1:
        raise _several(found, fitting)
    return SourceTable(*fitting.pop(), key)


def _own(complete: Sequence[FoundExport], source: SourceTable) -> list[FoundExport]:
    """The exports of a source. Raises OtherTableId where there are only others of its ARN, OtherTable where there are none."""
    own = [export for export in complete if _of(export) == _identity(source)]
    if not own:
        nearest = next((export for export in complete if export.manifest.source_arn == source.arn), complete[0])
        check_source(nearest.manifest, source)
    return own


def _left_alone(found: FoundExports, source: SourceTable) -> list[str]:
    """Lines about the exports that are not of a source; none where there are none."""
    others = set(_reaches(found)) - {_identity(source)}
    if not others:
        return []
    return [f"Left alone, for the table follows {source.arn} (table id {source.id}):", _listed(found, others)]


def _several(found: FoundExports, fitting: set[tuple[str, str]]) -> OtherTable | OtherTableId:
    """The refusal to choose among source tables."""
    arns = {arn for arn, _ in fitting}
    anew = "; one that was created anew has the same ARN and another table id" if len(arns) < len(fitting) else ""
    kind = OtherTable if len(arns) > 1 else OtherTableId
    return kind(f"the folder holds exports of several source tables{anew}:\n{_listed(found, fitting)}", _NAME_ONE)


def _identity(source: SourceTable) -> tuple[str, str]:
    return source.arn, source.id


def _of(export: FoundExport) -> tuple[str, str]:
    return export.manifest.source_arn, export.manifest.source_id


def _reaches(found: FoundExports) -> dict[tuple[str, str], list[str]]:
    """For each source table that there are exports of, by ARN and table id, how far each complete one reaches."""
    reaches: dict[tuple[str, str], list[str]] = {export.source: [] for export in found.refused if export.source}
    for export in found.complete:
        reaches.setdefault(_of(export), []).append(format_instant(export.manifest.end))
    return reaches


def _listed(found: FoundExports, identities: Container[tuple[str, str]]) -> str:
    """A line for each of the source tables: its ARN, its table id, how many exports there are of it, and how far they reach.

    And one for each export of theirs that cannot be applied.
    """
    lines = []
    for identity, ends in sorted(_reaches(found).items()):
        if identity in identities:
            arn, table_id = identity
            reached = f", up to {max(ends)}" if ends else ""
            lines.append(f"  {arn} (table id {table_id}): {number_of(len(ends), 'export')}{reached}")
            refused = [export for export in found.refused if export.source == identity]
            lines += [f"    {export.folder} cannot be applied: {export.refusal.name}" for export in refused]
    return "\n".join(lines)
