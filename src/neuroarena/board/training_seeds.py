"""Training seeds on a board: the scores of each seed, and what is said where there is only one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from neuroarena.board.selection import Field
from neuroarena.evaluation.levels import unit_values
from neuroarena.scoring import Manifest

NAMED = 3


def seed_scores(field: Field, manifest: Manifest) -> dict[str, np.ndarray]:
    """Return the scores of every training seed, as :func:`neuroarena.statistics.add_seeds` takes them.

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
        one.entry.team: np.stack(
            [unit_values(each.shown, each.columns, manifest, field.combine) for each in one.repeats]
        )
        for one in field.judged
        if len(one.repeats) > 1
    }


def describe_training_noise(fields: Iterable[Field], decides: bool = True) -> str | None:
    """Name the teams whose training noise is not known; None where it is known for all, or nobody is compared.

    Parameters
    ----------
    fields : iterable of Field
        The teams of every ranking.
    decides : bool
        Whether any ranking has verdicts; without one there is nothing to say about what they hold for.
    """
    compared = [one for field in fields if len(field.judged) > 1 for one in field.judged]
    unknown = list(dict.fromkeys(one.entry.team for one in compared if len(one.repeats) < 2))
    if not unknown:
        return None
    if not any(one.repeats for one in compared):
        return f"Training noise not measured{': verdicts hold for these trained models' if decides else ''}."
    more = f" and {len(unknown) - NAMED} more" if len(unknown) > NAMED else ""
    named = ", ".join(f'"{team}"' for team in unknown[:NAMED]) + more
    held = (
        "verdicts on it hold for this trained model"
        if len(unknown) == 1
        else "verdicts on them hold for these trained models"
    )
    return f"Training noise not measured for {named}{f': {held}' if decides else ''}."
