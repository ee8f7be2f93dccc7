"""Who makes the current call: a role's session over HTTP, a role used in process by a service, or root.

Kept in a context variable, because one call of a service may need to know it deep inside: an export writes to S3
with its caller's rights, a fault may be meant for one role only.
"""

import re
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

_CREDENTIAL = re.compile(r"Credential=([^/,\s]+)/")


@dataclass(frozen=True)
class Caller:
    """The access key a call is made with; `role` is the role's name, None for root and users."""

    access_key: str
    role: str | None = None


ROOT = Caller("test")
CALLER: ContextVar[Caller] = ContextVar("caller", default=ROOT)


def caller_of_request(headers: list[tuple[bytes, bytes]]) -> Caller:
    """The caller of an HTTP request, by the key in its Authorization header; root when it names none."""
    for name, value in headers:
        if name.lower() == b"authorization":
            found = _CREDENTIAL.search(value.decode("latin-1"))
            return Caller(found[1], role_of_key(found[1])) if found else ROOT
    return ROOT


def role_of_key(access_key: str) -> str | None:
    """The name of the role whose session an access key belongs to."""
    from ministack.services import sts

    session: dict[str, Any] = sts._sessions.get(access_key) or {}
    return role_of_arn(str(session.get("Arn", "")))


def role_of_arn(arn: str) -> str | None:
    """The role's name in arn:aws:sts::ACCOUNT:assumed-role/NAME/SESSION or arn:aws:iam::ACCOUNT:role/PATH/NAME."""
    if ":assumed-role/" in arn:
        return arn.split("/")[1]
    return arn.rsplit("/", 1)[-1] if ":role/" in arn else None
