"""Fit the numbers of the simulated Sleep-EDF to band powers of real nights, and write them into the package.

    python tools/fit_sleep_twin.py ../shared/data/real/sleep_edf/bandpowers.npz

The file holds, for each night, the power of ten bands (two channels, five bands each, µV²/Hz) and the stage of every
epoch of 30 s. It does not name its bands. They are read as 0.5-4, 4-8, 8-13, 13-30 and 30-50 Hz: awake the fifth is
as strong as the fourth (muscle), and the fourth rises from N1 to N2 by less than a band of spindles alone would.
Nothing of a single night enters the package, only means, spreads and frequencies over all nights.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.mixture import GaussianMixture

from neuroarena.families.sleep.sleep_edf.hypnogram import first_stable_n2

TABLE = Path(__file__).parents[1] / "src/neuroarena/families/sleep/sleep_edf/fitted.toml"
STAGES = ("W", "N1", "N2", "N3", "R")
# Wake is two things: moving about, and lying still with eyes closed.
STATES = ("moving", "resting", "N1", "N2", "N3", "R")
SLEEP = (2, 3, 4, 5)
# Epochs before stable N2 that a stream can begin in, and epochs after it that a twin of ordinary length has.
BEFORE, AFTER = 50, 120
DIGITS = 3


@dataclass(frozen=True)
class Night:
    """The part of a real night that is fitted: from 25 minutes before stable N2 to the last epoch of sleep.

    Attributes
    ----------
    key : str
        Person and night, "SC4001".
    levels : float array (epochs, 10)
        Decimal logarithms of µV²/Hz.
    stages : int array (epochs,)
        Into STAGES.
    """

    key: str
    levels: np.ndarray
    stages: np.ndarray


def read_nights(path: Path) -> list[Night]:
    """Read the nights of the file, each cut to the part that is fitted."""
    nights = []
    with np.load(path, allow_pickle=False) as held:
        for key in sorted({name.partition("_")[0] for name in held}):
            stages = held[f"{key}_stage"].astype(int)
            onset = first_stable_n2([STAGES[stage] for stage in stages])
            assert onset is not None, f"{key} never reaches stable N2"
            part = slice(onset - BEFORE, int(np.flatnonzero(stages).max()) + 1)
            nights.append(Night(key, np.log10(held[f"{key}_uv2_per_hz"][part].astype(float)), stages[part]))
    return nights


def night_effects(nights: list[Night]) -> np.ndarray:
    """Return how far each night lies from the others, averaged over the stages of sleep: float (nights, 10)."""
    effects = np.zeros((len(nights), 10))
    seen = np.zeros((len(nights), 1))
    for stage in range(1, len(STAGES)):
        means = {
            number: night.levels[night.stages == stage].mean(axis=0)
            for number, night in enumerate(nights)
            if (night.stages == stage).sum() >= 10
        }
        centre = np.mean(list(means.values()), axis=0)
        for number, mean in means.items():
            effects[number] += mean - centre
            seen[number] += 1
    return np.asarray(effects / seen)


def split_wake(nights: list[Night], effects: np.ndarray) -> list[np.ndarray]:
    """Divide the wake of all nights into moving and resting; return the states of each night."""
    awake = np.concatenate(
        [night.levels[night.stages == 0] - effect for night, effect in zip(nights, effects, strict=True)]
    )
    mixture = GaussianMixture(2, n_init=5, random_state=0, reg_covar=0.002).fit(awake)
    # Muscle: whoever moves has more power at 30-50 Hz.
    moving = int(mixture.means_[:, [4, 9]].sum(axis=1).argmax())
    states = []
    for night, effect in zip(nights, effects, strict=True):
        found = night.stages + 1
        wake = night.stages == 0
        found[wake] = np.where(mixture.predict(night.levels[wake] - effect) == moving, 0, 1)
        states.append(found)
    return states


def chain_before(states: list[np.ndarray]) -> np.ndarray:
    """Count how states precede each other before stable N2: row, the later state; column, the one before it."""
    counts = np.zeros((3, 3))
    for night in states:
        before = night[:BEFORE][::-1]
        np.add.at(counts, (before[:-1], before[1:]), 1)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def chain_after(states: list[np.ndarray]) -> np.ndarray:
    """Count how states follow each other in the hour after stable N2: row, the earlier state."""
    counts = np.zeros((len(STATES), len(STATES)))
    for night in states:
        after = night[BEFORE : BEFORE + AFTER]
        np.add.at(counts, (after[:-1], after[1:]), 1)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def fit(nights: list[Night]) -> dict[str, np.ndarray]:
    """Fit all numbers of the table."""
    effects = night_effects(nights)
    states = split_wake(nights, effects)
    levels = np.concatenate([night.levels - effect for night, effect in zip(nights, effects, strict=True)])
    flat = np.concatenate(states)
    means = np.stack([levels[flat == state].mean(axis=0) for state in range(len(STATES))])
    spreads = np.stack([levels[flat == state].std(axis=0) for state in range(len(STATES))])
    standard = (levels - means[flat]) / spreads[flat]
    # Each state counts alike, however often it occurs.
    alike = np.mean([np.corrcoef(standard[flat == state].T) for state in range(len(STATES))], axis=0)
    return {
        "means": means,
        "spreads": spreads,
        "correlations": alike,
        "night_spreads": effects.std(axis=0, ddof=1),
        "night_correlations": np.corrcoef(effects.T),
        "before": chain_before(states),
        "after": chain_after(states),
    }


def write(table: dict[str, np.ndarray], n_nights: int, path: Path) -> None:
    """Write the table as TOML, one row a line."""
    lines = [
        f"# Fitted to the band powers of {n_nights} real nights by tools/fit_sleep_twin.py; do not edit.",
        "# Levels are decimal logarithms of µV²/Hz: Fpz-Cz at 0.5-4, 4-8, 8-13, 13-30 and 30-50 Hz, then Pz-Oz.",
        f"# States are {', '.join(STATES)}; the first two are wake. before is read backwards from stable N2.",
        f"nights = {n_nights}",
    ]
    for name, values in table.items():
        rows = [", ".join(f"{value:.{DIGITS}f}" for value in row) for row in np.atleast_2d(values)]
        if values.ndim == 1:
            lines.append(f"{name} = [{rows[0]}]")
        else:
            lines += [f"{name} = [", *(f"  [{row}]," for row in rows), "]"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("bandpowers", type=Path, help="bandpowers.npz of real nights")
    parser.add_argument("--out", type=Path, default=TABLE, help="by default the package's own table")
    asked = parser.parse_args()
    nights = read_nights(asked.bandpowers)
    write(fit(nights), len(nights), asked.out)
    print(asked.out)


if __name__ == "__main__":
    main()
