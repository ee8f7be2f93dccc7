"""Every permission of the system, on one page: who may do what to which resource.

Actions are literal. A resource that ends in a wildcard says why; `*` alone stands only where a service takes nothing else.
What each state needs follows from what its handler calls (`lambdas/aws`); a function has nothing that its state does not use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from pipeline.places import CLAIMS, CONTROL, EXPORTS, LAST_EXPORT_TIME, LOGS, RUNS, SETTINGS, TOLD, WAREHOUSE

_NO_CONDITIONS: Mapping[str, Mapping[str, object]] = MappingProxyType({})
_MADE_BY_RUNS = "What is below it is made when the pipeline runs: exports, claims, executions, job runs, files."
_OVERTAKEN = "A run that a deployment overtakes goes on with the code and the columns of when it was planned."
_XRAY = "X-Ray takes no resource."
_TRACE = ("xray:PutTraceSegments", "xray:PutTelemetryRecords")
_DELIVER_LOGS = (
    "logs:CreateLogDelivery",
    "logs:GetLogDelivery",
    "logs:UpdateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:DescribeResourcePolicies",
    "logs:DescribeLogGroups",
)


@dataclass(frozen=True)
class Right:
    """Actions allowed on resources; `why_wildcard` where a resource holds one."""

    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: Mapping[str, Mapping[str, object]] = field(default_factory=lambda: _NO_CONDITIONS)
    why_wildcard: str = ""


@dataclass(frozen=True)
class Places:
    """ARNs of everything that rights are about. `arn` makes one: (service, rest) for this partition, Region and account.

    `tables`: the source tables; `assets`: the code of jobs; `columns_files`: what the settings say of columns; both of earlier
    deployments as well; `parameters`: the path that all parameters are under; `secrets`: what hashes are keyed with.
    """

    arn: Callable[[str, str], str]
    tables: tuple[str, ...]
    bucket: str
    topic: str
    topic_key: str
    database: str
    application: str
    state_machine_name: str
    parameters: str
    assets: tuple[str, ...]
    columns_files: str
    secrets: tuple[str, ...]

    def parameter(self, rest: str) -> str:
        """The parameters whose path below the prefix matches."""
        return self.arn("ssm", f"parameter{self.parameters}{rest}")

    @property
    def catalog(self) -> tuple[str, ...]:
        """What Glue checks for a table: the catalog, the database, and the table itself; the database is ours alone."""
        return (
            self.arn("glue", "catalog"),
            self.arn("glue", f"database/{self.database}"),
            self.arn("glue", f"table/{self.database}/*"),
        )


def function_rights(places: Places) -> dict[str, list[Right]]:
    """What the function of each state may do, beside writing its own logs and traces."""
    watermark, exports = places.parameter(f"/*/{LAST_EXPORT_TIME}"), tuple(f"{t}/export/*" for t in places.tables)
    return {
        "Plan": [*_plan_a_run(places), *_read_watermark(places), *_read_reports(places), *_look_at_job_runs(places)],
        # A daily digest sums up what the reports of the day have found.
        "NotifyNews": [*_tell(places), *_read_reports(places)],
        "StartExports": [*_start_exports(places), *_look_at_job_runs(places)],
        "CheckExports": [Right(("dynamodb:DescribeExport",), exports, why_wildcard=_MADE_BY_RUNS)],
        "PrepareJob": [Right(("emr-serverless:ListJobRuns",), (places.application,))],
        "RecordWatermark": [
            *_read_watermark(places),
            *_read_reports(places),
            Right(("ssm:PutParameter",), (watermark,), why_wildcard=_MADE_BY_RUNS),
        ],
        "NotifySuccess": _tell(places),
        # A run whose plan has failed knows nothing of the history that is left; the mail looks for itself.
        "NotifyFailure": [
            *_tell(places),
            *_read_reports(places),
            Right(("dynamodb:DescribeContinuousBackups",), places.tables),
        ],
    }


def _plan_a_run(places: Places) -> list[Right]:
    """Look at parameters, what the settings say of columns, source table and other executions; claim a run."""
    claims = places.parameter(f"/*/{CLAIMS}/*")
    executions = places.arn("states", f"execution:{places.state_machine_name}:*")
    return [
        Right(
            ("ssm:GetParametersByPath",),
            (places.parameter(""), places.parameter("/*")),
            why_wildcard="A table's parameters are read by path; for a table without any, all that there are.",
        ),
        Right(("ssm:PutParameter", "ssm:DeleteParameters"), (claims,), why_wildcard=_MADE_BY_RUNS),
        Right(("s3:GetObject",), (places.columns_files,), why_wildcard=_OVERTAKEN),
        Right(("dynamodb:DescribeTable", "dynamodb:DescribeContinuousBackups"), places.tables),
        Right(("states:DescribeExecution",), (executions,), why_wildcard=_MADE_BY_RUNS),
    ]


def _look_at_job_runs(places: Places) -> list[Right]:
    """Count those of some work, and see what one was given, or billed."""
    return [
        Right(("emr-serverless:ListJobRuns",), (places.application,)),
        Right(("emr-serverless:GetJobRun",), (f"{places.application}/jobruns/*",), why_wildcard=_MADE_BY_RUNS),
    ]


def _start_exports(places: Places) -> list[Right]:
    """Ask for exports, which DynamoDB writes with the rights of whoever asked; describing tells why one was refused."""
    return [
        Right(
            ("dynamodb:ExportTableToPointInTime", "dynamodb:DescribeTable", "dynamodb:DescribeContinuousBackups"),
            places.tables,
        ),
        Right(
            ("s3:PutObject", "s3:PutObjectAcl", "s3:AbortMultipartUpload"),
            (f"{places.bucket}/{EXPORTS}/*",),
            why_wildcard=_MADE_BY_RUNS,
        ),
    ]


def job_rights(places: Places) -> list[Right]:
    """What a Spark job may do: read exports, its own code and what an earlier job has reported, write tables, reports, logs."""
    bucket = places.bucket
    return [
        # A job may wait for hours in the queue before it downloads them.
        Right(("s3:GetObject",), (*places.assets, places.columns_files), why_wildcard=_OVERTAKEN),
        Right(("s3:GetObject",), (f"{bucket}/{EXPORTS}/*", f"{bucket}/{RUNS}/*"), why_wildcard=_MADE_BY_RUNS),
        Right(
            ("s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"),
            (f"{bucket}/{WAREHOUSE}/*",),
            why_wildcard=_MADE_BY_RUNS,
        ),
        Right(("s3:PutObject",), (f"{bucket}/{RUNS}/*", f"{bucket}/{LOGS}/*"), why_wildcard=_MADE_BY_RUNS),
        _list(bucket, EXPORTS, WAREHOUSE, RUNS),
        Right(("glue:GetDatabase",), places.catalog[:2]),
        Right(
            ("glue:GetTable", "glue:CreateTable", "glue:UpdateTable"),
            places.catalog,
            why_wildcard="The database is the deployment's own; the jobs make its tables.",
        ),
        *_read_secrets(places),
    ]


def _read_secrets(places: Places) -> list[Right]:
    """EMR Serverless looks a job's secrets up, as a service or with the job's role. Only where a table hashes."""
    actions = ("secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret")
    why = "Secrets Manager ends every ARN in six characters of its own."
    return [Right(actions, places.secrets, why_wildcard=why)] if places.secrets else []


def state_machine_rights(places: Places, functions: tuple[str, ...], job_role: str) -> list[Right]:
    """What the state machine may do: call the functions, run jobs under the job role, and log.

    The rule's name is the one that Step Functions gives to its own wait for jobs ("IAM policies for integrated services").
    """
    return [
        Right(("lambda:InvokeFunction",), functions),
        Right(("emr-serverless:StartJobRun",), (places.application,)),
        Right(
            ("emr-serverless:GetJobRun", "emr-serverless:CancelJobRun"),
            (f"{places.application}/jobruns/*",),
            why_wildcard=_MADE_BY_RUNS,
        ),
        Right(
            ("iam:PassRole",),
            (job_role,),
            {"StringEquals": {"iam:PassedToService": "emr-serverless.amazonaws.com"}},
        ),
        Right(
            ("events:PutTargets", "events:PutRule", "events:DescribeRule"),
            (places.arn("events", "rule/StepFunctionsGetEventsForEMRServerlessJobRule"),),
        ),
        Right(_DELIVER_LOGS, ("*",), why_wildcard="CloudWatch Logs takes no resource for the log of a state machine."),
        Right((*_TRACE, "xray:GetSamplingRules", "xray:GetSamplingTargets"), ("*",), why_wildcard=_XRAY),
    ]


def scheduler_rights(state_machine: str, queue: str) -> list[Right]:
    """What the schedules may do: start the state machine, and keep what could not be delivered."""
    return [Right(("states:StartExecution",), (state_machine,)), Right(("sqs:SendMessage",), (queue,))]


def telemetry(log_group: str) -> list[Right]:
    """What every function may do: write its own logs (the group's ARN ends in ``:*``) and traces."""
    return [
        Right(
            ("logs:CreateLogStream", "logs:PutLogEvents"), (log_group,), why_wildcard="Log streams are made by Lambda."
        ),
        Right(_TRACE, ("*",), why_wildcard=_XRAY),
    ]


def _read_watermark(places: Places) -> list[Right]:
    return [
        Right(("glue:GetDatabase",), places.catalog[:2]),
        Right(("glue:GetTable",), places.catalog, why_wildcard="The database is the deployment's own."),
        Right(("s3:GetObject",), (f"{places.bucket}/{WAREHOUSE}/*/metadata/*",), why_wildcard=_MADE_BY_RUNS),
        _list(places.bucket, WAREHOUSE),
    ]


def _read_reports(places: Places) -> list[Right]:
    read = Right(("s3:GetObject",), (f"{places.bucket}/{RUNS}/*",), why_wildcard=_MADE_BY_RUNS)
    return [read, _list(places.bucket, RUNS)]


def _list(bucket: str, *folders: str) -> Right:
    """Listing: it is also what makes a file that is not there "not found" instead of "denied".

    That implied check, like a look at the bucket alone, carries no prefix: hence IfExists.
    """
    prefixes = [f"{folder}/*" for folder in folders]
    return Right(("s3:ListBucket",), (bucket,), {"StringLikeIfExists": {"s3:prefix": prefixes}})


def _tell(places: Places) -> list[Right]:
    """Send mail; read and write what the mails have told, so that it is told once.

    Read with it are the watermark, and the deployment's own parameters, whose dates tell whether it is of an earlier deployment.
    """
    told, *along = (places.parameter(f"/*/{name}") for name in (TOLD, LAST_EXPORT_TIME, SETTINGS, CONTROL))
    return [
        Right(("sns:Publish",), (places.topic,)),
        Right(("kms:GenerateDataKey", "kms:Decrypt"), (places.topic_key,)),
        Right(("ssm:GetParameters",), (told, *along), why_wildcard=_MADE_BY_RUNS),
        Right(("ssm:PutParameter",), (told,), why_wildcard=_MADE_BY_RUNS),
    ]
