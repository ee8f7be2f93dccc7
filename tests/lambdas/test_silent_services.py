"""A call that nobody answers ends by itself, and the function that made it has time left to say so, or to go on without."""

from __future__ import annotations

import pytest
from botocore.retries.standard import ExponentialBackoff

from infra.functions import FUNCTIONS
from lambdas.aws.clients import _CONFIG

_TRIES = _CONFIG.retries["total_max_attempts"]
_WAITS = sum(min(ExponentialBackoff._BASE**n, ExponentialBackoff._MAX_BACKOFF) for n in range(_TRIES - 1))
#: Seconds that a call takes at the most where no connection is taken, and where one is taken and nothing is said.
UNCONNECTED, UNANSWERED = (_TRIES * seconds + _WAITS for seconds in (_CONFIG.connect_timeout, _CONFIG.read_timeout))
#: A job's report, or what has been told, up to three times; the mail itself is another service's.
_CALLS_IT_GOES_ON_WITHOUT = {"NotifyFailure": 3, "NotifySuccess": 1, "NotifyNews": 1}


@pytest.mark.parametrize("seconds", [UNCONNECTED, UNANSWERED], ids=["no connection", "no answer"])
def test_a_function_outlasts_a_call_that_nobody_answers(seconds):
    assert [spec.state for spec in FUNCTIONS if spec.timeout_seconds <= seconds] == []


def test_who_mails_outlasts_all_that_a_mail_does_without():
    allowed = {spec.state: spec.timeout_seconds for spec in FUNCTIONS}
    too_short = [name for name, calls in _CALLS_IT_GOES_ON_WITHOUT.items() if allowed[name] <= calls * UNANSWERED + 10]
    assert too_short == []
