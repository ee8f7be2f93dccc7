"""Starting, steering and ending the process."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import boto3
import pytest

from local.aws.account import ACCOUNT
from local.control import ROOT, LocalAws, LocalAwsFailed, free_port
from local.deployed import DeployFailed, deploy

pytestmark = pytest.mark.local_aws
KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
_REFUSED_DEPLOYMENT = """
import sys
from pathlib import Path
from local.control import LocalAws
from local.deployed import deploy
aws = LocalAws.start(Path(sys.argv[1]))
try:
    deploy(aws, {"tables": []}, aws.home / "deployment")
finally:
    aws.stop()
"""


def test_it_ends_with_everything_it_started(tmp_path, make_account):
    aws = LocalAws.start(tmp_path)
    try:
        account = make_account(aws)
        account.function("f", "import os\ndef handler(event, context): return os.getpid()", account.role("f", "lambda"))
        worker = json.loads(aws.client("lambda").invoke(FunctionName="f")["Payload"].read())
        assert Path(f"/proc/{worker}").exists()
    finally:
        aws.stop()
    assert not Path(f"/proc/{worker}").exists()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(aws.endpoint.rsplit(":", 1)[1]))).close()


def test_sigterm_alone_ends_it_and_its_functions_too(tmp_path, make_account):
    aws = LocalAws.start(tmp_path)
    try:
        account = make_account(aws)
        account.function("f", "import os\ndef handler(event, context): return os.getpid()", account.role("f", "lambda"))
        worker = json.loads(aws.client("lambda").invoke(FunctionName="f")["Payload"].read())
        aws._process.terminate()
        assert aws._process.wait(8) == 0
        account.until(lambda: Path(f"/proc/{worker}").exists(), lambda alive: not alive, within=2)
    finally:
        aws.stop()


def test_a_folder_in_which_one_runs_is_no_other_s_until_that_has_ended(tmp_path):
    aws = LocalAws.start(tmp_path)
    try:
        with pytest.raises(
            LocalAwsFailed, match=f"A local AWS runs in {tmp_path} already: stop that one, or name another"
        ):
            LocalAws.start(tmp_path)
        assert aws.client("sts").get_caller_identity()["Account"] == ACCOUNT
    finally:
        aws.stop()
    LocalAws.start(tmp_path).stop()


def test_it_ends_with_the_process_that_started_it(tmp_path):
    start = f"""
import pathlib, os, signal
from local.control import LocalAws
print(LocalAws.start(pathlib.Path({str(tmp_path)!r}))._process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=False, timeout=60)
    process = Path(f"/proc/{int(ended.stdout)}")
    until = time.monotonic() + 5
    while process.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not process.exists()


def test_only_the_loopback_is_bound(aws):
    port = int(aws.endpoint.rsplit(":", 1)[1])
    listening = [
        line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:] if line.split()[3] == "0A"
    ]
    assert [one for one in listening if one.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]


def test_a_port_that_is_taken_is_said_with_the_log(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(LocalAwsFailed, match="Address already in use"):
            LocalAws.start(tmp_path, port=taken.getsockname()[1])


def test_a_folder_with_something_of_somebody_else_s_is_left_alone(tmp_path):
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp" / "letter").write_text("to keep")
    with pytest.raises(LocalAwsFailed, match="holds tmp, which a local AWS would empty"):
        LocalAws.start(tmp_path)
    assert [file.name for file in tmp_path.rglob("*")] == ["tmp", "letter"]


def test_the_clock_moves_on_only(aws):
    before = aws.now()
    after = aws.advance(3600)
    assert 3600 <= (after - before).total_seconds() < 3700
    with pytest.raises(LocalAwsFailed, match="cannot go back"):
        aws.advance(-1)


def test_an_unknown_knob_or_verb_is_refused_with_what_there_is(aws):
    with pytest.raises(LocalAwsFailed, match=r"no knob export_secs; there are: .*export_seconds"):
        aws.set_knobs(export_secs=1)
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(urllib.request.Request(f"{aws.endpoint}/_local/nothing", b"{}"))  # noqa: S310 - our own


def test_what_a_verb_is_given_is_an_object(aws):
    """As `demo-keep` has a person write it."""
    with pytest.raises(urllib.error.HTTPError, match="400") as refused:
        urllib.request.urlopen(urllib.request.Request(f"{aws.endpoint}/_local/clock", b"3600"))  # noqa: S310 - our own
    assert json.load(refused.value) == {"error": "clock takes a JSON object, not 3600"}


def test_there_is_nothing_to_restore_before_a_snapshot(tmp_path):
    aws = LocalAws.start(tmp_path, free_port())
    try:
        with pytest.raises(LocalAwsFailed, match="no snapshot"):
            aws.restore()
    finally:
        aws.stop()


def test_the_environment_reaches_it_and_no_other_aws(aws, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", "https://sts.amazonaws.com")
    ask = "import boto3; print(boto3.client('sts').get_caller_identity()['Account'])"
    answered = subprocess.run(
        [sys.executable, "-c", ask], env=aws.environment, capture_output=True, text=True, check=True
    )
    assert answered.stdout.strip() == "000000000000"


def test_requests_are_held_against_the_model_over_http(aws):
    glue, ssm = aws.client("glue"), aws.client("ssm")
    glue.create_database(DatabaseInput={"Name": "lake"})
    column = {"Name": "c", "Type": "string", "Comment": "two\nlines"}
    with pytest.raises(glue.exceptions.ClientError, match=r"(?s)ValidationException.*columns\.1\.member\.comment"):
        glue.create_table(DatabaseName="lake", TableInput={"Name": "t", "StorageDescriptor": {"Columns": [column]}})
    with pytest.raises(ssm.exceptions.ClientError, match="4096 characters"):
        ssm.put_parameter(Name="/a", Value="v" * 4097, Type="String")
    with pytest.raises(ssm.exceptions.ClientError, match="enum value set"):
        ssm.put_parameter(Name="/a", Value="v", Type="Text")
    sns = aws.client("sns")
    topic = sns.create_topic(Name="t")["TopicArn"]
    with pytest.raises(sns.exceptions.InvalidParameterException, match="Subject"):
        sns.publish(TopicArn=topic, Subject="s" * 101, Message="m")
    scheduler = aws.client("scheduler")
    with pytest.raises(scheduler.exceptions.ValidationException, match="Value 'a b' at 'name'"):
        scheduler.get_schedule(Name="a b")


def test_inline_policies_of_a_role_have_a_limit(aws, account):
    iam = aws.client("iam")
    account.role("r", "lambda")
    resources = [f"arn:aws:s3:::{'b' * 50}/{number:010}" for number in range(60)]
    document = json.dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": resources}]}
    )
    for name in ("one", "two"):
        iam.put_role_policy(RoleName="r", PolicyName=name, PolicyDocument=document)
    with pytest.raises(iam.exceptions.LimitExceededException, match="10240"):
        iam.put_role_policy(RoleName="r", PolicyName="three", PolicyDocument=document)


def test_a_proxy_of_the_machine_s_network_is_not_asked_for_what_runs_here(tmp_path, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("NO_PROXY", "intranet.example")
    monkeypatch.delenv("no_proxy", raising=False)
    aws = LocalAws.start(tmp_path)
    try:
        assert aws.client("sts").get_caller_identity()["Account"] == ACCOUNT
        for said in (aws.settings_for_shell, aws.environment):
            assert said["NO_PROXY"] == said["no_proxy"] == "intranet.example,127.0.0.1"
    finally:
        aws.stop()


def test_a_person_s_own_aws_plays_no_part(tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "of-another-machine")
    monkeypatch.setenv("AWS_RETRY_MODE", "of-another-tool")
    aws = LocalAws.start(tmp_path)
    try:
        assert aws.client("sts").get_caller_identity()["Account"] == ACCOUNT
        # As those make a client that are told nothing but where and who.
        theirs = boto3.client("sts", "us-east-1", endpoint_url=aws.endpoint, **KEYS)
        assert theirs.get_caller_identity()["Account"] == ACCOUNT
    finally:
        aws.stop()


def test_what_is_deployed_is_read_from_the_folder_that_is_meant_wherever_one_works(tmp_path, monkeypatch):
    aws = LocalAws.start(tmp_path / "home")
    monkeypatch.chdir(tmp_path)
    try:
        with pytest.raises(DeployFailed, match=r"tables is \[\]; allowed is a list with at least one table"):
            deploy(aws, {"tables": []}, Path("home", "deployment"))
    finally:
        aws.stop()


def test_what_the_cdk_cli_says_is_read_whatever_the_machine_s_encoding_is(tmp_path):
    plain = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    command = [sys.executable, "-c", _REFUSED_DEPLOYMENT, str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, env={**os.environ, **plain}, capture_output=True, text=True, check=False)
    assert "DeployFailed" in ended.stderr
    assert "tables is []; allowed is a list with at least one table" in ended.stderr
