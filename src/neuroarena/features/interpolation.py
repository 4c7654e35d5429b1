"""Bring every recording to the same electrodes, by interpolation on the scalp."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.errors import InputError, MissingDependency
from neuroarena.features.blocks import check_block
from neuroarena.recordings.channels import channel_table


@dataclass(frozen=True)
class InterpolateChannels:
    """Return the named electrodes in this order; those that a recording lacks are interpolated from the others.

    Parameters
    ----------
    names
        Electrodes wanted, as the montage spells them.
    montage
        A montage of MNE-Python, which knows the positions; channels of a recording that it lacks are left out.

    Notes
    -----
    Spherical splines of MNE-Python: Perrin et al. (1989), Electroenceph. Clin. Neurophysiol. 72, 184.
    """

    names: tuple[str, ...]
    montage: str = "colin27_1020"

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        if not self.names or len(set(self.names)) < len(self.names):
            raise InputError("InterpolateChannels: name each electrode once, and at least one.")

    def __call__(
        self,
        signals: np.ndarray,
        channels: pd.DataFrame,
        rate_hz: float,  # noqa: ARG002
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Turn a block (window, channel, time) into (window, named electrode, time)."""
        block = check_block(signals, channels, "InterpolateChannels", time_series=True)
        present, weights, positions = _weights(tuple(channels["name"]), self.names, self.montage)
        found = np.einsum("ec,nct->net", weights, block[:, list(present)])
        return found.astype(np.float32), channel_table(self.names, kind="eeg", xyz=positions)


@functools.lru_cache(maxsize=64)
def _weights(
    names: tuple[str, ...], wanted: tuple[str, ...], montage: str
) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
    """Return the rows of known electrodes, the weights (wanted, known) and the positions of the wanted ones, in m."""
    try:
        import mne
    except ImportError as error:
        raise MissingDependency("MNE-Python", "eeg", "Interpolating channels") from error
    try:
        known = mne.channels.make_standard_montage(montage).get_positions()["ch_pos"]
    except ValueError as error:
        raise InputError(
            f'InterpolateChannels: MNE-Python has no montage "{montage}". Names: '
            f"{', '.join(mne.channels.get_builtin_montages())}."
        ) from error
    strange = [name for name in wanted if name not in known]
    if strange:
        raise InputError(
            f'InterpolateChannels: the montage "{montage}" has no electrode {", ".join(strange)}. Leave it out.'
        )
    present = tuple(row for row, name in enumerate(names) if name in known)
    missing = [name for name in wanted if name not in names]
    if len(present) < min(4, len(wanted)):
        raise InputError(
            f'InterpolateChannels: of the channels {", ".join(names[:12])} the montage "{montage}" knows '
            f"{len(present)}; interpolation needs four or more."
        )
    ours = [names[row] for row in present]
    # Interpolation is linear: what it makes of single electrodes are its weights.
    data = np.zeros((len(ours) + len(missing), len(ours)))
    data[: len(ours)] = np.eye(len(ours))
    if missing:
        info = mne.create_info([*ours, *missing], 100.0, "eeg", verbose="error")
        raw = mne.io.RawArray(data, info, verbose="error")
        raw.set_montage(montage, verbose="error")
        raw.info["bads"] = missing
        data = raw.interpolate_bads(verbose="error").get_data()
    row_of = {name: row for row, name in enumerate([*ours, *missing])}
    return present, data[[row_of[name] for name in wanted]], np.array([known[name] for name in wanted])
