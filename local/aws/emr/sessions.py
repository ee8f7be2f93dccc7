"""Clients that act under a job's role, over HTTP: every call is evaluated like any other request."""

import os
from typing import Any

import boto3
from botocore.config import Config


def client_of(service: str, credentials: dict[str, str]) -> Any:
    """A boto3 client of a service of this local AWS; `credentials` are a role session's environment variables.

    The endpoint and the region are the launcher's.
    """
    session = boto3.Session(
        aws_access_key_id=credentials["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=credentials["AWS_SECRET_ACCESS_KEY"],
        aws_session_token=credentials["AWS_SESSION_TOKEN"],
        region_name=os.environ["AWS_REGION"],
    )
    config = Config(s3={"addressing_style": "path"}, retries={"mode": "standard", "max_attempts": 2})
    make: Any = session.client
    return make(service, endpoint_url=os.environ["AWS_ENDPOINT_URL"], config=config)
