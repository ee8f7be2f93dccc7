"""An application, a role, a bucket and programs for the jobs of these tests."""

import json
import time
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from local.control import LocalAws

ENDED = ("SUCCESS", "FAILED", "CANCELLED")
ICEBERG = " ".join(
    f"--conf {setting}"
    for setting in (
        "spark.jars=/usr/share/aws/iceberg/lib/iceberg-spark3-runtime.jar",
        "spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.glue=org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.glue.catalog-impl=org.apache.iceberg.aws.glue.GlueCatalog",
        "spark.sql.catalog.glue.io-impl=org.apache.iceberg.aws.s3.S3FileIO",
        "spark.sql.catalog.glue.warehouse=s3://lake/warehouse",
        "spark.driver.memory=13g",
        "spark.executor.cores=4",
    )
)


class Jobs:
    """An application and what its jobs need, in few words; root does it."""

    iceberg = ICEBERG
    logs_to_s3: ClassVar = {"monitoringConfiguration": {"s3MonitoringConfiguration": {"logUri": "s3://lake/logs/"}}}

    def __init__(self, aws: LocalAws) -> None:
        self.aws = aws
        self.emr = aws.client("emr-serverless")
        self.s3 = aws.client("s3")
        self.s3.create_bucket(Bucket="lake")
        self.role = self.make_role("job", {"Action": ["s3:*", "glue:*", "logs:*"], "Resource": "*"})
        self.application = self.make_application()
        self._tokens = 0

    def make_application(self, **members: Any) -> str:
        """A new application's id."""
        asked = {"name": "tests", "releaseLabel": "emr-7.14.0", "type": "SPARK", **members}
        return str(self.emr.create_application(**asked)["applicationId"])

    def make_role(self, name: str, *allowed: dict[str, Any]) -> str:
        """A role that jobs may assume; returns its ARN."""
        trust = {
            "Effect": "Allow",
            "Principal": {"Service": "emr-serverless.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
        iam = self.aws.client("iam")
        role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=document(trust))["Role"]["Arn"]
        policy = document(*({"Effect": "Allow", **statement} for statement in allowed))
        iam.put_role_policy(RoleName=name, PolicyName="inline", PolicyDocument=policy)
        return str(role)

    def put(self, key: str, content: str | bytes) -> str:
        """Write an object; returns its URI."""
        self.s3.put_object(Bucket="lake", Key=key, Body=content)
        return f"s3://lake/{key}"

    def driver(self, program: str, *arguments: str, parameters: str = "--conf spark.app.name=test") -> dict[str, Any]:
        """A job driver for the source text of a program."""
        entry = self.put("jobs/program.py", program)
        return {
            "sparkSubmit": {
                "entryPoint": entry,
                "entryPointArguments": list(arguments),
                "sparkSubmitParameters": parameters,
            }
        }

    def start(self, driver: dict[str, Any] | None = None, **members: Any) -> str:
        """Start a job run, with a token of its own unless one is given; without a driver it fails at once."""
        self._tokens += 1
        asked = {
            "applicationId": self.application,
            "clientToken": f"token-{self._tokens}",
            "executionRoleArn": self.role,
            "jobDriver": driver or {"sparkSubmit": {"entryPoint": "s3://lake/missing.py"}},
            **members,
        }
        return str(self.emr.start_job_run(**asked)["jobRunId"])

    def described(self, run: str, application: str | None = None) -> dict[str, Any]:
        """The job run as it is now."""
        found: dict[str, Any] = self.emr.get_job_run(applicationId=application or self.application, jobRunId=run)
        run_now: dict[str, Any] = found["jobRun"]
        return run_now

    def ended(self, run: str, within: float = 60.0, application: str | None = None) -> dict[str, Any]:
        """The job run once it has ended."""
        return self.until(run, lambda found: found["state"] in ENDED, within, application)

    def until(
        self,
        run: str,
        good: Callable[[dict[str, Any]], bool],
        within: float = 60.0,
        application: str | None = None,
    ) -> dict[str, Any]:
        """The job run once it is good; fails with the last sight."""
        deadline = time.monotonic() + within
        while not good(found := self.described(run, application)):
            assert time.monotonic() < deadline, found
            time.sleep(0.05)
        return found

    def log(self, run: str, name: str, prefix: str = "logs/") -> bytes:
        """A delivered log as it lies in S3."""
        key = f"{prefix}applications/{self.application}/jobs/{run}/SPARK_DRIVER/{name}.gz"
        content: bytes = self.s3.get_object(Bucket="lake", Key=key)["Body"].read()
        return content


def document(*statements: dict[str, Any]) -> str:
    """A policy document."""
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


@pytest.fixture
def jobs(aws: LocalAws) -> Jobs:
    return Jobs(aws)
