"""Times of the export service: microseconds since the epoch inside, and the forms in which they go in and out.

Requests and answers of DynamoDB's JSON protocol carry epoch-second numbers; what comes through the SDK integrations of
Step Functions carries ISO-8601 text. Manifests carry ISO-8601 with three decimals.
"""

from datetime import UTC, datetime

SECOND = 1_000_000
DAY = 86_400 * SECOND


def micros_of(value: float | str) -> int:
    """Read a time of a request: a number of epoch seconds, or ISO-8601 text with a zone. Raises ValueError."""
    if isinstance(value, bool):
        raise ValueError(f"{value!r} is not a time")
    if isinstance(value, int | float):
        return round(value * SECOND)
    return micros_of_instant(datetime.fromisoformat(value))


def micros_of_instant(instant: datetime) -> int:
    """The microseconds of an aware instant. Raises ValueError for one without a zone."""
    if instant.tzinfo is None:
        raise ValueError(f"{instant} has no time zone")
    since = instant - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


def whole_seconds(micros: int) -> int:
    """Cut down to whole seconds, still in microseconds."""
    return micros // SECOND * SECOND


def whole_millis(micros: int) -> int:
    """Cut down to whole milliseconds, still in microseconds."""
    return micros // 1000 * 1000


def epoch_seconds(micros: int) -> float:
    """The wire form of a time: epoch seconds with up to three decimals."""
    return micros // 1000 / 1000


def iso_millis(micros: int) -> str:
    """The form of a time in manifests: ``2026-01-14T10:18:50.622Z``."""
    seconds, rest = divmod(micros, SECOND)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest // 1000:03}Z"


def iso_seconds(micros: int) -> str:
    """The form of a time in error messages: ``2026-01-14T10:18:50Z``."""
    return f"{datetime.fromtimestamp(micros // SECOND, UTC):%Y-%m-%dT%H:%M:%SZ}"
