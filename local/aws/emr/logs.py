"""A driver's output, delivered where the job run's monitoring configuration says, with the rights of its role.

Paths and names: "Storing logs" of the EMR Serverless user guide. EMR delivers while the job runs, this at its end.
"""

import gzip
import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from local.aws.clock import CLOCK
from local.aws.emr.sessions import client_of
from local.aws.emr.store import Record

logger = logging.getLogger(__name__)

_DEFAULT_GROUP = "/aws/emr-serverless"
# PutLogEvents takes a mebibyte, with 26 bytes of overhead for each event, and 10,000 events.
_LARGEST_BATCH_BYTES = 1_048_576
_EVENT_OVERHEAD_BYTES = 26
_LONGEST_EVENT_BYTES = 262_144 - _EVENT_OVERHEAD_BYTES
_MOST_EVENTS = 10_000

# A line that names an exception: Java's, or the first of a Python traceback that is not indented again.
_JAVA = re.compile(
    r"^(?:Caused by: |Exception in thread|: )?[\w.$]+(?:Exception|Error)\b.*|^(?:Caused by: |Exception in).*"
)
_MOST_EXCEPTIONS = 4
_LONGEST_DETAILS = 1_000


@dataclass(frozen=True)
class Logs:
    """The files a driver writes to; PySpark sends the Python program's own errors to standard output."""

    stdout: Path
    stderr: Path

    def deliver(self, run: Record, credentials: dict[str, str]) -> None:
        """Send both files. What the role may not write is not written, as on AWS; the launcher's log says so."""
        monitoring = run.get("configurationOverrides", {}).get("monitoringConfiguration", {})
        uri = monitoring.get("s3MonitoringConfiguration", {}).get("logUri")
        cloudwatch = monitoring.get("cloudWatchLoggingConfiguration", {})
        path = f"applications/{run['applicationId']}/jobs/{run['jobRunId']}/SPARK_DRIVER"
        try:
            if uri:
                self._to_s3(uri, path, client_of("s3", credentials))
            if cloudwatch.get("enabled"):
                self._to_cloudwatch(cloudwatch, path, client_of("logs", credentials))
        except ClientError as refused:
            logger.warning("logs of job run %s were not delivered: %s", run["jobRunId"], refused)

    @property
    def files(self) -> tuple[Path, Path]:
        """Both."""
        return self.stdout, self.stderr

    def _contents(self) -> list[tuple[str, bytes]]:
        return [(file.name, file.read_bytes()) for file in self.files if file.exists()]

    def _to_s3(self, uri: str, path: str, s3: Any) -> None:
        bucket, _, prefix = uri.removeprefix("s3://").partition("/")
        prefix = f"{prefix.rstrip('/')}/" if prefix.strip("/") else ""
        for name, content in self._contents():
            s3.put_object(Bucket=bucket, Key=f"{prefix}{path}/{name}.gz", Body=gzip.compress(content, 6))

    def _to_cloudwatch(self, configuration: Record, path: str, logs: Any) -> None:
        group = configuration.get("logGroupName", _DEFAULT_GROUP)
        prefix = configuration.get("logStreamNamePrefix")
        if not logs.describe_log_groups(logGroupNamePrefix=group)["logGroups"]:
            logs.create_log_group(logGroupName=group)
        now = int(1000 * CLOCK.time())
        for name, content in self._contents():
            stream = f"{prefix}/{path}/{name}" if prefix else f"{path}/{name}"
            logs.create_log_stream(logGroupName=group, logStreamName=stream)
            for batch in _batches(content):
                events = [{"timestamp": now, "message": line} for line in batch]
                logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=events)


def last_exceptions(logs: Logs) -> str:
    """What went wrong, from the end of the driver's output: the last lines that name an exception, oldest first."""
    found: list[str] = []
    for file in reversed(logs.files):
        lines = file.read_text(errors="replace").splitlines() if file.exists() else []
        found += _exceptions_in(lines) or lines[-_MOST_EXCEPTIONS:]
    distinct = list(dict.fromkeys(line.strip() for line in found if line.strip()))
    return _cut("\n".join(distinct[-_MOST_EXCEPTIONS:]))


def _exceptions_in(lines: list[str]) -> list[str]:
    found, in_traceback = [], False
    for line in lines:
        if line.startswith("Traceback (most recent call last)"):
            in_traceback = True
        elif in_traceback and line and not line[0].isspace():
            found.append(line)
            in_traceback = False
        elif _JAVA.match(line):
            found.append(line)
    return found


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_DETAILS else f"{text[:_LONGEST_DETAILS]}..."


def _batches(content: bytes) -> list[list[str]]:
    """The lines in as many batches as PutLogEvents needs; an empty line is no event."""
    batches: list[list[str]] = [[]]
    size = 0
    for line in content.splitlines():
        message = line[:_LONGEST_EVENT_BYTES].decode(errors="replace")
        if not message.strip():
            continue
        cost = len(message.encode()) + _EVENT_OVERHEAD_BYTES
        if size + cost > _LARGEST_BATCH_BYTES or len(batches[-1]) == _MOST_EVENTS:
            batches.append([])
            size = 0
        batches[-1].append(message)
        size += cost
    return [batch for batch in batches if batch]
