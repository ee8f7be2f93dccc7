"""Which operation of a service a request asks for, with which parameters, read off botocore's own model.

Understands the JSON, query and REST-JSON protocols; S3 (REST-XML) and CBOR bodies are left alone.
"""

import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote

Model = Any  # botocore has no types: a ServiceModel or one of its Shapes


@dataclass(frozen=True)
class Operation:
    """One request: the service as MiniStack calls it, the operation's name, its parameters as boto3 would name them."""

    service: str
    name: str
    shape: Model = field(repr=False)
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Request:
    """An HTTP request as a service's handler receives it."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    query: Mapping[str, Any]


def operation_of(service: str, request: Request) -> Operation | None:
    """The operation a request asks for; None when its protocol or route is not understood."""
    model = service_model(service)
    if model is None or "cbor" in request.headers.get("content-type", ""):
        return None
    target = request.headers.get("x-amz-target", "")
    if target:
        return _of_json(service, model, target.rsplit(".", 1)[-1], request.body)
    if request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return _of_query(service, model, request.body)
    if model.metadata.get("protocol") == "rest-json":
        return _of_rest(service, model, request)
    return None


def service_model(service: str) -> Model:
    """Botocore's model of a service by MiniStack's name for it; None when botocore has none."""
    from ministack.core import responses

    return responses._service_model(service)


def _of_json(service: str, model: Model, name: str, body: bytes) -> Operation | None:
    if name not in model.operation_names:
        return None
    return Operation(service, name, model.operation_model(name).input_shape, json_object(body))


def _of_query(service: str, model: Model, body: bytes) -> Operation | None:
    form = {key: values[0] for key, values in parse_qs(body.decode(), keep_blank_values=True).items()}
    name = form.get("Action", "")
    if name not in model.operation_names:
        return None
    shape = model.operation_model(name).input_shape
    return Operation(service, name, shape, _unflatten(form, shape, "") if shape else {})


def _unflatten(form: dict[str, str], shape: Model, prefix: str) -> Any:
    """Form fields (`Tags.member.1.Key`) back into the structure a shape describes; None when nothing is there."""
    if shape.type_name == "structure":
        found = {
            name: value
            for name, member in shape.members.items()
            if (value := _unflatten(form, member, _joined(prefix, member.serialization.get("name", name)))) is not None
        }
        return found if found or not prefix else None
    if shape.type_name == "list":
        flat = shape.serialization.get("flattened")
        return list(_numbered(form, shape.member, prefix if flat else f"{prefix}.member")) or None
    if shape.type_name == "map":
        entry = prefix if shape.serialization.get("flattened") else f"{prefix}.entry"
        keys, values = shape.key.serialization.get("name", "key"), shape.value.serialization.get("name", "value")
        pairs: dict[str, Any] = {}
        while f"{entry}.{len(pairs) + 1}.{keys}" in form:
            at = f"{entry}.{len(pairs) + 1}"
            pairs[form[f"{at}.{keys}"]] = _unflatten(form, shape.value, f"{at}.{values}")
        return pairs or None
    return form.get(prefix)


def _numbered(form: dict[str, str], member: Model, prefix: str) -> Iterator[Any]:
    number = 1
    while (value := _unflatten(form, member, f"{prefix}.{number}")) is not None:
        yield value
        number += 1


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _of_rest(service: str, model: Model, request: Request) -> Operation | None:
    for method, pattern, name in _routes(service):
        found = pattern.fullmatch(request.path.rstrip("/") or "/")
        if method == request.method and found:
            shape = model.operation_model(name).input_shape
            labels = {label: unquote(value) for label, value in found.groupdict().items()}
            return Operation(service, name, shape, _rest_parameters(shape, labels, request) if shape else {})
    return None


@functools.lru_cache
def _routes(service: str) -> list[tuple[str, re.Pattern[str], str]]:
    """Method, path and name of each operation; the most literal paths first, so that `/a/b` wins over `/a/{x}`."""
    model = service_model(service)
    routes = []
    for name in model.operation_names:
        http = model.operation_model(name).http
        uri = http["requestUri"].split("?")[0].rstrip("/") or "/"
        # Labels may hold dashes, which group names may not.
        expression = "".join(
            f"(?P<{part[1:-1].rstrip('+').replace('-', '_')}>{'.+' if part.endswith('+}') else '[^/]+'})"
            if part.startswith("{")
            else re.escape(part)
            for part in re.split(r"(\{[^}]+\})", uri)
        )
        routes.append((http["method"], re.compile(expression), name, uri.count("{")))
    return [route[:3] for route in sorted(routes, key=lambda route: (route[3], -len(route[1].pattern)))]


def _rest_parameters(shape: Model, labels: dict[str, str], request: Request) -> dict[str, Any]:
    body = json_object(request.body)
    found: dict[str, Any] = {}
    for name, member in shape.members.items():
        place, wire = member.serialization.get("location"), member.serialization.get("name", name)
        if shape.serialization.get("payload") == name:
            value: Any = body if member.type_name == "structure" else None
        elif place == "uri":
            value = labels.get(wire.replace("-", "_"))
        elif place == "querystring":
            value = request.query.get(wire)
            value = value[0] if isinstance(value, list) and member.type_name != "list" else value
        elif place in ("header", "headers"):
            value = request.headers.get(wire.lower()) if place == "header" else None
        else:
            value = body.get(wire)
        if value is not None:
            found[name] = value
    return found


def json_object(body: bytes | str | None) -> dict[str, Any]:
    """The JSON object of a body; empty for any other body."""
    try:
        parsed = json.loads(body or b"{}")
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
