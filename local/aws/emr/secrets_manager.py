"""Secrets in a job's settings: a value ``EMR.secret@NAME`` stands for what Secrets Manager holds, read with the job's role.

Source: "Secrets Manager for data protection with EMR Serverless" of the user guide. Here they reach `spark-submit` in a
file that only we can read, never on a command line, which any process of the machine can read.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from local.aws.emr.sessions import client_of

_MARK = "EMR.secret@"


class SecretUnavailable(Exception):
    """A secret cannot be read; the text names it and carries the service's answer."""


def names_of(conf: Mapping[str, str]) -> dict[str, str]:
    """The settings whose values name secrets, with those names."""
    return {setting: value.removeprefix(_MARK) for setting, value in conf.items() if value.startswith(_MARK)}


def write_secrets(conf: Mapping[str, str], credentials: dict[str, str], file: Path) -> bool:
    """Write the settings that name secrets, resolved, as a properties file; False where there are none.

    Raises SecretUnavailable.
    """
    wanted = names_of(conf)
    if not wanted:
        return False
    client = client_of("secretsmanager", credentials)
    lines = [f"{setting}={_escaped(_read(client, name))}\n" for setting, name in wanted.items()]
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.writelines(lines)
    return True


def _read(client: Any, name: str) -> str:
    try:
        return str(client.get_secret_value(SecretId=name)["SecretString"])
    except (ClientError, KeyError) as refused:
        raise SecretUnavailable(f"cannot read the secret {name}: {refused}") from refused


def _escaped(text: str) -> str:
    """A value as Java's properties have it."""
    return "".join(f"\\u{ord(c):04x}" if not c.isalnum() or ord(c) > 126 else c for c in text)
