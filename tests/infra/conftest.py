"""Templates, synthesised once per session: a jsii process and a synth cost seconds."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

# Read when aws_cdk is imported below: Node.js 20 is supported here, whatever jsii thinks of its age.
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")

from infra.paths import ROOT
from pipeline.settings import Settings

CONTEXT = json.loads((ROOT / "cdk.json").read_text())["context"]
#: What deploy-time values become in the tests, so that ARNs can be read.
PSEUDO = {"AWS::Partition": "aws", "AWS::Region": "eu-west-1", "AWS::AccountId": "123456789012"}

Resources = dict[str, dict[str, Any]]


class Template:
    """A synthesised template, with deploy-time values made readable: ``<logical id>`` or ``<logical id.Attribute>``."""

    def __init__(self, folder: Path, stack_name: str) -> None:
        self.folder = folder
        self.path = folder / f"{stack_name}.template.json"
        self.raw = json.loads(self.path.read_text())
        self.resources: Resources = readable(self.raw["Resources"])

    def of(self, kind: str) -> Resources:
        """The resources of a type, such as ``S3::Bucket``, by logical id."""
        return {name: r["Properties"] for name, r in self.resources.items() if r["Type"] == f"AWS::{kind}"}

    def one(self, kind: str) -> dict[str, Any]:
        """The properties of the only resource of a type."""
        (properties,) = self.of(kind).values()
        return properties


def readable(value: Any) -> Any:
    if isinstance(value, list):
        return [readable(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((function, argument),) = value.items()
        if function == "Ref":
            return PSEUDO.get(argument, f"<{argument}>")
        if function == "Fn::GetAtt":
            return f"<{'.'.join(argument)}>"
        if function == "Fn::Join":
            return argument[0].join(readable(argument[1]))
        if function == "Fn::Sub":
            return replaced(argument, {f"${{{name}}}": text for name, text in PSEUDO.items()})
    return {key: readable(item) for key, item in value.items()}


def replaced(text: str, values: Mapping[str, str]) -> str:
    for old, new in values.items():
        text = text.replace(old, new)
    return text


def synthesise(folder: Path, settings: Settings) -> Template:
    from aws_cdk import App

    from infra.stack import TidemarkStack

    app = App(context=CONTEXT, outdir=str(folder))
    TidemarkStack(app, settings.stack_name, settings=settings)
    app.synth()
    return Template(folder, settings.stack_name)


@pytest.fixture(scope="session")
def settings() -> Settings:
    return Settings.parse(CONTEXT["tidemark"])


@pytest.fixture(scope="session")
def template(tmp_path_factory, settings) -> Template:
    """The stack of the cdk.json in the tree."""
    return synthesise(tmp_path_factory.mktemp("default"), settings)


@pytest.fixture(scope="session")
def of_many(tmp_path_factory) -> Template:
    """As many tables as fit into one stack, with names of 40 characters."""
    tables = [{"name": f"Production.Orders-of-the-shop-number-{n:04}"} for n in range(145)]
    mail = {"success": ["data-team@example.com"], "failure": ["data-team@example.com", "on-call@example.com"]}
    parsed = Settings.parse({"tables": tables, "defaults": {"mail": mail}})
    return synthesise(tmp_path_factory.mktemp("many"), parsed)


@pytest.fixture(scope="session")
def shop() -> Settings:
    """Every shared setting is another than its default. Two tables with a secret each: one hashes, the other is paused."""
    orders = {
        "name": "orders",
        "tick_minutes": 1440,
        "columns": {"email": {"hash": True}},
        "hash_secret": "shop/pii",
        "mail": {"success": ["sales@example.com"], "failure": ["shop@example.com", "on-call@example.com"]},
    }
    mail = {"failure": ["shop@example.com"]}
    carts = {"name": "carts", "tick_minutes": 240, "hash_secret": "unused", "mail": mail, "paused": True}
    return Settings.parse(
        {
            "stack_name": "Shop-Copies",
            "database": "shop_lake",
            "export_days": 45,
            "log_days": 180,
            "spark": {"worker_vcpus": 8, "worker_memory_gb": 40, "worker_disk_gb": 50, "max_executors": 5},
            "tables": [orders, carts],
        }
    )


@pytest.fixture(scope="session")
def of_shop(tmp_path_factory, shop) -> Template:
    """A stack that has nothing by default."""
    return synthesise(tmp_path_factory.mktemp("shop"), shop)
