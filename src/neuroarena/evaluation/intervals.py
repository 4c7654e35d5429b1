"""The interval of one score over its units, drawn as boards draw it."""

from __future__ import annotations

import numpy as np

from neuroarena.errors import UndefinedScore
from neuroarena.fingerprint import digest
from neuroarena.scoring import COMBINERS, Manifest, UnitScores, columns_of
from neuroarena.statistics import bootstrap

N_DRAWS = 10_000


def score_interval(
    unit_scores: UnitScores, manifest: Manifest, split: str, n_draws: int = N_DRAWS, seed: int = 0
) -> tuple[float, float] | None:
    """Return the 95 % interval of a score over its units, low end first, in the metric's own direction.

    Clusters are drawn first where the manifest names them and one owns several units, as on boards. None when there
    are fewer than two units, or when the score is not defined in some draw.
    """
    units = unit_scores.by_unit()
    if len(units) < 2:
        return None
    clusters = units["cluster"].tolist()
    labels = clusters if manifest.cluster is not None and len(set(clusters)) < len(clusters) else None
    columns = columns_of(unit_scores, manifest)
    columns.pop("count", None)
    combiner = COMBINERS.get(manifest.combiner)
    family, _, task = manifest.name.partition("/")
    drawn = derive_seed(seed, family, task, split)
    try:
        draws = bootstrap(
            {"": columns}, n_draws, labels, seed=drawn, combiner=combiner.apply, over=combiner.over
        )
    except UndefinedScore:
        return None
    low, high = np.percentile(draws.scores[:, 0], [2.5, 97.5])
    return float(low), float(high)


def derive_seed(seed: int, family: str, task: str, split: str) -> int:
    """Return the seed of the draws of a task and split, of one score and of a whole board.

    Different tasks never share their randomness, or scores over several tracks would look too certain.
    """
    return int(digest([seed, family, task, split])[:8], 16)
