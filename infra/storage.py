"""The one bucket: exports/, warehouse/ (the Iceberg tables), runs/ (reports), logs/ (of the Spark jobs)."""

from __future__ import annotations

from aws_cdk import Acknowledgment, Duration, RemovalPolicy, Validations
from aws_cdk import aws_s3 as s3
from constructs import Construct

from pipeline.places import EXPORTS, LOGS, RUNS
from pipeline.settings import Settings

_ABANDONED_UPLOAD = Duration.days(7)
#: A claim of work that was begun may be as old as history is kept, 35 days; only the report tells whether a job refused it.
_SHORTEST_FOR_REPORTS = 36


class Storage(Construct):
    """A private bucket, encrypted, reachable over TLS only; CloudFormation names it, so that every deployment has its own.

    It outlives the stack, unless the very deployment that creates it fails: it holds the tables.
    """

    def __init__(self, scope: Construct, id: str, *, settings: Settings) -> None:
        super().__init__(scope, id)
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
            # Not versioned: Iceberg never overwrites a file and keeps a history of its own; versions would only keep
            # what snapshot expiry and compaction are meant to free.
            versioned=False,
            # No rule touches warehouse/: only Iceberg knows which of its files are still referred to.
            lifecycle_rules=[
                _expiry(EXPORTS, settings.export_days),
                _expiry(RUNS, max(settings.log_days, _SHORTEST_FOR_REPORTS)),
                _expiry(LOGS, settings.log_days),
                s3.LifecycleRule(id="abandoned-uploads", abort_incomplete_multipart_upload_after=_ABANDONED_UPLOAD),
            ],
        )
        Validations.of(self.bucket).acknowledge(
            Acknowledgment(
                id="AwsSolutions-S1",
                reason="Server access logs need a second bucket and say less than CloudTrail's data events, which the "
                "account's owner switches on where wanted.",
            )
        )


def _expiry(folder: str, days: int) -> s3.LifecycleRule:
    return s3.LifecycleRule(id=f"expire-{folder}", prefix=f"{folder}/", expiration=Duration.days(days))
