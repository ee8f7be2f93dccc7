"""Mail that SNS would send: one readable .eml file per message and subscription, in the outbox folder.

The oldest message has the smallest number in its file name. Filter policies and `MessageStructure: json` are
honoured: a subscriber reads the text for its protocol, or the default.
"""

import itertools
import re
import shutil
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from email.policy import default as mail_policy
from email.utils import format_datetime
from pathlib import Path
from threading import Lock
from typing import Any

from local.aws.clock import CLOCK
from local.aws.hooks import patch

_PROTOCOLS = ("email", "email-json")
_DEFAULT_SUBJECT = "AWS Notification Message"


class Outbox:
    """The folder mails land in."""

    def __init__(self) -> None:
        self.folder = Path()
        self._numbers = itertools.count(1)
        self._lock = Lock()

    def open(self, folder: Path) -> None:
        """Use `folder`, emptied."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.folder = folder
        self._numbers = itertools.count(1)

    def put(self, mail: EmailMessage) -> None:
        """Write one mail; a reader never sees half of it."""
        with self._lock:
            number = next(self._numbers)
        subject = re.sub(r"[^a-z0-9]+", "-", str(mail["Subject"]).lower()).strip("-")[:60]
        unfinished = self.folder / f".{number:06d}"
        unfinished.write_bytes(mail.as_bytes())
        unfinished.rename(self.folder / f"{number:06d}-{subject}.eml")


OUTBOX = Outbox()


def get_state() -> dict[str, Any]:
    """The mails so far, by file name."""
    return {path.name: path.read_bytes() for path in OUTBOX.folder.glob("*.eml")}


def reset() -> None:
    """Empty the outbox."""
    OUTBOX.open(OUTBOX.folder)


def load_persisted_state(state: dict[str, Any]) -> None:
    """Put mails back; numbering goes on after them."""
    for name, content in state.items():
        (OUTBOX.folder / name).write_bytes(content)
    OUTBOX._numbers = itertools.count(len(state) + 1)


def install(folder: Path) -> None:
    """Mails go to `folder` from here on."""
    from ministack.services import sns

    OUTBOX.open(folder)
    patch(
        sns,
        "_fanout",
        _also_by_mail,
        takes=(
            "topic_arn",
            "msg_id",
            "message",
            "subject",
            "message_structure",
            "message_attributes",
            "message_group_id",
            "message_dedup_id",
        ),
    )


def _also_by_mail(fanout: Callable[..., None]) -> Callable[..., None]:
    def wrapper(
        topic_arn: str,
        msg_id: str,
        message: str,
        subject: str,
        message_structure: str = "",
        message_attributes: dict[str, Any] | None = None,
        *rest: Any,
        **more: Any,
    ) -> None:
        for endpoint, text in _recipients(topic_arn, message, message_structure, message_attributes or {}):
            OUTBOX.put(_mail(endpoint, subject or _DEFAULT_SUBJECT, text, topic_arn, msg_id))
        fanout(topic_arn, msg_id, message, subject, message_structure, message_attributes, *rest, **more)

    return wrapper


def _recipients(topic_arn: str, message: str, structure: str, attributes: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Address and text for each confirmed mail subscription whose filter lets the message through."""
    from ministack.services import sns

    topic = sns._topic_by_arn_any_scope(topic_arn) or {}
    for subscription in topic.get("subscriptions", []):
        protocol = subscription.get("protocol")
        if protocol in _PROTOCOLS and subscription.get("confirmed"):
            text = sns._resolve_message_for_protocol(message, structure, protocol)
            if sns._matches_filter_policy(subscription, attributes, text):
                yield subscription["endpoint"], text


def _mail(to: str, subject: str, text: str, topic_arn: str, message_id: str) -> EmailMessage:
    mail = EmailMessage(policy=mail_policy.clone(utf8=True))
    mail["Date"] = format_datetime(CLOCK.now())
    mail["From"] = "AWS Notifications <no-reply@sns.local>"
    mail["To"] = to
    mail["Subject"] = subject
    mail["Message-ID"] = f"<{message_id}@sns.local>"
    mail["X-Topic-Arn"] = topic_arn
    # 8bit keeps the file readable as it lies there; quoted-printable would not.
    mail.set_content(text, cte="8bit")
    return mail
