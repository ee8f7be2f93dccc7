"""The five calls of point-in-time recovery and exports, in place of MiniStack's."""

from collections.abc import Callable
from typing import Any

from local.aws.hooks import patch
from local.aws.pitr import export, recovery
from local.aws.pitr.requests import Refusal

Call = Callable[[dict[str, Any]], dict[str, Any]]


def install() -> None:
    """Replace the five operations; MiniStack looks them up by name at each request."""
    from ministack.services import dynamodb

    for name, call in (
        ("_describe_continuous_backups", recovery.describe_continuous_backups),
        ("_update_continuous_backups", recovery.update_continuous_backups),
        ("_export_table_to_point_in_time", export.export_table_to_point_in_time),
        ("_describe_export", export.describe_export),
        ("_list_exports", export.list_exports),
    ):
        patch(dynamodb, name, _answering(call), takes=("data",))


def _answering(call: Call) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Put a call behind MiniStack's convention: parameters in, response out."""

    def wrap(_replaced: Callable[..., Any]) -> Callable[..., Any]:
        def answer(data: dict[str, Any]) -> Any:
            from ministack.core.responses import error_response_json, json_response

            try:
                return json_response(call(data))
            except Refusal as refused:
                return error_response_json(refused.code, refused.message)

        return answer

    return wrap
