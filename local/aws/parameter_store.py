"""Parameter Store follows the virtual clock: when a parameter was written tells how old a claim is."""

from collections.abc import Callable

from local.aws.clock import CLOCK
from local.aws.hooks import patch


def install() -> None:
    """Date parameters by the virtual present."""
    from ministack.services import ssm

    patch(ssm, "_now_epoch", _virtual, takes=())


def _virtual(_: Callable[[], float]) -> Callable[[], float]:
    def now() -> float:
        return CLOCK.time()

    return now
