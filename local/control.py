"""The client side of the local AWS: starts it in a process of its own and steers it. Used by the demo and the tests.

Speaks plain HTTP and boto3 only.
"""

import contextlib
import email.policy
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path
from typing import IO, Any

import boto3
from botocore.config import Config

from local.aws.account import ACCOUNT, REGION
from local.aws.home import EMPTIED
from local.failed import Failed, unwritable
from local.held import held
from local.surroundings import LOOPBACK, clean_environment, keep_apart, kept_apart

# Key and secret of the account's root, which every policy lets through.
_ROOT_KEY = "test"
#: Of the source tree.
ROOT = Path(__file__).resolve().parent.parent
_READY_WITHIN_SECONDS = 20.0
_STOPPED_WITHIN_SECONDS = 10.0
# A restore of a large account takes a while; nothing takes this long.
_ANSWERED_WITHIN_SECONDS = 300.0
_LOG_TAIL_LINES = 40


class LocalAwsFailed(Failed):
    """The local AWS did not start or refused a command; the text holds its words or the end of its log."""


class LocalAws:
    """A local AWS in a process of its own, below the folder `home`."""

    def __init__(self, home: Path, port: int, process: "subprocess.Popen[bytes]", hold: IO[bytes]) -> None:
        self.home, self._hold = home, hold
        self.endpoint = f"http://{LOOPBACK}:{port}"
        self._process = process
        self._clients: dict[str, Any] = {}

    @classmethod
    def start(cls, home: Path, port: int | None = None, *, enforce_iam: bool = True) -> "LocalAws":
        """Start and wait until it answers; a free port is chosen when none is given. Raises LocalAwsFailed."""
        keep_apart()
        home = home.resolve()
        try:
            _check_ours(home)
            log_of(home).parent.mkdir(parents=True, exist_ok=True)
            hold = _held(home)
        except OSError as failed:
            raise LocalAwsFailed(unwritable(home, failed, "folder")) from failed
        port = port or free_port()
        command = [sys.executable, "-m", "local.aws.launch", "--home", str(home), "--port", str(port), "--leash"]
        with log_of(home).open("wb") as log:
            process = subprocess.Popen(
                [*command, *([] if enforce_iam else ["--no-iam"])],
                cwd=ROOT,
                env=clean_environment(),
                # A pipe nobody writes to: it ends when this process does, however that happens.
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                # A group of its own, so that one signal reaches everything it starts.
                start_new_session=True,
            )
        aws = cls(home, port, process, hold)
        aws._wait_until_ready()
        return aws

    @property
    def settings_for_shell(self) -> dict[str, str]:
        """What a shell must export so that boto3, the AWS CLI and the CDK CLI reach it, as root."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": _ROOT_KEY,
            "AWS_SECRET_ACCESS_KEY": _ROOT_KEY,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "CDK_DEFAULT_ACCOUNT": ACCOUNT,
            "CDK_DEFAULT_REGION": REGION,
            **kept_apart(),
            "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20",
        }

    @property
    def environment(self) -> dict[str, str]:
        """The whole environment for a tool that shall talk to the local AWS and to no other."""
        return {**clean_environment(), **self.settings_for_shell}

    def client(self, service: str) -> Any:
        """A boto3 client of a service with root's credentials; it tries once, so that nothing is hidden."""
        if service not in self._clients:
            session: Any = boto3.Session(aws_access_key_id=_ROOT_KEY, aws_secret_access_key=_ROOT_KEY)
            config = Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1})
            self._clients[service] = session.client(
                service, endpoint_url=self.endpoint, region_name=REGION, config=config
            )
        return self._clients[service]

    def stop(self) -> None:
        """End it and everything it started."""
        if self._process.poll() is None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOPPED_WITHIN_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdin:
            self._process.stdin.close()
        self._hold.close()

    def now(self) -> datetime:
        """The virtual present."""
        return _instant(self._post("clock"))

    def advance(self, seconds: float) -> datetime:
        """Move the clock on; returns the new present."""
        return _instant(self._post("clock", advance=seconds))

    def tick(self) -> None:
        """Fire every schedule that is due."""
        self._post("tick")

    def snapshot(self, name: str = "") -> None:
        """Keep the whole account as it is now, in place of an earlier snapshot of this name."""
        self._post("snapshot", name=name)

    def restore(self, name: str = "") -> None:
        """Make the account, and its clock, as they were at the snapshot of this name."""
        self._post("restore", name=name)

    def outbox(self) -> list[EmailMessage]:
        """The mails sent, oldest first."""
        policy = email.policy.default
        files = sorted((self.home / "outbox").glob("*.eml"))
        return [email.message_from_bytes(path.read_bytes(), policy=policy) for path in files]

    def access_log(self) -> list[dict[str, Any]]:
        """Every evaluation of IAM so far: role, action, resource, allowed."""
        checks: list[dict[str, Any]] = self._post("accesslog")
        return checks

    def set_knobs(self, **knobs: Any) -> dict[str, Any]:
        """Turn knobs (see `local/aws/knobs.py`); returns all of them."""
        turned: dict[str, Any] = self._post("knobs", **knobs)
        return turned

    def set_faults(self, *faults: dict[str, Any]) -> None:
        """Replace the faults in force (fields of `local/aws/faults.py` Fault); none ends them."""
        self._post("faults", faults=list(faults))

    def faults(self) -> list[dict[str, Any]]:
        """The faults in force with their counts."""
        described: list[dict[str, Any]] = self._post("faults")
        return described

    def set_auth(self, on: bool) -> None:
        """Switch IAM's enforcement."""
        self._post("auth", on=on)

    def log_tail(self) -> str:
        """The last lines the process wrote."""
        return "\n".join(log_of(self.home).read_text(errors="replace").splitlines()[-_LOG_TAIL_LINES:])

    def _wait_until_ready(self) -> None:
        until = time.monotonic() + _READY_WITHIN_SECONDS
        while time.monotonic() < until and self._process.poll() is None:
            # Whoever else listens on the port may not answer at all.
            with contextlib.suppress(OSError, LocalAwsFailed):
                self._send("health", {}, timeout=1.0)
                return
            time.sleep(0.05)
        self.stop()
        raise LocalAwsFailed(f"The local AWS did not start; its log ends:\n{self.log_tail()}")

    def _post(self, verb: str, **given: Any) -> Any:
        return self._send(verb, given, timeout=_ANSWERED_WITHIN_SECONDS)

    def _send(self, verb: str, given: dict[str, Any], *, timeout: float) -> Any:
        request = urllib.request.Request(  # noqa: S310 - the address is our own
            f"{self.endpoint}/_local/{verb}", json.dumps(given).encode(), {"content-type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:  # noqa: S310 - so is this
                return json.loads(response.read())
        except urllib.error.HTTPError as refused:
            raise LocalAwsFailed(f"{verb}: {refused.read().decode(errors='replace')}") from refused


def _check_ours(home: Path) -> None:
    """Refuse a folder with something in it that would be emptied, unless a local AWS has run there before."""
    at_risk = [name for name in EMPTIED if (home / name).exists()]
    if at_risk and not log_of(home).exists():
        raise LocalAwsFailed(
            f"{home} holds {', '.join(at_risk)}, which a local AWS would empty, and none has run there: name another folder."
        )


def _held(home: Path) -> IO[bytes]:
    """What keeps others out of the folder until it is closed, or this process ends. Raises LocalAwsFailed.

    Another local AWS there would empty it below the one that runs, whose jobs nobody would hear of again.
    """
    hold = held(log_of(home).with_name("held"))
    if hold is None:
        raise LocalAwsFailed(f"A local AWS runs in {home} already: stop that one, or name another folder.")
    return hold


def log_of(home: Path) -> Path:
    """Where the process writes its log."""
    return home / "logs" / "local-aws.log"


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _instant(answer: dict[str, float]) -> datetime:
    return datetime.fromtimestamp(answer["now"], UTC)
