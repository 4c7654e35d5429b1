"""Manifests: the rules of a task, as data."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.fingerprint import digest
from neuroarena.scoring.combiners import check_combiner
from neuroarena.scoring.metrics import METRICS, RESERVED_COLUMNS, Direction, Metric, Prediction

# A name without a colon: a manifest is data, and must not be able to point at code to import.
RegistryName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.\-]*$")]
TaskName = Annotated[str, StringConstraints(pattern=r"^[^@/\s:]+/[^@/\s:]+$")]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Number = Annotated[float, Field(allow_inf_nan=False)]
PositiveNumber = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class StreamRule(BaseModel):
    """How the recordings of a stream task are played to a decoder, one window at a time.

    Parameters
    ----------
    window_s, hop_s : float
        Seconds of signal that a step is about, and seconds from one step to the next.
    before_s, after_s : float
        Additional seconds of signal before and after the window; silence where there is none.
    start_jitter_s : float
        The start is moved by up to this much, at random, so that elapsed time does not reveal the answer.
    horizon_s : float, optional
        Every stream is brought to this length, so that its length does not reveal the answer: a longer one is
        cut, a shorter one goes on with its own last minutes, played again.
    answer : {"last", "joined"}
        Whether the last answer counts (a number of seconds from the start of the stream), or the pieces
        are joined (text).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    window_s: PositiveNumber
    hop_s: PositiveNumber
    before_s: NotNegative = 0.0
    after_s: NotNegative = 0.0
    start_jitter_s: NotNegative = 0.0
    horizon_s: PositiveNumber | None = None
    answer: Literal["last", "joined"]


class Manifest(BaseModel):
    """The rules of one task.

    Parameters
    ----------
    name : str
        ``family/task``.
    definition : str
        Version of the task's definition, "2025.10". A published definition is never changed: a change
        that moves a score is a new definition.
    title, question : str
        The heading on boards, and what is asked, in one line.
    metric, tie_break, additional_metrics : str
        Names of registered metrics: the headline, what breaks ties, and what else is reported.
    prediction : {"label", "probabilities", "number", "vector", "text"}
        What a prediction file holds.
    prediction_column : str, optional
        What the column of predictions is called, where it differs from the kind ("seconds").
    classes : tuple of str
        The classes in order, for labels and probabilities. Targets and labels are compared with them as
        text, so that the integer 1 is the class "1".
    unit, cluster : str
        What one unit is, and what owns several units (None: units are independent), in words.
    combiner : str
        How the scores of units become the score of the track; when left out, the metric's own.
    undefined : mapping of str to str
        Undefined case -> rule, in words, in addition to the rules of the metrics.
    split_rule : str
        How examples are cut into folds.
    split_hashes : mapping of str to str
        Split name -> locked hash, where the data are known.
    sigma, nu : float
        Expected standard deviation of unit scores, and the half width that is aimed at.
    caps : mapping of str to int
        Upper limits by name. ``vector_length`` fixes the length of a vector prediction.
    allowed_range : pair of float, optional
        The least and the largest number that a prediction of the kind "number" can be.
    chance, ceiling : float
        Score of guessing, and the best score possible, in the metric's own direction.
    state : {"stateless", "stream"}
        Whether a decoder may keep state between windows of one stream.
    stream : StreamRule, optional
        How a stream is played; present exactly when the task is one of streams.
    licence : str
    notes : tuple of str
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = 1
    name: TaskName
    definition: Words
    title: Words
    question: Words
    metric: RegistryName
    tie_break: RegistryName | None = None
    additional_metrics: tuple[RegistryName, ...] = ()
    prediction: Prediction
    prediction_column: RegistryName | None = None
    classes: tuple[Words, ...] = ()
    unit: Words
    cluster: Words | None = None
    combiner: RegistryName = "mean"
    undefined: dict[str, str] = {}
    split_rule: Words
    split_hashes: dict[str, str] = {}
    sigma: PositiveNumber | None = None
    nu: PositiveNumber | None = None
    caps: dict[str, Count] = {}
    chance: Number | None = None
    ceiling: Number | None = None
    allowed_range: tuple[Number, Number] | None = None
    state: Literal["stateless", "stream"] = "stateless"
    stream: StreamRule | None = None
    licence: Words
    notes: tuple[Words, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _take_the_combiner_of_the_metric(cls, data: Any) -> Any:
        # Without this a metric that is not a mean over units (nRMSE) would silently be averaged.
        if isinstance(data, dict) and "combiner" not in data and data.get("metric") in METRICS.names():
            return {**data, "combiner": METRICS.get(data["metric"]).combiner}
        return data

    @model_validator(mode="after")
    def _agree_with_itself(self) -> Manifest:
        problem = (
            _classes_problem(self.prediction, self.classes)
            or _column_problem(self)
            or _stream_problem(self)
            or _repeated_metric(self)
            or _metric_problem(self)
        )
        if problem:
            raise ValueError(problem)
        return self

    @property
    def readable_question(self) -> str:
        """The question as people read it: published definitions cannot change, and one says "p-factor factor"."""
        return re.sub(r"-(\w+) \1\b", r"-\1", self.question)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric that is computed, each one once: the headline, the tie-break, the additional ones."""
        tie_break = () if self.tie_break is None else (self.tie_break,)
        return tuple(dict.fromkeys((self.metric, *tie_break, *self.additional_metrics)))

    @property
    def direction(self) -> Direction:
        """Whether higher or lower scores of the headline metric are better."""
        return METRICS.get(self.metric).direction

    @property
    def sign(self) -> float:
        """+1.0 where higher is better, -1.0 where lower is: the factor that orients a score."""
        return METRICS.get(self.metric).sign

    @property
    def undefined_rules(self) -> dict[str, str]:
        """The rules for undefined cases: of every metric, then the manifest's own."""
        return {**{name: METRICS.get(name).undefined for name in self.metrics}, **self.undefined}

    @property
    def prediction_columns(self) -> tuple[str, ...]:
        """The columns of a prediction table after ``id``."""
        if self.prediction == "probabilities":
            return tuple(f"p_{name}" for name in self.classes)
        return (self.prediction_column or self.prediction,)

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON of what differs from the defaults, and of the schema version.

        Leaving defaults out keeps the hashes of published manifests when a later release adds an
        optional field; a default itself is never changed without a new schema version.
        """
        said = self.model_dump(mode="json", exclude_defaults=True)
        return digest({**said, "schema_version": self.schema_version})

    def replace(self, **changes: Any) -> Manifest:
        """Return a copy with some values replaced, checked like any manifest.

        Raises
        ------
        InputError
            Naming the field that is wrong.
        """
        return build_manifest({**self.model_dump(), **changes}, f"manifest {self.name}")

    @classmethod
    def from_toml(cls, path: str | Path) -> Manifest:
        """Read the manifest of one task from a TOML file.

        Raises
        ------
        InputError
            Naming the file and the field, in one sentence.
        """
        return build_manifest(_read_toml(Path(path)), str(path))


def manifests_from_toml(path: str | Path) -> dict[str, Manifest]:
    """Read the manifests of a family of tasks from one TOML file.

    Parameters
    ----------
    path : str or Path
        Top level: ``family``, and values that all tasks share. Tables ``[tasks.<task>]``: what a task
        says itself; a value given there takes the place of the shared one as a whole. The name of
        a manifest is ``family/task``.

    Returns
    -------
    dict of str to Manifest
        Task -> manifest, in the order of the file.

    Raises
    ------
    InputError
        Naming the file, the task and the field, in one sentence.
    """
    shared = _read_toml(Path(path))
    family, tasks = shared.pop("family", None), shared.pop("tasks", None)
    if not isinstance(family, str):
        raise InputError(f'{path}: field "family" is missing. Expected the name of the family, as text.')
    if not isinstance(tasks, dict) or not tasks:
        raise InputError(f'{path}: field "tasks" is missing. Expected a table [tasks.<task>] for every task.')
    manifests = {}
    for task, own in tasks.items():
        where = f"{path}: task {task}"
        if not isinstance(own, dict):
            raise InputError(f"{where}: expected a table [tasks.{task}], got {type(own).__name__}.")
        if "name" in own or "name" in shared:
            raise InputError(f'{where}: field "name" is made from family and task. Leave it out.')
        manifests[task] = build_manifest({**shared, **own, "name": f"{family}/{task}"}, where)
    return manifests


def higher_is_better(manifest: Manifest) -> bool:
    """Return whether higher scores of a task are better."""
    return manifest.direction == "higher"


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file. Expected a manifest in TOML.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: cannot be read as TOML: {error}.") from error


def build_manifest(data: dict[str, Any], where: str) -> Manifest:
    """Make a manifest of plain values.

    Raises
    ------
    InputError
        Beginning with `where`, and naming the field that is wrong in one sentence.
    """
    try:
        return Manifest.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{where}: {_sentence(error)}") from error


def _sentence(error: ValidationError) -> str:
    """Put the first thing pydantic found into one sentence, and count the others."""
    problems = error.errors(include_url=False)
    first, more = problems[0], len(problems) - 1
    also = f" ({more} more problem{'s' if more > 1 else ''} in it.)" if more else ""
    field = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f'field "{field}" is missing.{also}'
    if first["type"] == "extra_forbidden":
        return f'field "{field}" is unknown. Expected one of {", ".join(Manifest.model_fields)}.{also}'
    message = first["msg"].removeprefix("Value error, ").rstrip(".")
    if not field:
        return f"{message}.{also}"
    return f'field "{field}": {message}, got {first["input"]!r}.{also}'


def _classes_problem(prediction: Prediction, classes: tuple[str, ...]) -> str | None:
    if prediction not in ("label", "probabilities"):
        return f'field "classes" must be left out for the prediction "{prediction}"' if classes else None
    if len(classes) < 2:
        return f'field "classes" needs two or more for the prediction "{prediction}", got {len(classes)}'
    repeated = [name for position, name in enumerate(classes) if name in classes[:position]]
    return f'field "classes" names "{repeated[0]}" twice' if repeated else None


def _column_problem(manifest: Manifest) -> str | None:
    if manifest.prediction_column is None:
        return None
    if manifest.prediction == "probabilities":
        return 'field "prediction_column" must be left out: probabilities have a column for every class'
    return 'field "prediction_column": "id" is taken' if manifest.prediction_column == "id" else None


def _stream_problem(manifest: Manifest) -> str | None:
    if (manifest.state == "stream") != (manifest.stream is not None):
        return 'field "stream" must be there exactly when state is "stream"'
    if manifest.stream is None:
        return None
    expected = {"last": "number", "joined": "text"}[manifest.stream.answer]
    if manifest.prediction != expected:
        return f'field "stream": the answer "{manifest.stream.answer}" makes a {expected}, not a {manifest.prediction}'
    return None


def _repeated_metric(manifest: Manifest) -> str | None:
    if manifest.tie_break == manifest.metric:
        return f'field "tie_break" repeats the metric "{manifest.metric}"'
    # The score of an additional metric is a column that bears its name.
    taken = [manifest.metric, "n", *RESERVED_COLUMNS]
    for name in manifest.additional_metrics:
        if name in taken:
            return f'field "additional_metrics": "{name}" is already a column of the scores'
        taken.append(name)
    return None


def _metric_problem(manifest: Manifest) -> str | None:
    asked = {"metric": manifest.metric, "tie_break": manifest.tie_break}
    fields = [*asked.items(), *(("additional_metrics", name) for name in manifest.additional_metrics)]
    try:
        for field, name in fields:
            problem = None if name is None else _kind_problem(METRICS.get(name), manifest.prediction)
            if problem:
                return f'field "{field}": {problem}'
        problem = check_combiner(manifest.combiner, METRICS.get(manifest.metric))
    except NeuroarenaError as error:
        return str(error)
    return f'field "combiner": {problem}' if problem else None


def _kind_problem(metric: Metric, prediction: Prediction) -> str | None:
    if prediction in metric.predictions:
        return None
    return f'"{metric.name}" judges {" or ".join(metric.predictions)}, not "{prediction}"'
