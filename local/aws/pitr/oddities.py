"""Peculiarities of export files that can be switched on by name, to see that readers bear them.

Some are documented and not seen, some seen and not documented, some merely possible.
"""

from collections.abc import Iterable

ODDITIES = {
    "export_type_on_full": "a full export's summary names its exportType, as AWS's example shows and real ones do not",
    "bare_timestamp": "WriteTimestampMicros is a bare string, as the developer guide's example shows",
    "checksum_names": "checksum files end in .checksum, as one place of the developer guide says",
    "no_started": "there is no _started object: anyone may delete it at any time",
    "no_op_records": "items that were only written as they already were have a record with equal images",
    "unknown_fields": "manifests and records carry a field nobody knows yet: the format has grown before",
    "duplicate_key": "one change comes twice, once with an earlier time and no images",
    "timestamp_outside_window": "one change's time lies a minute before the window: clocks are up to that far apart",
    "etag_of_two_parts": "the etags end in -2, as those of larger files presumably do",
    "empty_file_list": "an export without records lists no data files at all",
}


class UnknownOddity(ValueError):
    """There is no peculiarity of that name; the message lists what there is."""


def oddities_named(names: Iterable[str]) -> frozenset[str]:
    """Return the names, all known. Raises UnknownOddity."""
    chosen = frozenset(names)
    if unknown := chosen - ODDITIES.keys():
        raise UnknownOddity(f"No oddity {', '.join(sorted(unknown))}; there are: {', '.join(ODDITIES)}")
    return chosen
