"""Secrets in a job's settings: a value ``EMR.secret@NAME`` stands for what Secrets Manager holds.

Source: "Secrets Manager for data protection with EMR Serverless" of the user guide. The service reads them itself, so the
secret's own policy must let it, for this application, and so must the policy of the key: a customer's, for AWS's own key of
Secrets Manager serves no other service. Whether the job's role is asked as well the guide leaves open; here it is.
They reach `spark-submit` in a file that only we can read, never on a command line, which any process of the machine can read.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from local.aws.emr import PRINCIPAL
from local.aws.emr.sessions import client_of
from local.aws.encryption import customer_key_arn
from local.aws.roles import AccessDenied, check_service

_MARK = "EMR.secret@"


class SecretUnavailable(Exception):
    """A secret cannot be read; the text names it and carries the service's answer."""


def names_of(conf: Mapping[str, str]) -> dict[str, str]:
    """The settings whose values name secrets, with those names."""
    return {setting: value.removeprefix(_MARK) for setting, value in conf.items() if value.startswith(_MARK)}


def write_secrets(conf: Mapping[str, str], application: str, credentials: dict[str, str], file: Path) -> None:
    """Write the settings that name secrets, resolved, as a properties file; none where there are none.

    `application`: its ARN. Raises SecretUnavailable.
    """
    wanted = names_of(conf)
    if not wanted:
        return
    client = client_of("secretsmanager", credentials)
    lines = [f"{setting}={_escaped(_read(client, name, application))}\n" for setting, name in wanted.items()]
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.writelines(lines)


def _read(client: Any, name: str, application: str) -> str:
    try:
        described = client.describe_secret(SecretId=name)
        _require_for_the_service(described["ARN"], described.get("KmsKeyId", ""), application)
        return str(client.get_secret_value(SecretId=name)["SecretString"])
    except (ClientError, AccessDenied, KeyError) as refused:
        raise SecretUnavailable(f"cannot read the secret {name}: {refused}") from refused


def _require_for_the_service(secret: str, key: str, application: str) -> None:
    """Evaluate what the service does to a secret and its key. Raises AccessDenied."""
    from ministack.services import kms, secretsmanager

    region, account = application.split(":")[3:5]
    policy, _ = secretsmanager.secret_policy_for_arn(secret) or ("", account)
    for action in ("DescribeSecret", "GetSecretValue"):
        told = {"aws:SourceArn": application, "aws:SourceAccount": account}
        check_service(PRINCIPAL, f"secretsmanager:{action}", secret, policy, told)
    arn = customer_key_arn(key) or f"arn:aws:kms:{region}:{account}:alias/aws/secretsmanager"
    policy, _ = kms.key_policy_for_arn(arn) or ("", account)
    for action in ("DescribeKey", "Decrypt"):
        told = {"kms:ViaService": f"secretsmanager.{region}.amazonaws.com"}
        check_service(PRINCIPAL, f"kms:{action}", arn, policy, told)


def _escaped(text: str) -> str:
    """A value as Java's properties have it, whose characters are UTF-16's: beyond the first 65,536 there are two for one."""
    return "".join(c if c.isascii() and c.isalnum() else _in_digits(c) for c in text)


def _in_digits(character: str) -> str:
    digits = character.encode("utf-16-be").hex()
    return "".join(f"\\u{digits[first : first + 4]}" for first in range(0, len(digits), 4))
