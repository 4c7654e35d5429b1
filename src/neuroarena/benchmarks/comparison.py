"""Comparisons: questions asked of models that are shown stimuli, rather than of decoders of recordings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import pandas as pd

from neuroarena.scoring import Manifest, UnitScores


@dataclass(frozen=True, eq=False)
class Judgement:
    """What a comparison says about one model.

    Attributes
    ----------
    model : str
        How the model names itself.
    manifest : Manifest
        The rules it was judged by.
    score : float or None
        None where the model was refused.
    unit_scores : UnitScores or None
        Its scores unit by unit; their value is `score`.
    predictions : DataFrame or None
        ``split``, ``id`` (the stimulus) and ``values``, a list of numbers.
    split : str
        The name of the way in which the recordings are used.
    data_hash : str
        Hash of the recordings it was compared with.
    n_folds, seed : int
    parameters, options, reported : mapping
        What is known about the model, what was chosen, and what was reported in addition to the score.
    left_out : mapping of str to str
        "unit_scores" or "predictions" -> why there are none.
    content : str or None
        Hash of what the model is, whatever it is called; None where that cannot be known.
    refused : str or None
        Why the model could not be judged.
    """

    model: str
    manifest: Manifest
    score: float | None
    unit_scores: UnitScores | None
    predictions: pd.DataFrame | None
    split: str
    data_hash: str
    n_folds: int = 1
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    reported: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    content: str | None = None
    refused: str | None = None


@runtime_checkable
class Comparison(Protocol):
    """What a family with ``judges = "models"`` loads in place of a Benchmark."""

    @property
    def name(self) -> str:
        """The full name: ``family@definition/task``."""
        ...

    @property
    def simulated(self) -> bool:
        """Whether the recordings are a simulated twin."""
        ...

    @property
    def splits(self) -> tuple[str, ...]:
        """The ways in which the recordings can be used, the default first."""
        ...

    def judge(self, model: Any) -> Judgement:
        """Show the stimuli to a model, given by name or as an object, and compare it with the recordings."""
        ...

    def refuse(self, model: Any, why: str) -> Judgement:
        """Return a judgement that says why a model could not be judged."""
        ...
