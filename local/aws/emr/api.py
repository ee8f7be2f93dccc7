"""The service's door: which operation a request asks for, checked against the service model, and its answer.

MiniStack calls `handle_request`; Step Functions and CloudFormation, which are in the same process, call `call`.
`reset`, `get_state` and `load_persisted_state` are MiniStack's way to empty, keep and put back a service.
"""

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from local.aws.answers import Response, error
from local.aws.emr import SERVICE, applications, job_runs, runs, tags
from local.aws.emr.errors import NotEmulated, ServiceError, ValidationException
from local.aws.emr.store import STORE
from local.aws.guard import message_for, violations
from local.aws.operations import Request, operation_of, service_model

_TAGS = "/tags/"

_OPERATIONS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "CreateApplication": applications.create_application,
    "GetApplication": applications.get_application,
    "ListApplications": applications.list_applications,
    "UpdateApplication": applications.update_application,
    "StartApplication": applications.start_application,
    "StopApplication": applications.stop_application,
    "DeleteApplication": applications.delete_application,
    "StartJobRun": job_runs.start_job_run,
    "GetJobRun": job_runs.get_job_run,
    "ListJobRuns": job_runs.list_job_runs,
    "CancelJobRun": job_runs.cancel_job_run,
    "ListJobRunAttempts": job_runs.list_job_run_attempts,
    "TagResource": tags.tag_resource,
    "UntagResource": tags.untag_resource,
    "ListTagsForResource": tags.list_tags_for_resource,
}


async def handle_request(
    method: str, path: str, headers: dict[str, str], body: bytes, query_params: dict[str, Any]
) -> Response:
    """Answer one HTTP request."""
    if path.startswith(_TAGS):
        # The ARN in it holds slashes, which arrive decoded.
        path = _TAGS + quote(path.removeprefix(_TAGS), safe="")
    operation = operation_of(SERVICE, Request(method, path, headers, body, query_params))
    if operation is None:
        return error(SERVICE, "UnknownOperationException", f"There is no operation {method} {path}", 404)
    try:
        answer = call(operation.name, operation.parameters)
    except ServiceError as refused:
        return error(SERVICE, refused.code, str(refused), refused.status)
    return 200, {"Content-Type": "application/json"}, json.dumps(answer).encode()


def call(operation: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Carry out one operation with the API's member names. Raises ServiceError."""
    if operation not in _OPERATIONS:
        raise NotEmulated(operation)
    found = violations(service_model(SERVICE).operation_model(operation).input_shape, parameters)
    if found:
        raise ValidationException(message_for(found))
    with STORE.changed:
        # What a caller holds must not change under it.
        return copy.deepcopy(_OPERATIONS[operation](parameters))


def reset() -> None:
    """End every job run and forget everything."""
    runs.stop_all()
    with STORE.changed:
        STORE.clear()


def get_state() -> dict[str, Any]:
    """What there is; job runs under way are kept as they are now."""
    with STORE.changed:
        return copy.deepcopy(
            {"applications": STORE.applications, "job_runs": STORE.job_runs, "tokens": list(STORE.tokens.items())}
        )


def load_persisted_state(state: dict[str, Any]) -> None:
    """Put back what `get_state` gave; a job run that was under way has no process any more, so it has failed."""
    with STORE.changed:
        STORE.clear()
        STORE.applications.update(state["applications"])
        STORE.job_runs.update(state["job_runs"])
        STORE.tokens.update((tuple(token), made) for token, made in state["tokens"])
        for run in STORE.job_runs.values():
            if run["state"] not in applications.ENDED:
                applications.set_state(run, "FAILED", "Job failed: the local AWS was restarted while it ran")
