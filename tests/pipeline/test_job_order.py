"""Job orders: one argument that the entry point reads back, short enough for EMR Serverless whatever the names."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.columns.declared.overrides import Overrides
from pipeline.identity import KeyAttribute, SourceTable
from pipeline.job_order import LONGEST_ARGUMENT, JobOrder
from pipeline.modes import BACKFILL, FULL, MODES
from pipeline.planning.journal import RunPlan
from tests.pipeline.world import SOURCE, at, plan

ORDER = JobOrder(
    job="merge",
    job_id=plan("12:00 13:00").job_id,
    table="glue.tidemark.orders",
    source=SOURCE,
    exports=("s3://bucket/exports/orders/AWSDynamoDB/01763721324000-d339e52d/manifest-summary.json",),
    start=at("12:00"),
    end=at("13:00"),
    buckets=16,
    report_uri="s3://bucket/runs/orders/job.json",
)


def export_uris(count: int, bucket: str, table: str) -> tuple[str, ...]:
    return tuple(
        f"s3://{bucket}/exports/{table}/AWSDynamoDB/{1763721324000 + n * 999_983:014d}-{n * 7919:08x}/manifest-summary.json"
        for n in range(count)
    )


@given(
    st.sampled_from(["load", "merge", "backfill"]),
    st.lists(st.text(min_size=1), min_size=1, max_size=5),
    st.lists(st.text(min_size=1, max_size=255), min_size=1, max_size=2),
    st.sampled_from("SNB"),
    st.booleans(),
    st.integers(3, 3650),
    st.text(max_size=64),
)
def test_an_order_is_read_back_as_it_was_written(job, exports, key, kind, compares, days, token):
    source = SourceTable(SOURCE.arn, SOURCE.id, tuple(KeyAttribute(name, kind) for name in key))
    asked = {"compare_old_images": compares, "snapshot_days": days, "client_token": token}
    order = replace(ORDER, job=job, exports=tuple(exports), source=source, **asked)
    assert JobOrder.from_arguments(order.to_arguments()) == order


def test_what_is_said_of_columns_is_in_the_order_or_in_the_file_that_it_names():
    said = replace(ORDER, columns=Overrides.parse({"total": "N"}))
    assert JobOrder.from_arguments(said.to_arguments()) == said
    in_file = replace(ORDER, columns_file="s3://assets/columns.json")
    assert JobOrder.from_arguments(in_file.to_arguments()) == in_file
    assert replace(said, columns_file="s3://assets/columns.json").to_arguments() == in_file.to_arguments()


@pytest.mark.parametrize("count", [1, 2, 36])
def test_exports_are_read_back_in_their_order(count):
    order = replace(ORDER, exports=export_uris(count, "bucket", "orders")[::-1])
    assert JobOrder.from_arguments(order.to_arguments()).exports == order.exports


def test_36_exports_with_the_longest_names_fit_into_the_argument():
    bucket, table = "b" * 63, "t" * 255
    arn = f"arn:aws-us-gov:dynamodb:us-gov-west-1:000000000000:table/{table}"
    days = tuple(at("01/00:00") + timedelta(days=n) for n in range(37))
    job_id = RunPlan(BACKFILL, "0" * 36, days).job_id
    order = JobOrder(
        job="backfill",
        job_id=job_id,
        table=f"glue.{'d' * 255}.{'i' * 255}",
        source=SourceTable(arn, "0" * 36, (KeyAttribute("p" * 255, "S"), KeyAttribute("s" * 255, "N"))),
        exports=export_uris(36, bucket, table),
        start=days[0],
        end=days[-1],
        buckets=4096,
        report_uri=f"s3://{bucket}/runs/{table}/{job_id}.json",
    )
    (argument,) = order.to_arguments()
    assert len(argument) < LONGEST_ARGUMENT / 2
    assert JobOrder.from_arguments([argument]) == order
    # Names of 255 bytes of UTF-8, in ASCII as long as they can be.
    key = tuple(KeyAttribute(name + "é" * 127, "S") for name in "ps")
    (argument,) = replace(order, source=replace(order.source, key=key)).to_arguments()
    assert len(argument) < LONGEST_ARGUMENT


def test_an_order_is_ascii_whatever_the_key_is_called():
    order = replace(ORDER, source=replace(SOURCE, key=(KeyAttribute("größe 😀\x85\u2028", "S"),)))
    (argument,) = order.to_arguments()
    assert argument.isascii()
    assert JobOrder.from_arguments([argument]) == order


def test_an_order_too_long_for_emr_serverless_is_refused_before_it_is_sent():
    with pytest.raises(ValueError, match="EMR Serverless takes 10280"):
        replace(ORDER, report_uri="s3://" + "x" * LONGEST_ARGUMENT).to_arguments()


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"job": "vacuum"}, "job is 'vacuum'; allowed are load, merge, backfill"),
        ({"exports": ()}, "at least one export"),
    ],
)
def test_an_order_that_no_job_could_carry_out_is_refused(fields, told):
    with pytest.raises(ValueError, match=told):
        replace(ORDER, **fields)


@pytest.mark.parametrize("arguments", [[], ["{}", "{}"]])
def test_the_entry_point_takes_one_argument(arguments):
    with pytest.raises(ValueError, match=f"got {len(arguments)}"):
        JobOrder.from_arguments(arguments)


@given(st.sampled_from(MODES), st.integers(0, 10**6), st.integers(0, 999), st.uuids())
def test_a_job_id_with_its_attempt_is_a_token_that_emr_serverless_takes(mode, attempt, tried, source_id):
    found = plan("12:00" if mode == FULL else "12:00 13:00", mode, attempt)
    job_id = replace(found, source_id=str(source_id)).job_id
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", f"{job_id}-{tried}")
    assert len(job_id) <= 60  # room for a hundred tries and more
