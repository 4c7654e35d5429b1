"""Repeats of a run: the same decoder on the same questions, trained once per seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.scoring import UnitScores

SEED = "seed"
_LABELS = ("unit", "fold", "cluster")


@dataclass(frozen=True, eq=False)
class Repeat:
    """One training of a run that has several.

    Attributes
    ----------
    seed : int
    unit_scores : UnitScores
        Of this training alone.
    predictions : DataFrame or None
        None where the run was read from its folder: :meth:`Result.predictions_of` reads them when they are asked for.
    """

    seed: int
    unit_scores: UnitScores
    predictions: pd.DataFrame | None = None


def average_scores(repeats: Sequence[Repeat]) -> UnitScores:
    """Average unit scores over repeats, row by row: scores and additive columns alike.

    A score that is a mean over units is then the mean over the seeds. A pooled one (nRMSE, for example) is made from
    averaged sums, and a median from averaged units, so that a board that combines units shows this very number.

    Raises
    ------
    InputError
        When the repeats were not scored on the same units and folds.
    """
    first, table = repeats[0].unit_scores, repeats[0].unit_scores.table
    for other in repeats[1:]:
        if not other.unit_scores.table[[*_LABELS, "n"]].equals(table[[*_LABELS, "n"]]):
            raise InputError(
                f"The repeats with seeds {repeats[0].seed} and {other.seed} were not scored on the same examples."
            )
    averaged = table.copy()
    for name in table.columns.drop([*_LABELS, "n"]):
        values = np.stack([each.unit_scores.table[name].to_numpy(dtype=np.float64) for each in repeats])
        # Averaging differences keeps equal scores equal to the last digit.
        averaged[name] = values[0] + (values - values[0]).mean(axis=0)
    return replace(first, table=averaged)


def write_scores_by_seed(path: Path, repeats: Sequence[Repeat]) -> None:
    """Write the unit scores of all repeats as one file: the usual columns after a column ``seed``."""
    tables = []
    for each in repeats:
        table = each.unit_scores.table.copy()
        table.insert(0, SEED, np.int64(each.seed))
        tables.append(table)
    replace(repeats[0].unit_scores, table=pd.concat(tables, ignore_index=True)).write(path)


def read_scores_by_seed(path: Path, seeds: Sequence[int]) -> tuple[Repeat, ...]:
    """Read what :func:`write_scores_by_seed` wrote, one repeat per seed of the record.

    Raises
    ------
    InputError
        When the file is missing or damaged, or holds other seeds than the record.
    """
    scores = UnitScores.read(path)
    held = scores.table.get(SEED, pd.Series(dtype=np.int64))
    if set(held) != set(seeds):
        raise InputError(
            f"{path}: the record says seeds {list(seeds)}, and this file holds {sorted(set(held))}. "
            "Run the decoder again, or leave this folder out."
        )
    own = {seed: scores.table[held == seed].drop(columns=SEED).reset_index(drop=True) for seed in seeds}
    return tuple(Repeat(seed, replace(scores, table=table)) for seed, table in own.items())
