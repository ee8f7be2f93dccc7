"""Whose exports of a folder are applied: one source table's, though the folder may hold those of many.

The source is the one that the table follows; of a first load, the one that the exports are of, or that a person names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from local.found_exports import FoundExport
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


def source_to_follow(
    found: Sequence[FoundExport], marker: Marker | None, key: tuple[KeyAttribute, ...], named: str
) -> SourceTable:
    """Return the source. `marker`: None where there is no table yet; `named`: an ARN or a table id, empty for neither.

    Raises OtherTable where `named` is another one than the table's, or none of the folder's; OtherTable or OtherTableId,
    which lists them, where exports of several source tables could make the table.
    """
    if marker:
        source = marker.source(key)
        if named and named not in (source.arn, source.id):
            raise OtherTable(
                f"the table follows {source.arn} (table id {source.id}), not {named}",
                "Leave --source out; for another source table, name another table or warehouse.",
            )
        return source
    fitting = [export for export in found if not named or named in _identity(export)]
    if not fitting:
        raise OtherTable(f"the folder holds no export of {named}, but of:\n{_listed(found)}", _NAME_ONE)
    ((arn, table_id), *others) = {_identity(export) for export in fitting}
    if others:
        raise _several(fitting)
    return SourceTable(arn, table_id, key)


def exports_of(found: Sequence[FoundExport], source: SourceTable) -> list[FoundExport]:
    """Return those of a source. Raises OtherTableId where there are only others of its ARN, OtherTable where there are none."""
    own = [export for export in found if _is_of(export, source)]
    if not own:
        nearest = next((export for export in found if export.manifest.source_arn == source.arn), found[0])
        check_source(nearest.manifest, source)
    return own


def told_others(found: Sequence[FoundExport], source: SourceTable) -> list[str]:
    """Lines about the exports that are not of a source; none where there are none."""
    others = [export for export in found if not _is_of(export, source)]
    if not others:
        return []
    return [f"Left alone, for the table follows {source.arn} (table id {source.id}):", _listed(others)]


def _several(exports: Sequence[FoundExport]) -> OtherTable | OtherTableId:
    """The refusal to choose among source tables."""
    identities = {_identity(export) for export in exports}
    arns = {arn for arn, _ in identities}
    anew = "; one that was created anew has the same ARN and another table id" if len(arns) < len(identities) else ""
    kind = OtherTable if len(arns) > 1 else OtherTableId
    return kind(f"the folder holds exports of several source tables{anew}:\n{_listed(exports)}", _NAME_ONE)


def _identity(export: FoundExport) -> tuple[str, str]:
    return export.manifest.source_arn, export.manifest.source_id


def _is_of(export: FoundExport, source: SourceTable) -> bool:
    return _identity(export) == (source.arn, source.id)


def _listed(exports: Iterable[FoundExport]) -> str:
    """A line for each source table: its ARN, its table id, how many exports there are of it, and how far they reach."""
    ends: dict[tuple[str, str], list[str]] = {}
    for export in exports:
        ends.setdefault(_identity(export), []).append(format_instant(export.manifest.end))
    lines = []
    for (arn, table_id), reached in sorted(ends.items()):
        count = number_of(len(reached), "export")
        lines.append(f"  {arn} (table id {table_id}): {count}, up to {max(reached)}")
    return "\n".join(lines)
