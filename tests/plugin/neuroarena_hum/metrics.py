"""A metric of our own: how many pitches are hit."""

from __future__ import annotations

import numpy as np

from neuroarena.scoring import Manifest
from neuroarena.scoring.metrics import Metric


def _hits(prediction: np.ndarray, target: np.ndarray, _: Manifest) -> dict[str, float]:
    return {"score": float(np.mean(np.abs(prediction - target) <= 0.1 * target))}


WITHIN_A_TENTH = Metric(
    name="within_a_tenth",
    direction="higher",
    predictions=("number",),
    function=_hits,
    title="Within a tenth",
    unit_label="",
    undefined="It is always defined.",
)
