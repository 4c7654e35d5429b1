"""Re-referencing: each channel measured against its neighbours, its pair or the average."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.features.blocks import check_block, window_slices
from neuroarena.features.contacts import contact_rows, neighbours_of, probes_of

# Gathered neighbours are added up in runs of this size: 0.24 ms per window of 120 x 2048 where the
# run stays in the cache, 0.49 ms for the whole block at once, which also needs a second copy.
RUN_BYTES = 2 << 20


@dataclass(frozen=True)
class Laplacian:
    """Subtract from each contact the mean of its neighbours on the probe.

    A label is split at its last letter into stem and number (`F10Fa14` is contact 14 of `F10Fa`).
    Neighbours have the same stem and a number one lower or higher, among the channels given. They
    are taken raw, before re-referencing. This is Neuroprobe's `laplacian`.

    Parameters
    ----------
    both
        False: one or two neighbours are used, a channel without any is left as it is, and all
        channels are kept. True: a channel needs both neighbours and is dropped otherwise (the
        rule of BrainBERT).

    Raises
    ------
    InputError
        When signals and table disagree, two labels name one contact, or `both` leaves no channel.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["A1", "A2", "A3"]})
    >>> signals = np.array([[[1.0], [5.0], [3.0]]], dtype=np.float32)
    >>> Laplacian()(signals, table, 2048.0)[0].ravel().tolist()
    [-4.0, 3.0, -2.0]
    """

    both: bool = False

    def __call__(
        self,
        signals: np.ndarray,
        channels: pd.DataFrame,
        rate_hz: float,  # noqa: ARG002
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Re-reference a block (window, channel, ...)."""
        block = check_block(signals, channels, "Laplacian")
        below, above, count = neighbours_of(tuple(channels["name"]))
        if not self.both:
            result = _minus_mean_of_two(block, np.arange(len(channels)), below, above)
            alone = np.flatnonzero(count == 0)
            result[:, alone] = block[:, alone]
            return result, channels
        kept = np.flatnonzero(count == 2)
        if not kept.size:
            raise InputError(
                f"Laplacian(both=True): none of the {len(channels)} channels has both neighbours "
                f"({_some(channels)}). Use both=False, or keep whole probes."
            )
        return _minus_mean_of_two(block, kept, below[kept], above[kept]), _rows(channels, kept)


def _minus_mean_of_two(
    block: np.ndarray, own: np.ndarray, below: np.ndarray, above: np.ndarray
) -> np.ndarray:
    result = np.empty((len(block), len(own), *block.shape[2:]), dtype=np.float32)
    everything = len(own) == block.shape[1]
    for run in window_slices(len(block), block[:1].nbytes, RUN_BYTES):
        raw, done = block[run], result[run]
        # mode="clip" lets NumPy write into `out` without buffering; the indices are all in range.
        np.take(raw, below, axis=1, out=done, mode="clip")
        done += np.take(raw, above, axis=1)
        done *= np.float32(-0.5)
        done += raw if everything else np.take(raw, own, axis=1)
    return result


@dataclass(frozen=True)
class Bipolar:
    """Replace contacts by the differences of consecutive contacts of a probe.

    Channel `A1-A2` is `A1` minus `A2`, for numbers that follow each other without a gap, in contact
    order; probes in order of first appearance. Its position is the midpoint, its region that of the
    two contacts where they agree, else "". Channels that belong to no probe are left out.

    Raises
    ------
    InputError
        When signals and table disagree, two labels name one contact, or no two contacts follow
        each other.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["A2", "A1"], "kind": "ieeg", "x": [2.0, 0.0], "y": 0.0, "z": 0.0,
    ...                       "region": ["insula", "insula"]})
    >>> signals, pairs = Bipolar()(np.array([[[1.0], [5.0]]], dtype=np.float32), table, 2048.0)
    >>> pairs["name"].tolist(), pairs["x"].tolist(), signals.ravel().tolist()
    (['A1-A2'], [1.0], [4.0])
    """

    def __call__(
        self,
        signals: np.ndarray,
        channels: pd.DataFrame,
        rate_hz: float,  # noqa: ARG002
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Re-reference a block (window, channel, ...)."""
        block = check_block(signals, channels, "Bipolar")
        names = tuple(channels["name"])
        number = {row: contact.number for contact, row in contact_rows(names).items()}
        pairs = [
            (first, second)
            for rows in probes_of(names).values()
            for first, second in itertools.pairwise(rows)
            if number[second] == number[first] + 1
        ]
        if not pairs:
            raise InputError(
                f"Bipolar: no two of the {len(channels)} channels are consecutive contacts of a probe "
                f"({_some(channels)}). Keep neighbouring contacts, or use another reference."
            )
        first, second = np.array(pairs, dtype=np.intp).T
        result = np.empty((len(block), len(pairs), *block.shape[2:]), dtype=np.float32)
        for run in window_slices(len(block), block[:1].nbytes, RUN_BYTES):
            np.take(block[run], first, axis=1, out=result[run], mode="clip")
            result[run] -= np.take(block[run], second, axis=1)
        return result, _pair_table(_rows(channels, first), _rows(channels, second))


def _pair_table(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    table = first.copy()
    table["name"] = first["name"] + "-" + second["name"]
    for axis in ("x", "y", "z"):
        table[axis] = (first[axis] + second[axis]) / 2
    table["region"] = first["region"].where(first["region"] == second["region"], "")
    return table


@dataclass(frozen=True)
class CommonAverage:
    """Subtract the average over channels.

    Parameters
    ----------
    per_probe
        False: the average of all channels given. True: the average of the channel's own probe; a
        channel that is alone on its probe, or on no probe, is left as it is.

    Raises
    ------
    InputError
        When signals and table disagree, or there is a single channel: it would become zero.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["A1", "B1"]})
    >>> CommonAverage()(np.array([[[1.0], [5.0]]], dtype=np.float32), table, 2048.0)[0].ravel().tolist()
    [-2.0, 2.0]
    """

    per_probe: bool = False

    def __call__(
        self,
        signals: np.ndarray,
        channels: pd.DataFrame,
        rate_hz: float,  # noqa: ARG002
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Re-reference a block (window, channel, ...)."""
        block = check_block(signals, channels, "CommonAverage")
        if not self.per_probe:
            if len(channels) < 2:
                raise InputError(
                    f"CommonAverage: needs at least two channels, got {len(channels)} ({_some(channels)}); "
                    "its own average would turn a channel into zeros."
                )
            return block - block.mean(axis=1, keepdims=True), channels
        result = block.copy()
        for rows in probes_of(tuple(channels["name"])).values():
            if len(rows) > 1:
                result[:, rows] -= block[:, rows].mean(axis=1, keepdims=True)
        return result, channels


def _rows(channels: pd.DataFrame, rows: np.ndarray) -> pd.DataFrame:
    return channels.iloc[rows].reset_index(drop=True)


def _some(channels: pd.DataFrame, most: int = 6) -> str:
    names = list(channels["name"])
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
