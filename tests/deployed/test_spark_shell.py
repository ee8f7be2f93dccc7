"""The manual's Spark shell, as a person starts it, with the rights that stand beside it and no others."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from local import reader
from local.aws.account import ACCOUNT, REGION
from local.control import ROOT
from tests.deployed.roles import environment_of_a_person

pytestmark = [pytest.mark.local_aws, pytest.mark.spark, pytest.mark.deployed]

MANUAL = (ROOT / "docs" / "operations.md").read_text()
SECTION = MANUAL.split("## A Spark shell on the tables\n")[1].split("\n## ")[0]
COMMAND, ON_LOCAL_AWS, STATEMENTS = re.findall(r"^```(?:sql)?\n(.*?)^```$", SECTION, flags=re.MULTILINE | re.DOTALL)
(LET_ONE_GO,) = re.findall(
    r"^ +(CALL glue.system.expire_snapshots\(.* => array\(<snapshot_id>\).*;)$", MANUAL, flags=re.MULTILINE
)
TO_READ = {"glue:GetDatabase", "glue:GetTable", "s3:GetObject", "s3:ListBucket"}
TO_CHANGE = {"glue:UpdateTable", "s3:PutObject"}
TO_EXPIRE = {"s3:DeleteObject"}


def statements_of(bucket: str, actions: set[str]) -> list[dict[str, object]]:
    """These rights on the catalog, the database and its tables, and on the tables' files."""
    glue, files = f"arn:aws:glue:{REGION}:{ACCOUNT}", f"arn:aws:s3:::{bucket}"
    on_glue = [f"{glue}:catalog", f"{glue}:database/tidemark", f"{glue}:table/tidemark/orders"]
    places = {"glue": on_glue, "s3": [f"{files}/warehouse/*"]}
    return [
        {"Effect": "Allow", "Action": one, "Resource": files if one == "s3:ListBucket" else places[one.split(":")[0]]}
        for one in sorted(actions)
    ]


def in_a_shell(world, statements: str, environment: dict[str, str]) -> str:
    """What the manual's shell on the local AWS prints of these statements."""
    command = COMMAND.replace("<BucketName>", world.deployed.outputs["BucketName"]).rstrip()
    ended = subprocess.run(
        ["/usr/bin/env", "bash", "-c", f'{command} \\\n{ON_LOCAL_AWS.rstrip()} -e "$0"', statements],
        cwd=ROOT,
        # The first of Java's compilers is enough for a few statements.
        env={**os.environ, **environment, "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-4000:]
    return ended.stdout


def test_a_person_sees_the_snapshots_takes_the_table_back_to_one_and_lets_another_go(world):
    rights = TO_READ | TO_CHANGE | TO_EXPIRE
    assert set(re.findall(r"`((?:glue|s3):\w+)`", SECTION)) == rights
    world.bootstrap()
    first, *_, last = reader.read_through_glue(world.aws, "tidemark", "orders").snapshots()
    environment = environment_of_a_person(world.aws, statements_of(world.deployed.outputs["BucketName"], rights))
    see_and_go_back = STATEMENTS.replace("<snapshot_id>", str(first.snapshot_id))
    let_go = LET_ONE_GO.replace("<snapshot_id>", str(last.snapshot_id))
    shown = in_a_shell(world, see_and_go_back + let_go, environment)
    assert f"{last.snapshot_id}\t" in shown
    assert world.watermark() in shown
    table = reader.read_through_glue(world.aws, "tidemark", "orders")
    assert table.current_snapshot() == first
    assert table.snapshot_by_id(last.snapshot_id) is None
