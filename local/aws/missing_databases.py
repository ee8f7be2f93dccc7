"""A table of a database that is not there: Glue names the database, with the code of a table that is not there.

MiniStack looks for the table alone, so nobody could tell here that the database is what is missing.
Source: what providers have met, such as hashicorp/terraform-provider-aws#5136: "Database … not found."
"""

from collections.abc import Callable
from typing import Any

from local.aws.hooks import patch


def install() -> None:
    """Hook what asks for one table, or for all of a database."""
    from ministack.services import glue

    for name in ("_get_table", "_get_tables", "_update_table", "_delete_table"):
        patch(glue, name, _database_first, takes=("data",))


def _database_first(answer: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(data: dict[str, Any]) -> Any:
        from ministack.core.responses import error_response_json
        from ministack.services import glue

        database = data.get("DatabaseName")
        if database not in glue._databases:
            return error_response_json("EntityNotFoundException", f"Database {database} not found.", 400)
        return answer(data)

    return wrapper
