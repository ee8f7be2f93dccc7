"""The Glue database that the Iceberg tables are registered in."""

from __future__ import annotations

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_glue as glue
from constructs import Construct


class Catalog(Construct):
    """A Glue database. It outlives the stack: deleting it would take every table from its readers."""

    def __init__(self, scope: Construct, id: str, *, name: str) -> None:
        super().__init__(scope, id)
        database = glue.CfnDatabase(
            self,
            "Database",
            catalog_id=Stack.of(self).account,
            # The name as a property of its own is what ``cdk deploy --import-existing-resources`` adopts a kept one by.
            database_name=name,
            database_input=glue.CfnDatabase.DatabaseInputProperty(
                name=name, description="Iceberg copies of DynamoDB tables, kept fresh by Tidemark."
            ),
        )
        database.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
