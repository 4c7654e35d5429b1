"""The page about the server says every setting, with its default and its words."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from neuroarena.server.settings import Settings, SettingsPart

PAGE = Path(__file__).resolve().parents[2] / "docs" / "server.md"


def list_keys(kind: type[BaseModel], prefix: str = "") -> dict[str, str]:
    found = {}
    for name, field in kind.model_fields.items():
        if isinstance(field.default, SettingsPart):
            found |= list_keys(type(field.default), f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = str(field.description)
    return found


@pytest.mark.parametrize(("key", "words"), sorted(list_keys(Settings).items()))
def test_every_setting_is_in_the_table(key: str, words: str):
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `{key}` |")]
    assert len(rows) == 1
    assert rows[0].endswith(f"| {words} |")


def test_the_table_has_no_setting_that_does_not_exist():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    named = {line.split("`")[1] for line in lines if line.startswith("| `")}
    assert named == set(list_keys(Settings))
