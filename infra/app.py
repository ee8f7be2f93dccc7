"""The CDK app: reads the settings, composes the one stack. Needs no network, no account and no credentials.

The settings are the object ``context.tidemark`` of ``cdk.json``. Another object of the same form may stand in a JSON file,
named by ``cdk synth -c tidemark-settings=FILE`` or by the environment variable ``TIDEMARK_SETTINGS``; the option wins.
Where ``TIDEMARK_STACK`` names a stack, as the commands of the mails do, the settings of another one are refused.
In all of them, and in schema files, a name that is said twice in one object is refused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aws_cdk import App

from infra.libraries import LibrariesMissing
from infra.paths import ROOT
from infra.stack import TidemarkStack
from pipeline.deployment import STACK_VARIABLE
from pipeline.errors import SettingRefused
from pipeline.setting_checks import read_json
from pipeline.settings import Settings

SETTINGS_OPTION, SETTINGS_VARIABLE = "tidemark-settings", "TIDEMARK_SETTINGS"
CDK_JSON = ROOT / "cdk.json"


def read_settings(app: App, environment: Mapping[str, str], cdk_json: Path = CDK_JSON) -> Settings:
    """Settings from the file that option or environment name, else from the context. Raises SettingRefused."""
    file = app.node.try_get_context(SETTINGS_OPTION) or environment.get(SETTINGS_VARIABLE)
    if file:
        return Settings.parse(_with_schema_files(_read_file(Path(file), SETTINGS_OPTION)))
    if cdk_json.exists():
        # The CDK CLI, which makes the context of it, takes the last of two values without a word.
        _read_file(cdk_json, "the file of the context")
    return Settings.parse(_with_schema_files(app.node.try_get_context("tidemark")))


def refuse_another_stack(settings: Settings, environment: Mapping[str, str]) -> None:
    """Refuse settings of another stack than the environment says is meant. Raises SettingRefused."""
    meant = environment.get(STACK_VARIABLE) or settings.stack_name
    if settings.stack_name != meant:
        raise SettingRefused(
            f"stack_name is {settings.stack_name!r}; allowed is {meant!r}, because {STACK_VARIABLE} says so",
            f"Set {SETTINGS_VARIABLE} to the file with the settings of {meant}; if they stand in cdk.json, unset it.",
        )


def _with_schema_files(raw: Any) -> Any:
    """The settings with the content of the schema files in the place of their names; what is wrong is left to `parse`."""
    if not isinstance(raw, Mapping) or not isinstance(raw.get("tables"), list):
        return raw
    return {**raw, "tables": [_with_schema_file(table, f"tables[{i}]") for i, table in enumerate(raw["tables"])]}


def _with_schema_file(table: Any, where: str) -> Any:
    columns = table.get("columns") if isinstance(table, Mapping) else None
    return {**table, "columns": _read_file(Path(columns), f"{where}.columns")} if isinstance(columns, str) else table


def _read_file(path: Path, setting: str) -> Any:
    try:
        return read_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise SettingRefused(f"{setting} is {str(path)!r}, which is no readable JSON file: {error}") from error


def main() -> None:
    """Synthesise the stack; a refused setting ends it with one sentence."""
    app = App()
    try:
        settings = read_settings(app, os.environ)
        refuse_another_stack(settings, os.environ)
        stack = TidemarkStack(app, settings.stack_name, settings=settings)
        stack.refuse_too_large_a_template(Path(app.synth().directory))
    except (SettingRefused, LibrariesMissing) as refusal:
        sys.exit(f"{type(refusal).__name__}: {refusal}")


if __name__ == "__main__":
    main()
