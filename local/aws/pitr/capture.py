"""Every write of every item reaches its table's journal, whichever way it was made.

The hooks sit on the functions that store and remove items: statements, transactions and expiry pass them, while the
stream's hook sees only some. Items swapped wholesale (a transaction rolled back) are noted by their differences.
"""

from collections.abc import Callable
from typing import Any

from local.aws.hooks import patch
from local.aws.pitr.images import image_of
from local.aws.pitr.recovery import JOURNALS, Table, items_of, key_text, now_micros


def install() -> None:
    """Hook MiniStack's storage of items."""
    from ministack.services import dynamodb

    patch(dynamodb, "_set_item", _noted_put, takes=("table", "pk_val", "sk_val", "item"))
    patch(dynamodb, "_remove_item", _noted_delete, takes=("table", "pk_val", "sk_val"))
    patch(dynamodb, "_items_replaced", _noted_swap, takes=("table",))


def _noted_put(store: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(table: Table, pk_val: str, sk_val: str, item: dict[str, Any]) -> Any:
        journal = JOURNALS.get(table["TableId"])
        if journal is not None:
            journal.write(now_micros(), key_text(table, item), image_of(item))
        return store(table, pk_val, sk_val, item)

    return wrapper


def _noted_delete(remove: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(table: Table, pk_val: str, sk_val: str) -> Any:
        removed = remove(table, pk_val, sk_val)
        journal = JOURNALS.get(table["TableId"])
        if journal is not None and removed is not None:
            journal.write(now_micros(), key_text(table, removed), None)
        return removed

    return wrapper


def _noted_swap(recount: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(table: Table) -> Any:
        recounted = recount(table)
        journal = JOURNALS.get(table["TableId"])
        if journal is not None:
            journal.replace(now_micros(), items_of(table))
        return recounted

    return wrapper
