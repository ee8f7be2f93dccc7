"""The commands of mails, as they can be pasted into any shell. Pure."""

from __future__ import annotations

import json
import shlex

from pipeline.deployment import Deployment

#: Characters of an input that a command repeats: what can be carried out is far shorter, a refused one may be anything.
_LONGEST_INPUT = 1_000
_TOO_LONG = "the input, corrected: it is too long for a mail"


def filled(command: str, table: str, deployment: Deployment, asked: str = "") -> str:
    """A command of `pipeline.errors` as it can be pasted into any shell. `asked`: the input of the run, as JSON."""
    if len(asked) > _LONGEST_INPUT:
        asked = _TOO_LONG
    # First of all: what is filled in may look like a command, and is to stay as it was given.
    command = deployment.addressed(command)
    names = {
        "<table>": table,
        "<state-machine>": deployment.state_machine_arn,
        "<parameters>": deployment.parameter(table),
        "<input>": shlex.quote(asked or json.dumps({"table": table}, separators=(",", ":"))),
    }
    for mark, name in names.items():
        command = command.replace(mark, name)
    return command
