"""Where the deployed parts are: written into the functions' environment by `infra`, read back by `lambdas`.

One class for both directions. Environment names are the field names in upper case with the prefix ``TIDEMARK_``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from pipeline.places import EXPORTS, LOGS, RUNS, WAREHOUSE

_PREFIX = "TIDEMARK_"
#: Says which stack `make` is meant for; the app refuses the settings of another one.
STACK_VARIABLE = "TIDEMARK_STACK"
_AWS_CALL = re.compile(r"\baws [a-z0-9-]+ [a-z0-9-]+")


@dataclass(frozen=True)
class Deployment:
    """The names and places that the stack gave its parts; all text, none of it secret.

    `columns_file`: the URI of what the settings say of columns (`pipeline.columns.declared.columns_file`).
    `parameter_prefix` is ``/tidemark/<stack>``; `bucket` holds exports/, warehouse/, runs/ and logs/.
    """

    stack_name: str
    default_table: str
    parameter_prefix: str
    bucket: str
    database: str
    topic_arn: str
    state_machine_arn: str
    application_id: str
    job_role_arn: str
    entry_point: str
    spark_bundle: str
    columns_file: str
    worker_vcpus: str
    worker_memory_gb: str
    worker_disk_gb: str
    max_executors: str

    def to_environment(self) -> dict[str, str]:
        """The environment variables of every function."""
        return {_PREFIX + name.upper(): value for name, value in asdict(self).items()}

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Deployment:
        """Read it back. Raises KeyError naming the variable that is missing."""
        return cls(**{f.name: environment[_PREFIX + f.name.upper()] for f in fields(cls)})

    def parameter(self, table: str, name: str = "") -> str:
        """The path of a table's parameter, or of all of them."""
        return f"{self.parameter_prefix}/{table}" + (f"/{name}" if name else "")

    def addressed(self, command: str) -> str:
        """A command for a person's shell, which may be set to the Region, or the settings, of another deployment."""
        if command.startswith("make "):
            return f"{STACK_VARIABLE}={self.stack_name} AWS_REGION={self.region} {command}"
        return _AWS_CALL.sub(rf"\g<0> --region {self.region}", command)

    def export_prefix(self, table: str) -> str:
        """The S3 prefix under which DynamoDB writes a source table's exports."""
        return f"{EXPORTS}/{table}"

    def report_key(self, table: str, job_id: str) -> str:
        """The S3 key of a job's report."""
        return f"{RUNS}/{table}/{job_id}.json"

    def report_uri(self, table: str, job_id: str) -> str:
        """Where a job's report lies."""
        return f"s3://{self.bucket}/{self.report_key(table, job_id)}"

    @property
    def warehouse(self) -> str:
        """The root of the Iceberg tables."""
        return f"s3://{self.bucket}/{WAREHOUSE}"

    @property
    def log_uri(self) -> str:
        """Where EMR Serverless writes the jobs' logs."""
        return f"s3://{self.bucket}/{LOGS}/"

    def arn_head(self, service: str) -> str:
        """What the ARNs of a service here begin with, up to what they name."""
        return ":".join(["arn", self.partition, service, *self.state_machine_arn.split(":")[3:5], ""])

    @property
    def partition(self) -> str:
        """The partition of AWS that everything is in (aws, aws-cn, aws-us-gov, …), read off the state machine's ARN."""
        return self.state_machine_arn.split(":")[1]

    @property
    def region(self) -> str:
        """The Region everything is in, read off the state machine's ARN."""
        return self.state_machine_arn.split(":")[3]
