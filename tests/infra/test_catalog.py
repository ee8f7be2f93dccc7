"""The Glue database and the table of the run reports: where it is, and that Athena can read it."""

from __future__ import annotations

from dataclasses import fields

from pipeline import run_reports
from pipeline.deployment import Deployment


def test_the_reports_are_a_table_beside_the_others_with_a_folder_for_each_source(template, of_shop):
    (name,) = template.of("S3::Bucket")
    table = template.one("Glue::Table")
    found = table["TableInput"]
    assert (table["DatabaseName"], found["Name"]) == ("tidemark", "tidemark_runs")
    assert found["StorageDescriptor"]["Location"] == f"s3://<{name}>/runs/"
    folder = found["Parameters"]["storage.location.template"].replace("${source}", "orders")
    key = Deployment(**{f.name: "" for f in fields(Deployment)}).report_key("orders", "job-1")
    assert f"{folder}job-1.json" == f"s3://<{name}>/{key}"
    values = [
        of.one("Glue::Table")["TableInput"]["Parameters"]["projection.source.values"] for of in (template, of_shop)
    ]
    assert values == ["orders", "orders,carts"]


def test_athena_works_out_the_folders_by_itself_and_passes_over_a_file_that_is_no_report(template):
    found = template.one("Glue::Table")["TableInput"]
    parameters = found["Parameters"]
    assert (parameters["projection.enabled"], parameters["projection.source.type"]) == ("true", "enum")
    assert (found["TableType"], found["PartitionKeys"]) == ("EXTERNAL_TABLE", [{"Name": "source", "Type": "string"}])
    columns = {column["Name"]: column["Type"] for column in found["StorageDescriptor"]["Columns"]}
    assert columns == run_reports.COLUMNS
    assert found["StorageDescriptor"]["SerdeInfo"] == {
        "SerializationLibrary": "org.openx.data.jsonserde.JsonSerDe",
        "Parameters": {"ignore.malformed.json": "true"},
    }


def test_the_table_of_the_reports_is_made_once_its_database_is_there(template):
    (database,), (table,) = template.of("Glue::Database"), template.of("Glue::Table")
    assert template.resources[table]["DependsOn"] == [database]
