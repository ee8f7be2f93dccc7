"""The manual's Spark shell, as a person starts it, with the rights that stand beside it and no others."""

from __future__ import annotations

import re
import subprocess

import pytest

from local import reader
from local.aws.account import ACCOUNT, REGION
from local.control import ROOT
from tests.deployed.roles import environment_of_a_person
from tests.documents import OPERATIONS, blocks, filled, section, statement

pytestmark = [pytest.mark.local_aws, pytest.mark.spark, pytest.mark.deployed]

SECTION = section(OPERATIONS, "## A Spark shell on the tables")
(COMMAND, ON_LOCAL_AWS), (STATEMENTS,) = blocks(SECTION), blocks(SECTION, "sql")
LET_ONE_GO = "CALL glue.system.expire_snapshots(table => 'tidemark.orders', snapshot_ids"
#: The rights that the section names, by what each is given on.
ON_GLUE, ON_BUCKET = ("glue:GetDatabase", "glue:GetTable", "glue:UpdateTable"), ("s3:ListBucket",)
ON_FILES = ("s3:GetObject", "s3:PutObject", "s3:DeleteObject")


def rights_of_the_section(bucket: str) -> list[dict[str, object]]:
    """Its rights on the catalog, the database and the table, on the bucket and on the tables' files."""
    glue, files = f"arn:aws:glue:{REGION}:{ACCOUNT}", f"arn:aws:s3:::{bucket}"
    given = {
        ON_GLUE: [f"{glue}:catalog", f"{glue}:database/tidemark", f"{glue}:table/tidemark/orders"],
        ON_BUCKET: files,
        ON_FILES: f"{files}/warehouse/*",
    }
    return [{"Effect": "Allow", "Action": actions, "Resource": on} for actions, on in given.items()]


def in_a_shell(world, statements: str, environment: dict[str, str]) -> str:
    """What the manual's shell on the local AWS prints of these statements."""
    command = filled(COMMAND, BucketName=world.deployed.outputs["BucketName"]).rstrip()
    ended = subprocess.run(
        ["/usr/bin/env", "bash", "-c", f'{command} \\\n{ON_LOCAL_AWS.rstrip()} -e "$0"', statements],
        cwd=ROOT,
        # The first of Java's compilers is enough for a few statements.
        env={**environment, "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-4000:]
    return ended.stdout


def test_a_person_sees_the_snapshots_takes_the_table_back_to_one_and_lets_another_go(world):
    assert set(re.findall(r"`((?:glue|s3):\w+)`", SECTION)) == {*ON_GLUE, *ON_BUCKET, *ON_FILES}
    world.bootstrap()
    first, *_, last = reader.read_through_glue(world.aws, "tidemark", "orders").snapshots()
    environment = environment_of_a_person(world.aws, rights_of_the_section(world.deployed.outputs["BucketName"]))
    see_and_go_back = filled(STATEMENTS, snapshot_id=str(first.snapshot_id))
    let_go = statement(LET_ONE_GO, snapshot_id=str(last.snapshot_id))
    shown = in_a_shell(world, see_and_go_back + let_go, environment)
    assert f"{last.snapshot_id}\t" in shown
    assert world.watermark() in shown
    table = reader.read_through_glue(world.aws, "tidemark", "orders")
    assert table.current_snapshot() == first
    assert table.snapshot_by_id(last.snapshot_id) is None
