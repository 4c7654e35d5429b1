"""Training seeds on a board: the scores of each seed, and what is said where there is only one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from neuroarena.board.entries import Judged
from neuroarena.board.selection import Field
from neuroarena.scoring import COMBINERS, Manifest
from neuroarena.statistics import leave_out_columns

NAMED = 3


def seed_scores(field: Field, manifest: Manifest) -> dict[str, np.ndarray]:
    """Return the scores of every training seed, as :func:`neuroarena.statistics.add_seeds` takes them.

    A score that is a mean over units, or a median, has the unit scores themselves. Any other has its pseudo-values
    U S - (U - 1) S(-u), with S(-u) the score without unit u: their mean is on the scale of the score.

    Parameters
    ----------
    field : Field
        The teams of one ranking, of a task or of a suite.
    manifest : Manifest
        The rules of that ranking.

    Returns
    -------
    dict of str to ndarray
        Team -> (seeds, units), higher is better, units in the order of the ranking; only teams with several seeds.
    """
    return {
        one.entry.team: np.stack([_values(each, field, manifest) for each in one.repeats])
        for one in field.judged
        if len(one.repeats) > 1
    }


def _values(one: Judged, field: Field, manifest: Manifest) -> np.ndarray:
    combiner = COMBINERS.get(manifest.combiner)
    if field.combine is None and (combiner.name == "mean" or combiner.over == "medians"):
        shown: np.ndarray = manifest.sign * one.shown
        return shown
    combine = field.combine or combiner.apply
    left = leave_out_columns(
        {one.entry.team: one.columns}, lambda sums: manifest.sign * np.asarray(combine(sums))
    )
    return left.sums[:, 0]


def describe_training_noise(fields: Iterable[Field]) -> str | None:
    """Say for which teams the noise of training is not known; None where it is known for all, or nobody is compared."""
    compared = [one for field in fields if len(field.judged) > 1 for one in field.judged]
    unknown = list(dict.fromkeys(one.entry.team for one in compared if len(one.repeats) < 2))
    if not unknown:
        return None
    if not any(one.repeats for one in compared):
        return "Training noise not measured: verdicts hold for these trained models."
    more = f" and {len(unknown) - NAMED} more" if len(unknown) > NAMED else ""
    named = ", ".join(f'"{team}"' for team in unknown[:NAMED]) + more
    return f"Training noise not measured for {named}: verdicts on them hold for these trained models."
