"""Names of columns: from any attribute name to one that Athena, Glue and every engine take, and to its comment.

A column name is made of ``[a-z0-9_]``, at most 251 characters, unique among its siblings, readable, and stays for ever
once given. The exact attribute name stands in the field's ``doc``, which becomes the Glue column's comment: one line of
at most 255 bytes. Where that cannot hold it, ``doc`` is a shortened form. Back to the attribute goes a table property.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping

WRITE_TIME, MISFITS = "_write_time", "_misfits"
#: The product's own columns; an attribute of the same name gets another column name.
OWN_COLUMNS = (WRITE_TIME, MISFITS)
#: Engines add these to the columns of every table: one that has a column of such a name cannot be merged into.
#: Source: org.apache.iceberg.MetadataColumns (Iceberg 1.10), and the columns that Spark 3.5 puts into the plan of a MERGE.
OF_ENGINES = (
    *("_file", "_pos", "_deleted", "_spec_id", "_partition", "_row_id", "_last_updated_sequence_number"),
    *("_change_type", "_change_ordinal", "_commit_snapshot_id"),
    *("__row_operation", "__row_from_source", "__row_from_target", "__row_id"),
)
#: What no column of an attribute is called.
RESERVED = (*OWN_COLUMNS, *OF_ENGINES)

#: A column that a rebuild writes beside the one it will replace has this at the end of its name until then.
REPLACEMENT = "#new"
#: Characters that Glue takes for a column's name, and the most that one is given, so that its replacement has one as well.
_LONGEST = 255
LONGEST_NAME = _LONGEST - len(REPLACEMENT)
#: The column of the partition key names the folders of the table's partitions, such as ``pk_bucket=4095``, and a file
#: system takes 255 bytes for one.
LONGEST_PARTITION_KEY = _LONGEST - len("_bucket=4095")
_LONGEST_DOC_BYTES = 255
_MARK_OF_CUT = "…"
#: Glue's pattern for a comment on one line: no control characters but the tab, no surrogates, no U+FFFE and U+FFFF.
_GLUE_TEXT = re.compile("[\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff\t]*")


def is_column_name(text: str) -> bool:
    """Whether every engine takes the text as a column's name, and that of its replacement."""
    return re.fullmatch("[a-z0-9_]+", text) is not None and len(text) <= LONGEST_NAME


def readable(attribute: str) -> str:
    """Write an attribute name in ``[a-z0-9_]``, without regard to other names: what is not ASCII drops, others become ``_``."""
    plain = unicodedata.normalize("NFKD", attribute).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9_]+", "_", plain)[:LONGEST_NAME]
    return name if name.strip("_") else "attribute"


def name_in_files(name: str) -> str:
    """A column's name as Iceberg writes it in Parquet files, where none begins with a digit: ``1`` and ``_1`` are one."""
    return f"_{name}" if name[0].isdigit() else name


def name_to_readers(name: str) -> str:
    """What must differ between siblings: a column's name in files, without regard to case, which some engines disregard.

    Only a person gives a column capital letters.
    """
    return name_in_files(name).lower()


def column_names(attributes: Iterable[str], given: Mapping[str, str], reserved: Iterable[str] = ()) -> dict[str, str]:
    """Name every attribute: those in `given` as they are named there, the others uniquely beside them.

    The same attributes and `given` always get the same names, in whatever order they come: of two that read alike, the
    first in code point order gets the plain name, the others a suffix.
    """
    taken = {name_to_readers(name) for name in (*given.values(), *reserved)}
    names: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for attribute in sorted(attributes):
        names[attribute] = given.get(attribute) or _free(readable(attribute), taken, numbers)
        taken.add(name_to_readers(names[attribute]))
    return names


def other_names(held: Mapping[str, str], reserved: Collection[str]) -> dict[str, str]:
    """Other names for columns, by those of now. `held`: the attribute of each; empty for none, which is called by its name."""
    made = column_names(filter(None, held.values()), {}, reserved)
    own = column_names((name for name, attribute in held.items() if not attribute), {}, (*reserved, *made.values()))
    return {name: made[attribute] if attribute else own[name] for name, attribute in held.items()}


def _free(wanted: str, taken: set[str], numbers: dict[str, int]) -> str:
    """A name like this that readers tell from those `taken`. `numbers`: the last one that each name has come to."""
    # Thousands of names in another script read alike: no number below the last is free.
    name, number = wanted, numbers.get(wanted, 1)
    while name_to_readers(name) in taken:
        number += 1
        suffix = f"_{number}"
        name = wanted[: LONGEST_NAME - len(suffix)] + suffix
    numbers[wanted] = number
    return name


def fits_doc(attribute: str) -> bool:
    """Whether a Glue column comment can hold the exact name."""
    return _GLUE_TEXT.fullmatch(attribute) is not None and len(attribute.encode()) <= _LONGEST_DOC_BYTES


def doc_of(attribute: str) -> str:
    """The exact name where a comment can hold it, else a form of it that can."""
    if fits_doc(attribute):
        return attribute
    line = "".join(c if _GLUE_TEXT.fullmatch(c) else " " for c in attribute)
    room = _LONGEST_DOC_BYTES - len(_MARK_OF_CUT.encode())
    return line.encode()[:room].decode(errors="ignore") + _MARK_OF_CUT
