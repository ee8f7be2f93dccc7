"""The commands of the mails act on the deployment that has sent them, whatever the shell they are pasted into is set to."""

from __future__ import annotations

import re

import pytest

from pipeline.columns.declared.overrides import mended_by
from pipeline.errors import ClaimUnreadable, error_names
from pipeline.mails.commands import filled
from pipeline.mails.incidents import News
from pipeline.mails.notices import notices
from pipeline.mails.told import Told
from pipeline.table.continuity import Doubt
from tests.pipeline.rounds import OUTLOOK, failed
from tests.pipeline.world import DEPLOYMENT, EXECUTION, at

MADE = {name: kind.command for name, kind in error_names().items() if kind.command.startswith("make ")}


def regions(text: str) -> list[str]:
    """The Region that each call of the AWS CLI in a text names; "" where it names none."""
    return re.findall(r"\baws [a-z0-9-]+ [a-z0-9-]+(?: --region (\S+))?", text)


@pytest.mark.parametrize("name", error_names())
def test_every_call_in_a_failure_mail_names_the_region_of_the_deployment(name):
    mail = failed(name, "Plan", asked={"mode": "full"}, planned={"kind": "Halt", "table": "orders"})
    assert set(regions(mail.text)) == {"eu-west-1"}, "one of them at least: the full export is to be asked for again"


def test_so_does_each_of_a_command_that_makes_two():
    assert regions(filled(ClaimUnreadable.command, "orders", DEPLOYMENT)) == ["eu-west-1", "eu-west-1"]


def test_so_do_all_of_a_warning():
    news = News(Told(), doubt=Doubt(at("13:00"), "job", "Of the old images, 2 have no row."))
    (mail,) = notices({"execution": EXECUTION, "plan": OUTLOOK}, "orders", news, None, DEPLOYMENT)
    assert regions(mail.text) == ["eu-west-1", "eu-west-1"]


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_names_the_stack_too_whose_settings_may_stand_in_another_file(name):
    command = f"TIDEMARK_STACK=Tidemark AWS_REGION=eu-west-1 {MADE[name]}"
    assert failed(name).facts["command"] == command


@pytest.mark.parametrize("name", error_names())
def test_no_remedy_sends_to_the_settings_of_another_deployment(name):
    assert "cdk.json" not in error_names()[name].default_remedy
    assert "cdk.json" not in mended_by("take it back")


def test_what_a_person_has_given_stays_as_it_was_though_it_looks_like_a_command():
    given = {"table": "orders", "why": "aws s3 ls"}
    assert '"why":"aws s3 ls"}' in failed("InputRefused", "Plan", asked=given).facts["command"]
