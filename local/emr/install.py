"""Adds the service to MiniStack, with its Step Functions integration and its CloudFormation type."""

from local.emr import api, cloudformation, integration
from local.hooks import register_service

SERVICE = "emr-serverless"


def install() -> None:
    """Register everything; called once by the launcher, before anything is served."""
    register_service(SERVICE, "emr_serverless", api, SERVICE)
    integration.install()
    cloudformation.install()
