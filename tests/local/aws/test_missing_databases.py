"""A table of a database that is not there is not found, and the words name the database."""

import pytest

pytestmark = pytest.mark.local_aws

_TABLE = {"DatabaseName": "lake", "Name": "orders"}


@pytest.mark.parametrize(
    ("call", "asked"),
    [
        ("get_table", _TABLE),
        ("get_tables", {"DatabaseName": "lake"}),
        ("create_table", {"DatabaseName": "lake", "TableInput": {"Name": "orders"}}),
        ("update_table", {"DatabaseName": "lake", "TableInput": {"Name": "orders"}}),
        ("delete_table", _TABLE),
    ],
)
def test_a_missing_database_is_named_before_its_tables(aws, call, asked):
    glue = aws.client("glue")
    with pytest.raises(glue.exceptions.EntityNotFoundException, match=r": Database lake not found\.$"):
        getattr(glue, call)(**asked)


def test_a_missing_table_of_a_database_is_named_itself(aws):
    glue = aws.client("glue")
    glue.create_database(DatabaseInput={"Name": "lake"})
    with pytest.raises(glue.exceptions.EntityNotFoundException, match="Table orders not found"):
        glue.get_table(**_TABLE)
