"""A Brain-Score benchmark as a comparison of the house: in comes a model, out comes what boards can rank."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from neuroarena.benchmarks.comparison import Judgement
from neuroarena.errors import NeuroarenaError
from neuroarena.families.brainscore.brain_model import model_name
from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.kept_rows import KeptRows, keeping_rows
from neuroarena.families.brainscore.loading import data_digests, load_model, score
from neuroarena.families.brainscore.models.content import describe_content
from neuroarena.families.brainscore.rules import FAMILY
from neuroarena.families.brainscore.unit_scores import manifest_of, unit_scores
from neuroarena.fingerprint import digest
from neuroarena.scoring import UnitScores

SPLIT = "neuroids"
# The combined units are the Score but for the order of additions.
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class NeuralComparison:
    """A benchmark that compares a model of vision with recordings.

    It can be called with a model and has the attributes of the benchmark, as code written for Brain-Score expects.

    Parameters
    ----------
    benchmark : Benchmark
        To be called with a model.
    """

    benchmark: Any

    def __call__(self, candidate: Any) -> Score:
        """Score a model, as the benchmark does."""
        found: Score = self.benchmark(candidate)
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "benchmark":
            raise AttributeError(name)
        return getattr(self.benchmark, name)

    @property
    def name(self) -> str:
        """The full name; the definition is the benchmark's version."""
        return f"{FAMILY}@{self.benchmark.version}/{self.benchmark.identifier}"

    @property
    def simulated(self) -> bool:
        """Whether the recordings are a simulated twin."""
        return bool(getattr(self.benchmark, "simulated", False))

    @property
    def splits(self) -> tuple[str, ...]:
        """The one way in which the recordings are used; the metric makes its own folds of it."""
        return (SPLIT,)

    def judge(self, model: Any) -> Judgement:
        """Score a model, given by name or as itself.

        Raises
        ------
        UnknownName
            With the closest names of models.
        DataQualityError
            When the score is not a number.
        """
        candidate = load_model(model)
        # Computed outside: ceilings compare recordings with each other by the same metrics.
        _ = getattr(self.benchmark, "ceiling", None)
        with keeping_rows() as kept:
            found = score(candidate, self.benchmark)
        return _with_content(judgement_of(found, self.benchmark, kept), candidate)

    def refuse(self, model: Any, why: str) -> Judgement:
        """Return a judgement that says why a model could not be judged."""
        candidate = load_model(model)
        judgement = Judgement(
            model=model_name(candidate),
            manifest=manifest_of(self.benchmark),
            score=None,
            unit_scores=None,
            predictions=None,
            split=SPLIT,
            data_hash=digest(data_digests(self.benchmark)),
            left_out=dict.fromkeys(("unit_scores", "predictions"), "the model could not be judged"),
            refused=why,
        )
        return _with_content(judgement, candidate)


def _with_content(judgement: Judgement, candidate: Any) -> Judgement:
    """Add what the model is: the parts of its content, and one hash of all of them."""
    parts = describe_content(candidate)
    known = {name: value for name, value in parts.items() if value is not None}
    return replace(
        judgement,
        parameters={**judgement.parameters, "content": known},
        content=None if None in parts.values() else digest(parts),
    )


def judgement_of(found: Score, benchmark: Any, kept: KeptRows | None = None) -> Judgement:
    """Return a Score as a judgement: its units where it has them, its predictions where they were kept."""
    units, why = _units(found, benchmark)
    predictions = None if kept is None else kept.table()
    left_out = {} if why is None else {"unit_scores": why}
    if predictions is None:
        left_out["predictions"] = (
            f"{benchmark.identifier} predicts no responses and compares no dissimilarities image by image."
        )
    known = found.provenance
    return Judgement(
        model=str(found.attrs["model_identifier"]),
        manifest=manifest_of(benchmark, found if units is not None else None),
        score=float(found),
        unit_scores=units,
        predictions=predictions,
        split=SPLIT,
        data_hash=digest(known.get("data", {})),
        n_folds=found.n_splits or 1,
        seed=known.get("seed") or 0,
        parameters={"comment": found.attrs.get("comment", "")},
        options={"normalisation": found.formula},
        reported=_reported(found, kept, predictions),
        left_out=left_out,
    )


def _units(found: Score, benchmark: Any) -> tuple[UnitScores | None, str | None]:
    """Return the units of a Score, or why it has none that make it up."""
    try:
        units = unit_scores(found, benchmark)
        value = units.value
    except NeuroarenaError as error:
        return None, str(error)
    if not math.isclose(value, float(found), rel_tol=TOLERANCE, abs_tol=TOLERANCE):
        return None, (
            f"{benchmark.identifier} aggregates its neuroids in a way of its own: combined by the rule of the board "
            f"they give {value:.6g}, and the Score is {float(found):.6g}."
        )
    return units, None


def _reported(found: Score, kept: KeptRows | None, predictions: pd.DataFrame | None) -> dict[str, Any]:
    said: dict[str, Any] = {
        "score": float(found),
        "error": found.error,
        "raw": None if found.raw is None or found.formula is None else float(found.raw),
        "ceiling": None if found.ceiling is None else float(found.ceiling),
        "formula": found.formula,
        "n_neuroids": found.n_neuroids_used,
    }
    if isinstance(found.ceiling, Score):
        said["ceiling_error"] = found.ceiling.error
        said["ceiling_lower"] = found.ceiling.attrs.get("lower_bound")
    if kept is not None and predictions is not None:
        said["columns"] = list(kept.columns)
        if "contributions" in predictions.columns:
            said["contributors"] = list(kept.contributors)
        if kept.fitted is not None:
            said["fitted_images"], said["fitted_features"] = kept.fitted.images, kept.fitted.features
    return said
