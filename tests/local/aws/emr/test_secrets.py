"""A job begins with its secret where all that AWS asks for allows it, and fails where any of it is missing."""

import re

import pytest

from local.aws.emr import secrets_manager
from tests.hash_secret import let_emr_serverless_read, make_key, make_secret

pytestmark = pytest.mark.local_aws

TEXT = "what the tests hash with"
PARAMETERS = "--conf spark.my.secret=EMR.secret@shop/key"
READ = {"Action": ["secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"], "Resource": "*"}
OBJECTS = {"Action": "s3:*", "Resource": "*"}


def stand_in(_arguments, _credentials) -> int:
    """Takes the place of Spark: these tests are about what comes before."""
    return 0


@pytest.fixture
def end_of_a_job(aws, jobs):
    """How a job ends whose role may read all secrets; without knobs a job runs on Spark."""
    jobs.role = jobs.make_role("reader", READ, OBJECTS)
    aws.set_knobs(job_stand_in=f"{__name__}:stand_in")

    def end() -> tuple[str, str]:
        run = jobs.ended(jobs.start(jobs.driver("", parameters=PARAMETERS)))
        return run["state"], run.get("stateDetails", "")

    yield end
    aws.set_knobs(job_stand_in=None)


def test_a_job_has_a_secret_that_is_made_as_the_documents_say(aws, jobs, end_of_a_job):
    make_secret(aws, "shop/key", TEXT, jobs.application)

    assert end_of_a_job()[0] == "SUCCESS"


def test_the_right_of_the_role_alone_is_not_enough(aws, jobs, end_of_a_job):
    aws.client("secretsmanager").create_secret(Name="shop/key", SecretString=TEXT, KmsKeyId=make_key(aws))

    state, details = end_of_a_job()

    assert state == "FAILED"
    assert "User: emr-serverless.amazonaws.com is not authorized to perform: secretsmanager:" in details
    assert "because no resource-based policy allows" in details


def test_another_application_may_not_have_it(aws, jobs, end_of_a_job):
    make_secret(aws, "shop/key", TEXT, jobs.make_application())

    assert end_of_a_job()[0] == "FAILED"


@pytest.mark.parametrize("with_key", ["", "of another use"])
def test_the_key_must_be_a_customers_and_let_the_service_decrypt(aws, jobs, end_of_a_job, with_key):
    key = {"KmsKeyId": aws.client("kms").create_key(Description=with_key)["KeyMetadata"]["Arn"]} if with_key else {}
    aws.client("secretsmanager").create_secret(Name="shop/key", SecretString=TEXT, **key)
    let_emr_serverless_read(aws, "shop/key", jobs.application)

    state, details = end_of_a_job()

    assert state == "FAILED"
    assert "User: emr-serverless.amazonaws.com is not authorized to perform: kms:DescribeKey" in details


def test_the_role_must_be_allowed_too(aws, jobs, end_of_a_job):
    jobs.role = jobs.make_role("stranger", OBJECTS)
    make_secret(aws, "shop/key", TEXT, jobs.application)

    assert end_of_a_job()[0] == "FAILED"


def test_java_reads_a_secret_as_it_is_whatever_characters_it_has(tmp_path, monkeypatch):
    text = "a=b:c #!\\ ä\n\t€ \N{KEY}!1"
    monkeypatch.setattr(secrets_manager, "client_of", lambda _service, _credentials: None)
    monkeypatch.setattr(secrets_manager, "_read", lambda _client, _name, _application: text)
    secrets_manager.write_secrets({"spark.my.secret": "EMR.secret@shop/key"}, "", {}, file := tmp_path / "secrets")
    name, value = file.read_text("ascii").removesuffix("\n").split("=")
    # Java's characters are halves of UTF-16's pairs, each in four digits.
    halves = re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), value)
    assert (name, halves.encode("utf-16", "surrogatepass").decode("utf-16")) == ("spark.my.secret", text)
