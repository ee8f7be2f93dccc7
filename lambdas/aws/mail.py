"""The topic that carries the mails."""

from __future__ import annotations

import json

from lambdas.aws.clients import client
from pipeline.mails.frame import Mail


def send(topic_arn: str, mail: Mail) -> None:
    """Publish one mail: plain text for people, JSON for machines, attributes for filter policies.

    Half a character, as the JSON of an input may spell one, becomes a question mark: it cannot be encoded.
    """
    message = {"default": json.dumps(mail.facts, ensure_ascii=False, indent=1), "email": mail.text}
    client("sns").publish(
        TopicArn=topic_arn,
        Subject=mail.subject,
        Message=json.dumps(message, ensure_ascii=False).encode(errors="replace").decode(),
        MessageStructure="json",
        MessageAttributes={
            "status": {"DataType": "String", "StringValue": mail.status},
            "list": {"DataType": "String", "StringValue": mail.mail_list},
            "table": {"DataType": "String", "StringValue": mail.table},
        },
    )
