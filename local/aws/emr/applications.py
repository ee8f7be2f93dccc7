"""Applications: created, started and stopped, by themselves where they are configured so.

States and their rules: "Application states" of the EMR Serverless user guide.
"""

import re
from collections.abc import Mapping
from typing import Any

from local.aws.clock import CLOCK
from local.aws.emr.errors import NotEmulated, ResourceNotFoundException, ValidationException
from local.aws.emr.paging import page_of
from local.aws.emr.store import STORE, Record, arn_of, new_id

# The releases that carry the Spark 3.5.6 which runs here.
RELEASES = ("emr-7.11.0", "emr-7.12.0", "emr-7.13.0", "emr-7.14.0")

ENDED = ("SUCCESS", "FAILED", "CANCELLED")

_LABEL = re.compile(r"emr-(spark-)?\d+\.\d+\.\d+")
_AT_REST = ("CREATED", "STOPPED")
_CAN_BE_STOPPED = ("STARTING", "STARTED")
#: How long the capacity takes to be released, in seconds of the virtual clock.
_STOPPING_SECONDS = 20
_IDLE_MINUTES = 15
# Since emr-7.3.0 every application has a queue, with these limits unless it says otherwise.
_QUEUE = {"maxConcurrentRuns": 15, "queueTimeoutMinutes": 360}
_QUEUE_RANGES = {"maxConcurrentRuns": (1, 1000), "queueTimeoutMinutes": (15, 720)}
_SUMMARY = ("name", "arn", "releaseLabel", "type", "state", "stateDetails", "createdAt", "updatedAt", "architecture")


def create_application(asked: Mapping[str, Any]) -> Record:
    """CreateApplication; the same token gives the same application."""
    with STORE.changed:
        token = ("", str(asked["clientToken"]))
        if token not in STORE.tokens:
            application = _new_application(asked)
            STORE.applications[application["applicationId"]] = application
            STORE.tokens[token] = application["applicationId"]
        made = STORE.applications[STORE.tokens[token]]
        return {name: made[name] for name in ("applicationId", "name", "arn") if name in made}


def get_application(asked: Mapping[str, Any]) -> Record:
    """GetApplication; one that is gone is shown as TERMINATED."""
    return {"application": dict(application_named(asked["applicationId"]))}


def list_applications(asked: Mapping[str, Any]) -> Record:
    """ListApplications: newest first, without those that are gone."""
    wanted = asked.get("states")
    with STORE.changed:
        found = [
            {"id": name, **{member: one[member] for member in _SUMMARY if member in one}}
            for name in reversed(STORE.applications)
            if (one := application_named(name))["state"] != "TERMINATED" and (not wanted or one["state"] in wanted)
        ]
    return page_of(found, list(reversed(STORE.applications)), asked, "applications")


def update_application(asked: Mapping[str, Any]) -> Record:
    """UpdateApplication: members that are given replace what was there; only at rest."""
    changes = {name: value for name, value in asked.items() if name not in ("applicationId", "clientToken")}
    _validate(changes)
    with STORE.changed:
        application = _at_rest(asked["applicationId"], "updated")
        application |= _with_queue(changes) if "schedulerConfiguration" in changes else changes
        application["updatedAt"] = CLOCK.time()
        return {"application": dict(application)}


def start_application(asked: Mapping[str, Any]) -> Record:
    """StartApplication."""
    with STORE.changed:
        set_state(_present(asked["applicationId"]), "STARTED")
    return {}


def stop_application(asked: Mapping[str, Any]) -> Record:
    """StopApplication: refused at rest and while job runs are under way; the application is STOPPING for a while first.

    The words of the first refusal are as seen on AWS (gchq/sleeper#1212).
    """
    with STORE.changed:
        application = _present(asked["applicationId"])
        if application["state"] not in _CAN_BE_STOPPED:
            allowed = ", ".join(_CAN_BE_STOPPED)
            raise ValidationException(
                f"Application cannot be STOPPED. Applications must be in one of the following statuses: [{allowed}]"
            )
        if runs_under_way(application["applicationId"]):
            raise ValidationException(
                f"Application {application['applicationId']} cannot be stopped: it has job runs that have not ended"
            )
        set_state(application, "STOPPING")
    return {}


def delete_application(asked: Mapping[str, Any]) -> Record:
    """DeleteApplication: only at rest."""
    with STORE.changed:
        set_state(_at_rest(asked["applicationId"], "deleted"), "TERMINATED")
    return {}


def application_named(application_id: str) -> Record:
    """The application of that id, stopped if it has been idle or stopping long enough. Raises ResourceNotFoundException."""
    with STORE.changed:
        application = STORE.applications.get(application_id)
        if application is None:
            raise ResourceNotFoundException(f"Application {application_id} does not exist")
        _stop_if_due(application)
        return application


def require_started(application_id: str) -> Record:
    """The application, ready for a job run: started by itself where it may. Raises ValidationException."""
    application = _present(application_id)
    if application["state"] != "STARTED":
        if not application["autoStartConfiguration"].get("enabled", True):
            raise ValidationException(f"Application {application_id} is {application['state']}; start it first")
        set_state(application, "STARTED")
    return application


def runs_under_way(application_id: str) -> list[Record]:
    """The application's job runs that have not ended, oldest first."""
    return [
        run for run in STORE.job_runs.values() if run["applicationId"] == application_id and run["state"] not in ENDED
    ]


def set_state(record: Record, state: str, details: str = "") -> None:
    """Move an application or a job run on, and tell whoever waits."""
    with STORE.changed:
        record |= {"state": state, "updatedAt": CLOCK.time(), "stateDetails": details}
        if not details:
            # Empty details are left out, as the model's minimum of one character demands.
            del record["stateDetails"]
        STORE.changed.notify_all()


def _new_application(asked: Mapping[str, Any]) -> Record:
    _validate(asked)
    if str(asked["type"]).upper() != "SPARK":
        raise NotEmulated(f"applications of type {asked['type']}")
    application_id = new_id()
    return {
        "architecture": "X86_64",
        "autoStartConfiguration": {"enabled": True},
        "autoStopConfiguration": {"enabled": True, "idleTimeoutMinutes": _IDLE_MINUTES},
        "tags": {},
        **_with_queue({name: value for name, value in asked.items() if name != "clientToken"}),
        "type": "Spark",
        "applicationId": application_id,
        "arn": arn_of(application_id),
        "state": "CREATED",
        "createdAt": CLOCK.time(),
        "updatedAt": CLOCK.time(),
    }


def _with_queue(asked: Record) -> Record:
    return {**asked, "schedulerConfiguration": {**_QUEUE, **asked.get("schedulerConfiguration", {})}}


def _validate(asked: Mapping[str, Any]) -> None:
    """What the service checks beyond its model: the release, and the ranges of the queue."""
    label = asked.get("releaseLabel")
    if label is not None and not _LABEL.fullmatch(label):
        raise ValidationException(f"Release label {label} is not supported")
    if label is not None and label not in RELEASES:
        raise NotEmulated(f"release {label}: Spark 3.5.6 runs here, which is that of {', '.join(RELEASES)}")
    for name, (least, most) in _QUEUE_RANGES.items():
        value = asked.get("schedulerConfiguration", {}).get(name)
        if value is not None and not least <= int(value) <= most:
            raise ValidationException(f"schedulerConfiguration.{name} is {value}; the valid range is {least} to {most}")


def _present(application_id: str) -> Record:
    application = application_named(application_id)
    if application["state"] == "TERMINATED":
        raise ValidationException(f"Application {application_id} is TERMINATED")
    return application


def _at_rest(application_id: str, verb: str) -> Record:
    application = _present(application_id)
    if application["state"] not in _AT_REST:
        raise ValidationException(
            f"Application {application_id} cannot be {verb} in state {application['state']}; "
            f"it must be in one of: {', '.join(_AT_REST)}"
        )
    return application


def _stop_if_due(application: Record) -> None:
    if application["state"] == "STOPPING" and CLOCK.time() - application["updatedAt"] > _STOPPING_SECONDS:
        set_state(application, "STOPPED")
    stop = application["autoStopConfiguration"]
    if application["state"] != "STARTED" or not stop.get("enabled", True):
        return
    runs = [run for run in STORE.job_runs.values() if run["applicationId"] == application["applicationId"]]
    last_use = max([application["updatedAt"], *(run["updatedAt"] for run in runs)])
    idle_seconds = 60 * stop.get("idleTimeoutMinutes", _IDLE_MINUTES)
    if all(run["state"] in ENDED for run in runs) and CLOCK.time() - last_use > idle_seconds:
        set_state(application, "STOPPED")
