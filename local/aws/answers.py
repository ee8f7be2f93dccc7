"""Errors of our own, in the form each service's clients expect: JSON, the query protocol's XML, or S3's."""

from typing import Any
from xml.sax.saxutils import escape

from local.aws.operations import service_model

Response = tuple[int, dict[str, str], bytes]

# The code of a request that breaks the model; ValidationException everywhere else.
_VALIDATION_CODES = {
    "iam": "ValidationError",
    "sts": "ValidationError",
    "cloudformation": "ValidationError",
    "sns": "InvalidParameter",
    "logs": "InvalidParameterException",
}


def validation_code(service: str) -> str:
    """What a service calls a request that does not fit its model."""
    return _VALIDATION_CODES.get(service, "ValidationException")


def error(service: str, code: str, message: str, status: int = 400) -> Response:
    """An error response in the service's protocol; `service` is MiniStack's name."""
    from ministack.core.responses import error_response_json

    model: Any = service_model(service)
    protocol = model.metadata.get("protocol") if model is not None else "json"
    if protocol == "rest-xml":
        body = f"<Error><Code>{escape(code)}</Code><Message>{escape(message)}</Message></Error>"
        return status, {"Content-Type": "application/xml"}, body.encode()
    if protocol == "query":
        fault = "Sender" if status < 500 else "Receiver"
        body = (
            f'<ErrorResponse xmlns="{model.metadata.get("xmlNamespace", "")}"><Error><Type>{fault}</Type>'
            f"<Code>{escape(code)}</Code><Message>{escape(message)}</Message></Error></ErrorResponse>"
        )
        return status, {"Content-Type": "text/xml"}, body.encode()
    answered: Response = error_response_json(code, message, status)
    return answered
