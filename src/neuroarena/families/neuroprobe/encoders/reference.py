"""The encoders' own preparation of signals: line noise removed causally, then a strict Laplacian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.features.blocks import check_block
from neuroarena.features.contacts import neighbours_of
from neuroarena.recordings.requests import check_rate

NOTCHES_HZ = (60, 120, 180, 240, 300, 360)
NOTCH_Q = 30.0
# What the published script's filter along the pair of neighbours comes to: the neighbours are not
# filtered in time, and weigh 0.428927 (one contact up) and 0.468999 (one contact down).
PUBLISHED_ABOVE, PUBLISHED_BELOW = 0.428927, 0.468999


@dataclass(frozen=True)
class NotchLaplacian:
    """Remove line noise and subtract the mean of the two neighbouring contacts.

    Six notches (60 to 360 Hz, Q 30) run forward once along time. An electrode is kept only where
    both neighbours on its probe are present; the others are dropped. The authors filter whole
    sessions before cutting windows; here each window is filtered by itself, from a filter settled
    on its first sample.

    Parameters
    ----------
    laplacian
        "clean": target and neighbours are filtered, the neighbours weigh a half each.
        "as_published": what the published script computes, for reproduction: the neighbours are not
        filtered and weigh 0.428927 (above) and 0.468999 (below).

    Raises
    ------
    InputError
        For another word; when called, for a rate of 720 Hz or less, or when no electrode has both
        neighbours.
    """

    laplacian: Literal["clean", "as_published"] = "clean"

    def __post_init__(self) -> None:
        if self.laplacian not in ("clean", "as_published"):
            raise InputError(
                f'NotchLaplacian: laplacian must be "clean" or "as_published", got "{self.laplacian}".'
            )

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Re-reference a block (window, channel, time); the table keeps the electrodes that stay."""
        block = check_block(signals, channels, "NotchLaplacian", time_series=True)
        rate = check_rate(rate_hz, "NotchLaplacian")
        if rate <= 2 * max(NOTCHES_HZ):
            raise InputError(
                f"NotchLaplacian: notches up to {max(NOTCHES_HZ)} Hz need a rate above "
                f"{2 * max(NOTCHES_HZ)} Hz, got {rate:g} Hz."
            )
        below, above, number = neighbours_of(tuple(channels["name"]))
        kept = np.flatnonzero(number == 2)
        if not kept.size:
            raise InputError(
                f"NotchLaplacian: none of the {len(channels)} electrodes has both neighbours on its probe. "
                'Use whole probes, or make the decoder with reference="none".'
            )
        result = np.empty((len(block), len(kept), block.shape[2]), dtype=np.float32)
        for place, window in enumerate(block):
            raw = window.astype(np.float64)
            if self.laplacian == "clean":
                clean = remove_line_noise(raw, rate)
                result[place] = clean[kept] - (clean[below[kept]] + clean[above[kept]]) / 2
            else:
                clean = remove_line_noise(raw[kept], rate)
                neighbours = PUBLISHED_ABOVE * raw[above[kept]] + PUBLISHED_BELOW * raw[below[kept]]
                result[place] = clean - neighbours
        return result, channels.iloc[kept].reset_index(drop=True)


def remove_line_noise(signals: np.ndarray, rate_hz: float) -> np.ndarray:
    """Run the six notches forward along the last axis, each settled on the first sample."""
    from scipy.signal import iirnotch, lfilter, lfilter_zi

    for frequency in NOTCHES_HZ:
        b, a = iirnotch(frequency / (rate_hz / 2), NOTCH_Q)
        settled = lfilter_zi(b, a) * signals[..., :1]
        signals, _ = lfilter(b, a, signals, axis=-1, zi=settled)
    return signals
