"""Leaks in the signals themselves: channels that hold the answer, and samples that occur twice."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from neuroarena.evaluation.leak_guessing import Targets, permutation_p
from neuroarena.recordings import Recording

# Share of a channel's trivial statistics that the target explains; a brain's own answer to a class stays below.
TELLING = 0.9
# Share of samples that equal the one before them, in a channel that is not a signal.
STILL = 0.5
FEW_VALUES, ENOUGH_SAMPLES = 8, 64
LONGEST_SAMPLES = 4096
LEAST_WINDOWS = 8
MOST_AXES = 8
PIECE_SAMPLES = 64
MOST_PIECES = 512
STATISTICS = ("mean", "last sample")


@dataclass(frozen=True)
class Look:
    """Some windows of one recording.

    Attributes
    ----------
    recording : Recording
    starts : int array (n,)
    length : int
        Samples of a window.
    targets : Targets
        Of the windows.
    """

    recording: Recording
    starts: np.ndarray
    length: int
    targets: Targets


@dataclass(frozen=True)
class StepChannel:
    """A channel that changes only in steps, like a trigger.

    Attributes
    ----------
    name : str
    still : float
        Share of samples that equal the one before.
    """

    name: str
    still: float


@dataclass(frozen=True)
class TellingChannel:
    """The channel whose level the target explains best.

    Attributes
    ----------
    name, statistic : str
    explained : float
        Share of the statistic's variance that the target explains.
    p : float or None
        By shuffled targets; None when too little is explained for it to matter.
    """

    name: str
    statistic: str
    explained: float
    p: float | None


class ChannelLook:
    """What is found in the channels of looks that share electrodes.

    Parameters
    ----------
    looks : iterable of Look
        Read one after the other.
    inside : bool
        Whether targets differ inside recordings (levels are then compared inside each), or between them only.
    """

    def __init__(self, looks: Iterable[Look], inside: bool) -> None:
        self.inside = inside
        self._levels: dict[tuple[str, ...], list[tuple[np.ndarray, Targets]]] = defaultdict(list)
        still: dict[str, list[float]] = defaultdict(list)
        for look in looks:
            signals = look.recording.windows(look.starts, min(look.length, LONGEST_SAMPLES))
            names = tuple(look.recording.channels["name"])
            levels = np.stack([signals.mean(axis=2, dtype=np.float64), signals[:, :, -1]], axis=2)
            self._levels[names].append((levels, look.targets))
            for name, share in zip(names, _still(signals), strict=True):
                if share is not None:
                    still[name].append(share)
        self._still = {name: float(np.mean(shares)) for name, shares in still.items()}

    def steps(self) -> list[StepChannel]:
        """List channels that hold steps rather than a signal; flat ones are not listed."""
        return [StepChannel(name, share) for name, share in self._still.items() if share >= STILL]

    def telling(self, rng: np.random.Generator) -> TellingChannel | None:
        """Find the channel whose mean or last sample the target explains best; None when nothing can be said."""
        best: TellingChannel | None = None
        montages = [
            (names, *made)
            for names, looks in self._levels.items()
            if (made := self._pool_levels(looks)) is not None
        ]
        for names, levels, values, _ in montages:
            shares = _explain_variance(levels, values)
            place = int(shares.argmax())
            if best is None or shares[place] > best.explained:
                channel, statistic = divmod(place, len(STATISTICS))
                best = TellingChannel(names[channel], STATISTICS[statistic], float(shares[place]), None)
        if best is None or best.explained < TELLING:
            return best

        def by_chance() -> float:
            drawn = [
                float(_explain_variance(levels, values[_shuffle(owner, rng)]).max())
                for _, levels, values, owner in montages
            ]
            return float(max(drawn))

        return TellingChannel(
            best.name, best.statistic, best.explained, permutation_p(best.explained, by_chance)
        )

    def _pool_levels(
        self, looks: list[tuple[np.ndarray, Targets]]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return levels (n, channels x statistics), targets (n, axes) and owners (n,), all without their means."""
        values = np.concatenate([targets.values for _, targets in looks])
        owner = np.repeat(np.arange(len(looks)), [len(levels) for levels, _ in looks])
        if not self.inside:
            owner = np.zeros(len(owner), dtype=np.int64)
        levels = np.concatenate([levels.reshape(len(levels), -1) for levels, _ in looks])
        groups = [np.flatnonzero(owner == each) for each in np.unique(owner)]
        for rows in groups:
            levels[rows] -= levels[rows].mean(axis=0)
            spread = levels[rows].std(axis=0)
            levels[rows] /= np.where(spread > 0, spread, 1)
            values[rows] = values[rows] - values[rows].mean(axis=0)
        values = values[:, :MOST_AXES]
        # Many columns explain anything in few windows.
        if len(values) < max(LEAST_WINDOWS, 5 * np.linalg.matrix_rank(values)) or not values.any():
            return None
        return levels, values, owner


def _shuffle(owner: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    rows = np.arange(len(owner))
    for each in np.unique(owner):
        own = np.flatnonzero(owner == each)
        rows[own] = rng.permutation(own)
    return rows


def _explain_variance(levels: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the share of each column's variance that lies in the space of the targets."""
    left, sizes, _ = np.linalg.svd(values, full_matrices=False)
    basis = left[:, sizes > 1e-9 * sizes.max()]
    whole = (levels**2).sum(axis=0)
    inside: np.ndarray = ((basis.T @ levels) ** 2).sum(axis=0)
    shares: np.ndarray = np.divide(inside, whole, out=np.zeros_like(whole), where=whole > 1e-12)
    return shares


def _still(signals: np.ndarray) -> Iterator[float | None]:
    """Return for each channel the share of samples that equal the one before; None where it is flat throughout."""
    if signals.shape[2] < 2:
        yield from [None] * signals.shape[1]
        return
    equal = signals[:, :, 1:] == signals[:, :, :-1]
    for channel in range(signals.shape[1]):
        moving = ~equal[:, channel].all(axis=1)
        if not moving.any():
            levels = np.unique(signals[:, channel, 0])
            yield 1.0 if len(levels) > 1 else None
        elif signals.shape[2] >= ENOUGH_SAMPLES and _values_a_window(signals[moving, channel]) <= FEW_VALUES:
            yield 1.0
        else:
            yield float(equal[moving, channel].mean())


def _values_a_window(windows: np.ndarray) -> float:
    return float(np.median([len(np.unique(window)) for window in windows[:FEW_VALUES]]))


def pieces(recording: Recording, starts: np.ndarray, length: int) -> dict[int, bytes]:
    """Hash the first samples of windows: place among the starts -> hash; windows without any change are left out."""
    found: dict[int, bytes] = {}
    for positions, windows in recording.iter_windows(starts, min(length, PIECE_SAMPLES)):
        for position, window in zip(positions, windows, strict=True):
            if (window != window[:, :1]).any():
                found[int(position)] = hashlib.sha256(window.tobytes()).digest()
    return found
