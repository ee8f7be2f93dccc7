"""Clients that act under a job's role, over HTTP: every call is evaluated like any other request."""

import os
from threading import Lock
from typing import Any

import boto3
from botocore.config import Config

# Sessions do not make clients for several threads at once.
_one_at_a_time = Lock()


def client_of(service: str, credentials: dict[str, str]) -> Any:
    """A boto3 client of a service of this local AWS; `credentials` are a role session's environment variables.

    The endpoint and the region are the launcher's.
    """
    # By boto3's own session: one for each job would read the descriptions of the services anew, half a second of a processor.
    make: Any = boto3.client
    with _one_at_a_time:
        return make(
            service,
            endpoint_url=os.environ["AWS_ENDPOINT_URL"],
            region_name=os.environ["AWS_REGION"],
            aws_access_key_id=credentials["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=credentials["AWS_SECRET_ACCESS_KEY"],
            aws_session_token=credentials["AWS_SESSION_TOKEN"],
            config=Config(s3={"addressing_style": "path"}, retries={"mode": "standard", "max_attempts": 2}),
        )
