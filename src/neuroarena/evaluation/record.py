"""The record of a run: what was asked, on which data, with which code, and how it ended; the same on all paths."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from neuroarena import __version__
from neuroarena.errors import InputError
from neuroarena.evaluation.identity import library_versions
from neuroarena.scoring import Manifest

SCHEMA_VERSION: Literal[2] = 2
Kind = Literal["run", "predictions", "code", "model"]
Status = Literal["complete", "failed"]
Text = Annotated[str, Field(strict=True)]
Count = Annotated[int, Field(strict=True)]
# A floor's role comes from the decoder; a word that boards do not know is refused there, by name.
Role = Text


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BenchmarkRecord(_Part):
    """The benchmark of a run: its full name, the options it was loaded with, and the hash of its rules."""

    name: Text
    options: dict[str, Any] = {}
    notes: tuple[str, ...] = ()
    manifest_hash: str | None = None


class SplitRecord(_Part):
    """The split of a run.

    Attributes
    ----------
    name : str
    hash : str
        Of its ids.
    folds : int, optional
        How many there are.
    train_fraction : float
        Share of the training part that was learned from; the name says so where it is below 1.
    leaks : tuple of str
        What `check leaks` found that gives answers away; without ``--check-leaks``, leaks of identity only.
    crossings : tuple of str
        What it found that is no leak: who stands on both sides as the split's definition says, what decoders never see.
    """

    name: Text
    hash: Text
    folds: int | None = None
    train_fraction: float = 1.0
    leaks: tuple[str, ...] = ()
    crossings: tuple[str, ...] = ()


class DecoderRecord(_Part):
    """What was judged: a decoder, the model behind a file, a code submission, or a model of vision.

    Attributes
    ----------
    name : str
        What boards call it.
    role : str
        "entry", or the floor that it is.
    type, parameters, code
        Class, parameters and fingerprint of the code, where they are known.
    untrained : bool
        Whether it is a pretrained encoder with random weights.
    encoder_weights : str, optional
        Hash of the weights of a frozen encoder.
    not_cached_because : str, optional
        Why none of its results are kept in the cache.
    """

    name: Text
    role: Role = "entry"
    untrained: bool = False
    encoder_weights: str | None = None
    type: str | None = None
    parameters: dict[str, Any] = {}
    code: str | None = None
    not_cached_because: str | None = None


class CellRecord(_Part):
    """How one fold ended; where a run was repeated, with the seed of the repeat."""

    fold: Text
    seed: int | None = None
    key: str | None = None
    status: Status
    warnings: tuple[str, ...] = ()
    error: str | None = None
    traceback: str | None = None
    seconds: float | None = None
    n_train: int | None = None
    n_test: int | None = None


class SourceRecord(_Part):
    """The submitted file: its name and the SHA-256 of its bytes."""

    file: Text
    sha256: Text


class RepeatsRecord(_Part):
    """The seeds with which a decoder was trained.

    Attributes
    ----------
    seeds : tuple of int
        One per repeat, the record's own `seed` first.
    chance : bool
        Whether the decoder draws at random. One that does not was trained once, because every seed gives the same.
    """

    seeds: Annotated[tuple[Count, ...], Field(min_length=2)]
    chance: bool


class RunRecord(_Part):
    """What a result says about itself.

    Attributes
    ----------
    schema_version : int
        Always first in the file.
    kind : {"run", "predictions", "code", "model"}
        Which path led here: a decoder that was run, a file of predictions, a code submission, a model of vision.
    run_key : str
        SHA-256 over what was asked; the same question has the same key.
    score : float or None
        The score of all units; None unless the run is complete and has unit scores.
    repeats : RepeatsRecord or None
        The training seeds, where there are several; `score` is then that of unit scores averaged over them.
    left_out : mapping of str to str
        "predictions" or "unit_scores" -> why this result has none.
    reported : mapping
        What else the judge of this path said: a Brain-Score with its error and ceiling, how code was isolated.
    """

    schema_version: Literal[2] = SCHEMA_VERSION
    kind: Kind = "run"
    run_key: Text
    status: Status
    simulated: Annotated[bool, Field(strict=True)]
    benchmark: BenchmarkRecord
    split: SplitRecord
    decoder: DecoderRecord
    source: SourceRecord | None = None
    seed: Count
    repeats: RepeatsRecord | None = None
    score: float | None = None
    metric: Text
    scorer_version: str | None = None
    neuroarena: str | None = None
    libraries: dict[str, str] = {}
    started: AwareDatetime | None = None
    finished: AwareDatetime
    cells: tuple[CellRecord, ...]
    left_out: dict[str, str] = {}
    reported: dict[str, Any] = {}
    manifest: Manifest

    @property
    def complete(self) -> bool:
        """Whether every cell was computed."""
        return self.status == "complete"

    @property
    def failed_cells(self) -> tuple[CellRecord, ...]:
        """The cells that were not computed."""
        return tuple(cell for cell in self.cells if cell.status != "complete")

    @property
    def family(self) -> str:
        """The family of the benchmark."""
        return self.benchmark.name.partition("/")[0].partition("@")[0]

    @property
    def definition(self) -> str:
        """The version of the definition."""
        return self.benchmark.name.partition("/")[0].partition("@")[2]

    @property
    def task(self) -> str:
        """The task within the family."""
        return self.benchmark.name.partition("/")[2]

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of all trainings."""
        return (self.seed,) if self.repeats is None else self.repeats.seeds

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON values, the schema version first; repeats only where there are any."""
        if self.repeats is not None:
            return self.model_dump(mode="json")
        return self.model_dump(mode="json", exclude={"repeats": True, "cells": {"__all__": {"seed"}}})


def current_time() -> datetime.datetime:
    """Return the time to the second, in UTC, as records keep it."""
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0)


def describe_software() -> dict[str, Any]:
    """Return what every record says about the software: our version and those of the libraries."""
    return {
        "neuroarena": __version__,
        "libraries": {"python": platform.python_version(), **library_versions()},
    }


def read_record(plain: Any, path: Path) -> RunRecord:
    """Read a record of any version; what an older one lacks is filled in, and the file is left as it is.

    Raises
    ------
    InputError
        When it is not a record, is of a newer version, or is damaged.
    """
    version = plain.get("schema_version") if isinstance(plain, dict) else None
    if version is None:
        raise InputError(f"{path}: this is not a record of neuroarena: it has no schema_version.")
    if version not in (1, SCHEMA_VERSION):
        raise InputError(
            f"{path}: the record has schema version {version}; this neuroarena reads up to {SCHEMA_VERSION}. "
            "Read it with the version of neuroarena that wrote it, or a newer one."
        )
    try:
        return RunRecord.model_validate(_upgrade(plain) if version == 1 else plain)
    except (ValidationError, TypeError) as error:
        raise InputError(
            f"{path}: the record is damaged: {_problem(error)}. Run the decoder again, or take it off the boards with: "
            f"neuroarena results remove {path.parent}"
        ) from error


_PARTS: Mapping[str, type[_Part]] = {
    "benchmark": BenchmarkRecord,
    "split": SplitRecord,
    "decoder": DecoderRecord,
}


def _upgrade(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record of version 1 in the form of version 2; keys that it does not have go to ``reported``."""
    made: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "kind": "run", "reported": {}}
    for key, value in plain.items():
        if key == "brain_score":
            made["kind"], made["reported"] = "model", {**made["reported"], **dict(value)}
        elif key in _PARTS and isinstance(value, dict):
            known = _PARTS[key].model_fields
            made[key] = {name: each for name, each in value.items() if name in known}
            others = {f"{key}.{name}": each for name, each in value.items() if name not in known}
            made["reported"] = {**made["reported"], **others}
        elif key in RunRecord.model_fields:
            made.setdefault(key, value)
        else:
            made["reported"] = {**made["reported"], key: value}
    if made["kind"] == "model":
        made["left_out"] = {"predictions": "version 0.1.0 kept no predictions of models."}
    return made


def _problem(error: ValidationError | TypeError) -> str:
    """Describe the first thing that is wrong with a record."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f'"{where}" is missing'
    if first["type"] == "extra_forbidden":
        return f'"{where}" is unknown'
    message = first["msg"].removeprefix("Value error, ").rstrip(".")
    return f'"{where}": {message}, got {first["input"]!r:.120}'
