"""Statistics of nights, for comparing simulated ones with real ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neuroarena.datasets.likeness import describe_spread, estimate_density, measure_bands, measure_distance
from neuroarena.families.sleep.sleep_edf.hypnogram import first_stable_n2
from neuroarena.families.sleep.sleep_edf.twin_sleep import BANDS_HZ, EPOCH_S, SITES, STAGES
from neuroarena.recordings import Recording

# The stretch around stable N2 that is compared: 25 minutes before it and an hour after, as the twin was fitted to.
BEFORE, AFTER = 50, 120
W, N1, N2 = range(3)
_SEGMENT_S = 4.0


def cut_stretch(stages: Sequence[str]) -> slice:
    """Return the epochs of a night that are compared, or all where it has no stable N2."""
    onset = first_stable_n2(stages)
    return slice(0, None) if onset is None else slice(max(onset - BEFORE, 0), onset + AFTER)


def measure_levels(recording: Recording, epochs: np.ndarray) -> np.ndarray:
    """Return the levels of epochs of 30 s, given by number: float (epochs, sites, bands), dB µV²/Hz."""
    length = round(EPOCH_S * recording.rate_hz)
    windows = recording.windows(np.asarray(epochs) * length, length)
    frequencies, density = estimate_density(windows, recording.rate_hz, _SEGMENT_S)
    return measure_bands(frequencies, density, BANDS_HZ)


def describe_levels(levels: np.ndarray, stages: np.ndarray, sites: Sequence[str] = SITES) -> dict[str, str]:
    """Describe how stages sound.

    Parameters
    ----------
    levels : float array (epochs, sites, bands)
        dB µV²/Hz, in the bands of the twin.
    stages : int array (epochs,)
        Into W, N1, N2, N3, REM.
    sites : sequence of str
    """
    said = {}
    for site, name in enumerate(sites):
        for band, (low, high) in enumerate(BANDS_HZ):
            middle = [np.median(levels[stages == stage, site, band]) for stage in range(len(STAGES))]
            said[f"{name}, {low:g} to {high:g} Hz in W, N1, N2, N3, REM (dB µV²/Hz, medians)"] = ", ".join(
                f"{value:.1f}" for value in middle
            )
    for site, name in enumerate(sites):
        for band, what in ((0, "delta"), (len(BANDS_HZ) - 1, "30 to 50 Hz")):
            at = [levels[stages == stage, site, band] for stage in (W, N1, N2)]
            said[f"{name}, {what}: d of N2 against W"] = f"{measure_distance(at[N2], at[W]):+.2f}"
            said[f"{name}, {what}: d of N1 against W"] = f"{measure_distance(at[N1], at[W]):+.2f}"
    if len(sites) == 2:
        asleep = levels[stages == N2]
        both = [np.corrcoef(asleep[:, 0, band], asleep[:, 1, band])[0, 1] for band in range(len(BANDS_HZ))]
        said["correlation of the two sites over epochs of N2, by band"] = ", ".join(
            f"{value:.2f}" for value in both
        )
    return said


def describe_stages(nights: Sequence[Sequence[str]]) -> dict[str, str]:
    """Describe hypnograms, one stage per epoch: how long they are, when sleep comes and what it is made of."""
    onsets = [first_stable_n2(night) for night in nights]
    cut = np.concatenate([np.array(night)[cut_stretch(night)] for night in nights])
    shares = [np.mean(cut[np.isin(cut, STAGES)] == stage) for stage in STAGES]
    scored = [np.flatnonzero(np.isin(night, STAGES)).max() + 1 for night in nights]
    first = [list(night).index("N1") if "N1" in night else None for night in nights]
    drowsy = [
        (onset - start) * EPOCH_S / 60
        for onset, start in zip(onsets, first, strict=True)
        if onset is not None and start is not None and onset - start <= BEFORE
    ]
    return {
        "nights": str(len(nights)),
        "scored length of a recording (hours)": describe_spread(np.array(scored) * EPOCH_S / 3600, 1),
        "stable N2 after the start (hours)": describe_spread(
            [onset * EPOCH_S / 3600 for onset in onsets if onset is not None], 1
        ),
        "from the first N1 to stable N2, within 25 minutes (minutes)": describe_spread(drowsy, 1),
        "shares of W, N1, N2, N3, REM from 25 minutes before stable N2 to an hour after": ", ".join(
            f"{share:.2f}" for share in shares
        ),
    }
