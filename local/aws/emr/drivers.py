"""Drivers that stay warm: JVMs in which Spark's own submission runs one job after the other, as on initialised workers.

A cold JVM spends three quarters of a small job on loading and compiling what the job before had loaded and compiled.
Each job keeps what makes it a job: `spark-submit`'s arguments and checks, its program in a Python process of its own, the
credentials of its role, its output. What a job leaves in the JVM (context, settings, credentials, file systems) is
removed before the next; a JVM that a cancelled job has used is ended.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from pathlib import Path
from threading import Lock
from typing import Any

from local.aws.emr.control import Control
from local.aws.emr.logs import Logs
from local.aws.emr.machine import DriverKind, Machine
from local.aws.emr.process import ProcessGroup

_POLL_SECONDS = 0.05
# From the end of a job's program to the last of its output.
_WRITTEN_WITHIN_SECONDS = 30.0
# From the end of a connection to that of the process.
_GONE_WITHIN_SECONDS = 5.0
# A warm driver keeps about a gigabyte: of more than these, the one that has waited longest is ended.
_MOST_IDLE = 2
# Java's properties of the credentials, for the first and the second generation of AWS's SDK.
_CREDENTIALS = {
    "aws.accessKeyId": "AWS_ACCESS_KEY_ID",
    "aws.secretKey": "AWS_SECRET_ACCESS_KEY",
    "aws.secretAccessKey": "AWS_SECRET_ACCESS_KEY",
    "aws.sessionToken": "AWS_SESSION_TOKEN",
}
_EXIT_OF_A_PROGRAM = "org.apache.spark.SparkUserAppException"

# Py4J complains of each object of a JVM that is gone; that it is gone is told in its job's words.
logging.getLogger("py4j").setLevel(logging.CRITICAL)


class DriverFailed(Exception):
    """A driver's JVM did not start; the text is the end of what it wrote."""


class Driver:
    """One JVM with a folder of its own, used by one job at a time."""

    def __init__(self, machine: Machine, kind: DriverKind) -> None:
        self.kind = kind
        self._folder = Path(tempfile.mkdtemp(prefix="spark-driver-"))
        self._logs = Logs(self._folder / "stdout", self._folder / "stderr")
        self._told = dict.fromkeys(self._logs.files, 0)
        self._connection = self._folder / "connection"
        environment = machine.driver_environment(kind, self._folder)
        self._process = ProcessGroup(
            machine.driver_command(kind),
            {**environment, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._connection)},
            self._logs.stdout,
            self._logs.stderr,
        )

    @property
    def is_alive(self) -> bool:
        """Whether the JVM can take a job."""
        return self._process.exit_code is None

    def wait_until_ready(self, control: Control) -> None:
        """Wait until the JVM takes jobs. Raises JobCancelled once `control` says so, DriverFailed."""
        while not self._connection.exists():
            if self._process.wait(_POLL_SECONDS) is not None:
                raise DriverFailed(self._logs.stderr.read_text(errors="replace")[-4000:])
            control.stop_if_asked()

    def submit(self, arguments: list[str], credentials: Mapping[str, str], logs: Logs, control: Control) -> int:
        """Run a job to its end; returns the exit code that `spark-submit` would have, and leaves the output in `logs`.

        Raises JobCancelled, when the JVM and all it started are gone, once `control` says so.
        """
        try:
            with ThreadPoolExecutor(1) as thread:
                ending = thread.submit(self._run, arguments, credentials)
                try:
                    while not wait_for([ending], _POLL_SECONDS).done:
                        control.stop_if_asked()
                finally:
                    if not ending.done():
                        self._process.end(control.grace_seconds)
            return ending.result()
        finally:
            self._hand_over(logs)

    def kill(self) -> None:
        """Kill the JVM and the program in it; whoever waits for the job sees it die."""
        self._process.kill()

    def end(self, grace_seconds: float = 0.0) -> None:
        """End the JVM, by itself if it has the time, so that it does what it was told to do at its end; remove its folder."""
        self._process.end(grace_seconds)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _gateway(self) -> Any:
        """A new connection; the threads that serve it in the JVM end with it."""
        # Not at the top: the launcher has no other need of them.
        from py4j.java_gateway import GatewayParameters, JavaGateway

        content = self._connection.read_bytes()
        # The port, the length of the secret, the secret: `PythonGatewayServer` of Spark.
        port, secret = int.from_bytes(content[:4], "big"), content[8:].decode()
        return JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=secret))

    def _run(self, arguments: list[str], credentials: Mapping[str, str]) -> int:
        from py4j.protocol import Py4JError

        with contextlib.closing(self._gateway()) as gateway:
            try:
                _begin_anew(gateway.jvm)
                for name, variable in _CREDENTIALS.items():
                    gateway.jvm.System.setProperty(name, credentials[variable])
                code = self._exit_code(gateway, arguments)
                _clean_up(gateway.jvm)
            except (Py4JError, OSError):
                gone = self._process.wait(_GONE_WITHIN_SECONDS)
                if gone is None:
                    raise
                # Whatever made the JVM go is its exit code, and the job's; it has not ended well.
                return gone or 1
        return code

    def _exit_code(self, gateway: Any, arguments: list[str]) -> int:
        """Submit; the exit code of the job's program, or 1 for a job that came to none, whose error is written down."""
        from py4j.protocol import Py4JJavaError

        given = gateway.new_array(gateway.jvm.String, len(arguments))
        for index, argument in enumerate(arguments):
            given[index] = argument
        try:
            gateway.jvm.org.apache.spark.deploy.InProcessSparkSubmit.main(given)
        except Py4JJavaError as failed:
            cause = failed.java_exception
            if cause.getClass().getName() == _EXIT_OF_A_PROGRAM:
                return int(cause.exitCode())
            with self._logs.stderr.open("a") as log:
                log.write(f"{failed}\n")
            return 1
        return 0

    def _hand_over(self, logs: Logs) -> None:
        """What was written since the job before, as the job's own output."""
        for ours, theirs in zip(self._logs.files, logs.files, strict=True):
            with ours.open("rb") as written:
                written.seek(self._told[ours])
                theirs.write_bytes(written.read())
                self._told[ours] = written.tell()


class Drivers:
    """The drivers that wait for their next job."""

    def __init__(self) -> None:
        self._idle: list[Driver] = []
        self._lock = Lock()

    @contextlib.contextmanager
    def lent(self, machine: Machine, kind: DriverKind, control: Control) -> Iterator[Driver]:
        """A driver of a kind, for one job: one that waits, or a new one. Raises JobCancelled, DriverFailed."""
        driver = self._taken(kind) or Driver(machine, kind)
        with contextlib.ExitStack() as unless_it_goes_well:
            unless_it_goes_well.callback(driver.end)
            driver.wait_until_ready(control)
            yield driver
            unless_it_goes_well.pop_all()
        for surplus in self._given_back(driver):
            surplus.end()

    def end_all(self) -> None:
        """End those that wait."""
        with self._lock:
            idle, self._idle = self._idle, []
        for driver in idle:
            driver.end()

    def _taken(self, kind: DriverKind) -> Driver | None:
        with self._lock:
            # The last one used has the most in its processor's reach.
            for driver in reversed(self._idle):
                if driver.kind == kind and driver.is_alive:
                    self._idle.remove(driver)
                    return driver
        return None

    def _given_back(self, driver: Driver) -> list[Driver]:
        """Keep a driver that can still work; returns those to end: a dead one, or the one that has waited longest."""
        if not driver.is_alive:
            return [driver]
        with self._lock:
            self._idle.append(driver)
            surplus, self._idle = self._idle[:-_MOST_IDLE], self._idle[-_MOST_IDLE:]
        return surplus


def _begin_anew(jvm: Any) -> None:
    """Remove the settings and credentials of whoever came before, and log as a cold driver does."""
    jvm.org.apache.spark.util.Utils.setLogLevel(jvm.org.apache.logging.log4j.Level.INFO)
    properties = jvm.System.getProperties()
    for name in list(properties.stringPropertyNames()):
        if name.startswith("spark.") or name in _CREDENTIALS:
            properties.remove(name)


def _clean_up(jvm: Any) -> None:
    """Wait for the last of the program's output, and end what a program that failed has left open."""
    deadline = time.monotonic() + _WRITTEN_WITHIN_SECONDS
    while time.monotonic() < deadline and any(
        thread.getName() == "redirect output" for thread in jvm.Thread.getAllStackTraces().keySet()
    ):
        time.sleep(_POLL_SECONDS)
    context = _object(jvm.org.apache.spark, "SparkContext").getActive()
    if context.isDefined():
        context.get().stop()
    _begin_anew(jvm)
    _object(jvm.org.apache.spark.util, "Utils").clearLocalRootDirs()
    jvm.org.apache.hadoop.fs.FileSystem.closeAll()


def _object(package: Any, name: str) -> Any:
    """An object of Scala's; what is public in Spark only reaches Java through the object itself."""
    return getattr(getattr(package, f"{name}$"), "MODULE$")


DRIVERS = Drivers()
