"""The planted model of simulated nights: how states follow each other, how they sound, and the best possible score.

Both sleep twins use it. Every epoch of 30 s is in a *state*: a stage, where wake is either moving or resting. Its
*levels*, the logarithms of the power in five bands at two sites, are drawn around a mean of that state and an effect
of the night. All numbers were fitted to real nights (`fitted.toml`, written by ``tools/fit_sleep_twin.py``); what
was not seen there is said where it stands. Whoever sees the levels and knows these numbers can do no better than
:func:`ideal_error`.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

EPOCH_S = 30
STAGES = ("W", "N1", "N2", "N3", "R")
STATES = ("moving", "resting", "N1", "N2", "N3", "R")
# State -> stage.
STAGE_OF = np.array([0, 0, 1, 2, 3, 4])
BANDS_HZ = ((0.5, 4.0), (4.0, 8.0), (8.0, 13.0), (13.0, 30.0), (30.0, 50.0))
SITES = ("EEG Fpz-Cz", "EEG Pz-Oz")
FITTED_TO = "band powers and stages of 14 real nights of Sleep-EDF (SC4001 to SC4062)"
MOVING, RESTING, N1, N2 = range(4)
# Chance that the epoch before one of N1 is an N2 that is not stable. In 30 real hypnograms there is none before the
# first stable N2; a few are planted so that `k` has something to decide.
ALONE = 0.02


@dataclass(frozen=True)
class Fitted:
    """The numbers fitted to real nights, with the chains as they are used here.

    Attributes
    ----------
    means, spreads : float array (states, 10)
        Of the levels, in decimal logarithms of µV²/Hz: five bands of the first site, then of the second.
    mixing : float array (10, 10)
        Turns independent numbers into the deviations of an epoch, in units of their spreads.
    night_mixing : float array (10, 10)
        Turns independent numbers into the effect of a night. Two nights of a person are hardly more alike than nights
        of two people, so that there is no effect of the person.
    before : float array (4, 4)
        Chance of each state in the epoch before one of each state, up to stable N2: moving, resting, N1, single N2.
    after : float array (6, 6)
        Chance of each state in the epoch after one of each state, from stable N2 on.
    """

    means: np.ndarray
    spreads: np.ndarray
    mixing: np.ndarray
    night_mixing: np.ndarray
    before: np.ndarray
    after: np.ndarray


@functools.cache
def fitted() -> Fitted:
    """Return the numbers fitted to real nights that the package ships."""
    return read_fitted(files(__package__).joinpath("fitted.toml").read_text(encoding="utf-8"))


def read_fitted(text: str) -> Fitted:
    """Read a table that ``tools/fit_sleep_twin.py`` wrote."""
    table = tomllib.loads(text)
    before = np.zeros((4, 4))
    before[:3, :3] = table["before"]
    before[N1] *= 1 - ALONE
    before[N1, N2] = ALONE
    before[N2, N1] = 1.0
    return Fitted(
        means=np.array(table["means"]),
        spreads=np.array(table["spreads"]),
        mixing=_root(table["correlations"]),
        night_mixing=np.array(table["night_spreads"])[:, np.newaxis] * _root(table["night_correlations"]),
        before=_rows_of_chances(before),
        after=_rows_of_chances(np.array(table["after"])),
    )


def _root(correlations: list[list[float]]) -> np.ndarray:
    # Rounding can push the smallest eigenvalue of a correlation matrix below zero; this lifts it again.
    return np.linalg.cholesky(0.99 * np.array(correlations) + 0.01 * np.eye(len(correlations)))


def _rows_of_chances(table: np.ndarray) -> np.ndarray:
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def draw_states(onset: int, n_epochs: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the states of a night whose first stable N2 is the epoch `onset`: int (n_epochs,) into STATES."""
    chains = fitted()
    states = np.full(n_epochs, N2, dtype=np.int64)
    chances = rng.random(n_epochs)
    before, after = np.cumsum(chains.before, axis=1), np.cumsum(chains.after, axis=1)
    # Backwards from stable N2, before which comes N1.
    state = N1
    for epoch in range(min(onset, n_epochs) - 1, -1, -1):
        if epoch < onset - 1:
            state = _next(before[state], chances[epoch])
        states[epoch] = state
    state = N2
    for epoch in range(onset + 2, n_epochs):
        state = _next(after[state], chances[epoch])
        states[epoch] = state
    return states


def _next(cumulated: np.ndarray, chance: float) -> int:
    # The last chance of a row may add up to less than 1 by rounding.
    return min(int(np.searchsorted(cumulated, chance, side="right")), len(cumulated) - 1)


def planted(strength: float) -> tuple[np.ndarray, np.ndarray]:
    """Return means and spreads of the levels of every state, float (states, 10), at a strength.

    The strength multiplies how far apart states lie, in units of their spreads: below 1 means and spreads approach
    those that all states have in common, above 1 epochs of a state differ less, and so do nights.
    """
    numbers = fitted()
    kept = min(strength, 1.0)
    common = numbers.means.mean(axis=0)
    logs = np.log(numbers.spreads)
    spreads = np.exp(kept * logs + (1 - kept) * logs.mean(axis=0))
    return common + kept * (numbers.means - common), spreads / max(strength, 1.0)


def describe(strength: float) -> dict[str, Any]:
    """Describe what is planted, for the card of a twin."""
    means, spreads = planted(strength)
    return {
        "bands_hz": [list(band) for band in BANDS_HZ],
        "unit": "decimal logarithm of µV²/Hz; five bands of a frontal site, then of a site at the back",
        "mean_of_levels": dict(zip(STATES, means.round(3).tolist(), strict=True)),
        "spread_of_levels": dict(zip(STATES, spreads.round(3).tolist(), strict=True)),
    }


def draw_night(strength: float, rng: np.random.Generator) -> np.ndarray:
    """Draw by how much the levels of a night differ from those of others, whatever the state: float (10,)."""
    effect: np.ndarray = fitted().night_mixing @ rng.standard_normal(2 * len(BANDS_HZ))
    return effect / max(strength, 1.0)


def draw_levels(states: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """Draw the levels of every epoch, without the effect of the night: float (epochs, 10), decimal logarithms."""
    means, spreads = planted(strength)
    drawn = rng.standard_normal((len(states), means.shape[1])) @ fitted().mixing.T
    levels: np.ndarray = means[states] + spreads[states] * drawn
    return levels


@functools.lru_cache(maxsize=32)
def ideal_error(
    strength: float, least_s: int, most_s: int, horizon_s: int, draws: int = 400, seed: int = 0
) -> float:
    """Estimate the smallest possible mean absolute error, in seconds, over simulated streams.

    The best possible decoder sees the levels of every epoch and the borders of epochs, knows the night and how
    states follow each other, and answers with the median of what is then probable. A real decoder sees less.

    Parameters
    ----------
    strength : float
        Of the planted signal; at 0 the answer is that of guessing the median.
    least_s, most_s : int
        The onset is equally probable at every epoch of this stretch of the stream.
    horizon_s : int
        Length of a stream.
    draws : int
        Streams simulated.
    """
    rng = np.random.default_rng([seed, 77])
    onsets = np.arange(least_s // EPOCH_S, most_s // EPOCH_S)
    drawn = rng.choice(onsets, size=draws)
    states = np.stack([draw_states(int(onset), horizon_s // EPOCH_S, rng) for onset in drawn])
    levels = draw_levels(states.ravel(), strength, rng).reshape(*states.shape, -1)
    posterior = onset_posterior(levels, onsets, strength)
    guesses = onsets[(np.cumsum(posterior, axis=1) < 0.5).sum(axis=1).clip(max=len(onsets) - 1)]
    return float(EPOCH_S * np.abs(guesses - drawn).mean())


def onset_posterior(levels: np.ndarray, onsets: np.ndarray, strength: float) -> np.ndarray:
    """Return the probability of every possible onset given the levels of streams: float (streams, onsets).

    Parameters
    ----------
    levels : float array (streams, epochs, 10)
        Without the effects of the nights.
    onsets : int array (onsets,)
    strength : float
    """
    chances = _chances(levels, strength)
    log = (_before(chances) + _after(chances))[:, onsets]
    weights = np.exp(log - log.max(axis=1, keepdims=True))
    posterior: np.ndarray = weights / weights.sum(axis=1, keepdims=True)
    return posterior


def _chances(levels: np.ndarray, strength: float) -> np.ndarray:
    """Return how well each state explains each epoch, up to a factor of the epoch: float (streams, epochs, states)."""
    means, spreads = planted(strength)
    apart = (levels[..., np.newaxis, :] - means) / spreads
    free = apart @ np.linalg.inv(fitted().mixing).T
    logs = -0.5 * (free**2).sum(axis=-1) - np.log(spreads).sum(axis=-1)
    chances: np.ndarray = np.exp(logs - logs.max(axis=-1, keepdims=True))
    # No state is ever wholly impossible: far out, the tail of a fitted curve is not evidence.
    return chances + 1e-12


def _before(chances: np.ndarray) -> np.ndarray:
    """Return the log probability of all epochs before i, when stable N2 begins in epoch i: float (streams, epochs)."""
    streams, epochs, _ = chances.shape
    chain = fitted().before
    logs, scale = np.full((streams, epochs), -np.inf), np.zeros(streams)
    heard = chances[:, 0, :4]
    for epoch in range(1, epochs):
        # Before stable N2 comes N1.
        logs[:, epoch] = np.log(heard[:, N1]) + scale
        total = heard.sum(axis=1, keepdims=True)
        scale = scale + np.log(total[:, 0])
        heard = chances[:, epoch, :4] * (heard / total @ chain.T)
    return logs


def _after(chances: np.ndarray) -> np.ndarray:
    """Return the log probability of epochs i, i + 1, ... when stable N2 begins in epoch i: float (streams, epochs)."""
    streams, epochs, states = chances.shape
    chain = fitted().after
    logs, scale = np.full((streams, epochs), -np.inf), np.zeros(streams)
    # What follows an epoch of each state; nothing is heard after the last.
    follows = np.ones((streams, states))
    for epoch in range(epochs - 2, -1, -1):
        pair = chances[:, epoch, N2] * chances[:, epoch + 1, N2]
        logs[:, epoch] = np.log(pair * follows[:, N2]) + scale
        follows = (chances[:, epoch + 1] * follows) @ chain.T
        total = follows.max(axis=1, keepdims=True)
        follows, scale = follows / total, scale + np.log(total[:, 0])
    return logs
