"""Pages of a list: at most fifty entries, and a token that names the entry the next page begins behind."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from local.aws.emr.errors import ValidationException

LARGEST_PAGE = 50


def page_of(
    found: list[dict[str, Any]], everything: Sequence[str], asked: Mapping[str, Any], member: str
) -> dict[str, Any]:
    """One page of `found`, under the name `member`; its entries have an `id` and the order of `everything`, all ids.

    Entries that are new, or no longer found, since the page before do not shift the pages. Raises ValidationException.
    """
    try:
        most = int(asked.get("maxResults", LARGEST_PAGE))
    except ValueError:
        most = 0
    if not 1 <= most <= LARGEST_PAGE:
        raise ValidationException(f"maxResults is {asked['maxResults']}; it is a whole number from 1 to {LARGEST_PAGE}")
    if asked.get("nextToken"):
        behind = set(everything[_position(asked["nextToken"], everything) + 1 :])
        found = [one for one in found if one["id"] in behind]
    answer: dict[str, Any] = {member: found[:most]}
    if len(found) > most:
        answer["nextToken"] = base64.urlsafe_b64encode(found[most - 1]["id"].encode()).decode()
    return answer


def _position(token: str, everything: Sequence[str]) -> int:
    try:
        return everything.index(base64.urlsafe_b64decode(token).decode())
    except (binascii.Error, UnicodeDecodeError, ValueError) as unknown:
        raise ValidationException("nextToken is not one that this operation gave") from unknown
