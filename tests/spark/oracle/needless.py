"""What a table keeps as misfits needlessly, in the rows that were written with the columns that it has now."""

from __future__ import annotations

from collections.abc import Collection

from local.aws.pitr.offline import Put
from local.compare import key_text, row_key
from local.reader import columns, rows
from tests.local.needless import needless_misfits
from tests.spark.shop import Shop, as_read, minute


def needless_after_load(shop: Shop, *, is_free: bool) -> list[str]:
    """Of all rows: a full export writes each. `is_free`: whether nobody keeps a column from getting another type."""
    key, table = tuple(part.name for part in shop.key), columns(shop.table)
    return list(map(str, needless_misfits(rows(shop.table), table, key, table.columns if is_free else ())))


def needless_after_merge(shop: Shop, since: float, until: float, before: Collection[str]) -> list[str]:
    """Of the rows whose items were written between two minutes, which the last merge has written.

    The others may be older than the columns that would hold what they keep. `before`: the attributes that had columns then.
    """
    key, table = tuple(part.name for part in shop.key), columns(shop.table)
    written = [write for write in shop.writes if minute(since) <= write.at < minute(until)]
    images = [write.item if isinstance(write, Put) else write.key for write in written]
    changed = {key_text({name: as_read(image[name]) for name in key}, key) for image in images}
    judged = [row for row in rows(shop.table) if row_key(row, table, key) in changed]
    return list(map(str, needless_misfits(judged, table, key, table.columns.keys() - before)))
