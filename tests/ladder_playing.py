"""A ladder that is played in memory: the rules of a sealed phase, without files, teams and times."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from neuroarena.competition.judging import Judgement
from neuroarena.competition.luck import find_luck
from neuroarena.competition.views import choose_step, public_view
from neuroarena.scoring import Aligned, Manifest
from neuroarena.scoring.checks import Truth

TWO_CLASSES = Manifest(
    name="ladder/sides",
    definition="test",
    title="Sides",
    question="Which of two?",
    metric="accuracy",
    prediction="label",
    classes=("0", "1"),
    unit="session",
    split_rule="one part",
    licence="none",
)


class Ladder:
    """One team's view of a sealed phase with two classes: ask, and be shown a value or nothing.

    Only the first `n_shown` labels are scored, as where people are split into halves.
    """

    def __init__(
        self, labels: np.ndarray, attempts: int, *, guarded: bool, seed: int = 0, n_shown: int | None = None
    ) -> None:
        self.labels, self.attempts, self.guarded = labels, attempts, guarded
        self.shown_half = slice(n_shown)
        n = len(labels[self.shown_half])
        self.step = choose_step(np.sqrt(0.25 / n))
        self.rng = np.random.default_rng(seed)
        self.best: float | None = None
        self.best_answers: np.ndarray | None = None
        self.said: list[str] = []
        ids = pa.array([f"e{at:05}" for at in range(len(labels))], pa.large_string())
        self.truth = Truth(ids, labels, np.arange(0, len(labels), 10), [], [], [])

    def value_of(self, parts: Mapping[str, Aligned]) -> float:
        right = parts[""].values == self.labels
        return float(np.mean(right[self.shown_half]))

    def ask(self, answers: np.ndarray) -> float | None:
        """Hand answers in, and return what is shown."""
        mine = {"": Aligned(answers.copy(), self.truth, TWO_CLASSES)}
        others = (
            {"": Aligned(self.best_answers, self.truth, TWO_CLASSES)}
            if self.best_answers is not None
            else None
        )
        value = self.value_of(mine)
        judged = Judgement(value, None, None, 20, {"": value}, "accuracy", 1.0, 0.5)
        luck = (
            find_luck(mine, others, self.value_of, judged, self.attempts, self.rng) if self.guarded else None
        )
        view = public_view(judged, "ladder", self.step, self.best, luck)
        self.said.append(view.sentence)
        if view.shown is not None:
            self.best, self.best_answers = view.shown, answers.copy()
        return view.shown
