"""What became of every record that a job read, in lines for people: mails and the local commands say it alike. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.job_kinds import LOAD, MAINTAIN, VERIFY
from pipeline.table import maintenance, verification
from pipeline.wording import number_of


def accounting(job: str, counts: Mapping[str, int]) -> list[str]:
    """Every record read, by what became of it; of maintenance, which reads none, what it did.

    `job`: the kind of job that has counted; "" where the counts are of several, which are told as those of a merge.
    """
    if job == VERIFY:
        return [verification.accounted(counts)]
    if job == MAINTAIN:
        return maintenance.lines(counts)
    if job == LOAD:
        return [
            f"Read {number_of(counts.get('read', 0), 'item')}, wrote {number_of(counts.get('inserted', 0), 'row')}."
        ]
    parts = [
        ("inserted", "inserted"),
        ("updated", "updated"),
        ("deleted", "deleted"),
        ("already_there", "already there"),
    ]
    # Only several windows at once can have these two.
    rare = [
        ("transient", "inserted and deleted again within these windows"),
        ("folded", "replaced by a later change of the same key"),
    ]
    shown = [f"{counts.get(name, 0)} {meaning}" for name, meaning in parts]
    shown.append(number_of(counts.get("unknown_deletes", 0), "delete of an unknown key", "deletes of unknown keys"))
    shown += [f"{counts[name]} {meaning}" for name, meaning in rare if counts.get(name, 0)]
    lines = [f"Read {number_of(counts.get('read', 0), 'record')} = " + " + ".join(shown) + "."]
    # Those that were not are told where rows are doubted.
    if "images_equal" in counts:
        lines.append(f"Old images equal to the table's row: {counts['images_equal']}.")
    return lines
