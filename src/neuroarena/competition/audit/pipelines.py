"""Pipelines: training code, its configuration and hashes, committed in a zip before the freeze."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError

from neuroarena.competition.tracks import Part
from neuroarena.errors import InputError

FILE = "pipeline.toml"
MOST_BYTES = 64 * 1024
Script = Annotated[
    str, StringConstraints(pattern=r"^(?:[A-Za-z0-9_\-]+/){0,8}[A-Za-z0-9_\-]+\.py$", max_length=200)
]
Argument = Annotated[str, StringConstraints(max_length=1000)]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Pipeline(Part):
    """How a model is trained anew.

    Attributes
    ----------
    script : str
        A Python file of the zip. It is called with the folder of the training part, the folder of the signals to
        answer, the file to write, and a seed; see ``docs/audit.md``.
    arguments : tuple of str
        More arguments, which follow these.
    makes : {"predictions", "code"}
        What it writes: predictions as parquet, or a zip that the track's code contract takes. What makes code sees no
        signals to answer: the code is asked afterwards, as every submission is.
    weights : mapping of str to str
        Files of the committed code submission, with the SHA-256 of each, that stay as they are when it is replayed:
        a pretrained encoder, for example.
    configuration : mapping
        Whatever the team wants to be on record.
    """

    schema_version: Literal[1] = 1
    script: Script
    arguments: tuple[Argument, ...] = Field(default=(), max_length=100)
    makes: Literal["predictions", "code"] = "predictions"
    weights: dict[str, Digest] = Field(default={})
    configuration: dict[str, Any] = Field(default={})


def read_pipeline(folder: Path, name: str) -> Pipeline:
    """Read the description of an unpacked pipeline.

    Parameters
    ----------
    folder : Path
    name : str
        Of the zip, for messages.

    Raises
    ------
    InputError
        At the first thing that is wrong with it; nothing of it is run.
    """
    file = folder / FILE
    if file.stat().st_size > MOST_BYTES:
        raise InputError(
            f"{name}: {FILE} has more than {MOST_BYTES} bytes. Say only how the training is run."
        )
    try:
        said = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{name}: {FILE} is not TOML: {_one_line(error)}.") from error
    try:
        pipeline = Pipeline.model_validate(said)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{name}: {FILE}: {_one_line(where)}: {_one_line(first['msg'])}.") from error
    if not (folder / pipeline.script).is_file():
        raise InputError(f'{name}: {FILE} names the script "{pipeline.script}", which is not in the zip.')
    return pipeline


def _one_line(said: object) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in str(said))[:300]
