"""The definition of the challenge, as data."""

from __future__ import annotations

import functools
import tomllib
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, Field

from neuroarena.board import Rules


class Definition(BaseModel):
    """The parts of the challenge that span its tracks.

    Parameters
    ----------
    definition : str
    tracks : mapping of str to str
        Track -> benchmark (``family/task``), in the order of the challenge.
    rules : mapping of str to Rules
        Ranking rules by name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    definition: str
    tracks: dict[str, str] = Field(min_length=1)
    rules: dict[str, Rules]


@functools.cache
def read_definition() -> Definition:
    """Read the definition that ships with this package."""
    text = files(__package__).joinpath("challenge-2026.toml").read_text(encoding="utf-8")
    return Definition.model_validate(tomllib.loads(text))


RULES: dict[str, Rules] = read_definition().rules
