"""Where the time bins of a map lie in what is read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.features import FeatureChain
from neuroarena.maps.bin_features import BinFeatures
from neuroarena.maps.settings import STRIDE_S, WINDOW_S, MapSettings
from neuroarena.maps.windows import window_bins
from neuroarena.recordings import Recording


@dataclass(frozen=True)
class TimeAxis:
    """The time bins of a benchmark's windows, in seconds and in samples.

    Attributes
    ----------
    table : DataFrame
        start_s, centre_s, end_s of every bin, in seconds from the event.
    shift, length : int
        What is read: samples from an example's start, and how many.
    bins : tuple of int
        First sample of every bin in what is read, after preparation.
    features : BinFeatures
    read_rate_hz : float
        Samples per second of the recordings.
    preparation : FeatureChain
    """

    table: pd.DataFrame
    shift: int
    length: int
    bins: tuple[int, ...]
    features: BinFeatures
    read_rate_hz: float
    preparation: FeatureChain

    @classmethod
    def of(
        cls,
        settings: MapSettings,
        recording: Recording,
        n_samples: int,
        preparation: FeatureChain,
        begin_s: float,
    ) -> TimeAxis:
        """Lay out the bins.

        Without a preparation bins may lie anywhere around the event; prepared windows are used as they are.

        Parameters
        ----------
        settings : MapSettings
        recording : Recording
            Any one: all have one rate.
        n_samples : int
            Of an example.
        preparation : FeatureChain
            What examples go through.
        begin_s : float
            Where an example begins, or a prepared one, in seconds from the event.

        Raises
        ------
        InputError
            When no bin fits, or bins reach beyond windows that are prepared.
        """
        rate = recording.rate_hz
        after, samples = rate, n_samples
        if preparation.steps:
            after = preparation.rate_after(rate)
            shape = preparation.output_shape(len(recording.channels), n_samples, rate, recording.channels)
            if len(shape) != 2:
                raise InputError("The windows of this benchmark are prepared as something else than signals.")
            samples = shape[1]
        end_s = begin_s + samples / after
        first_s = begin_s if settings.first_s is None else settings.first_s
        last_s = end_s if settings.last_s is None else settings.last_s
        window_s = min(WINDOW_S, last_s - first_s) if settings.window_s is None else settings.window_s
        table = window_bins(first_s, last_s, window_s, settings.stride_s or STRIDE_S)
        if table.empty:
            raise InputError(
                f"No time bin of {window_s:g} s fits between {first_s:g} and {last_s:g} s. Choose a shorter --window, "
                "or an earlier --tmin or a later --tmax."
            )
        if preparation.steps and (first_s < begin_s - 1e-9 or last_s > end_s + 1e-9):
            raise InputError(
                f"Time bins from {first_s:g} to {last_s:g} s reach beyond the windows, {begin_s:g} to {end_s:g} s, "
                "which the benchmark prepares (filters, resamples). Ask for longer windows there."
            )
        bin_samples = round(window_s * after)
        read_from = begin_s if preparation.steps else first_s
        bins = tuple(int(each) for each in np.rint((table["start_s"] - read_from) * after))
        whole = (0, n_samples)
        around = (round((first_s - begin_s) * rate), bins[-1] + bin_samples)
        shift, length = whole if preparation.steps else around
        if preparation.steps:
            bins = tuple(min(each, samples - bin_samples) for each in bins)
        features = BinFeatures(settings.kind_at(after), after, bin_samples)
        return cls(table, shift, length, bins, features, rate, preparation)

    def channels(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the channel table after the preparation."""
        if not self.preparation.steps:
            return table
        blank = np.zeros((1, len(table), self.length), dtype=np.float32)
        return self.preparation(blank, table, self.read_rate_hz)[1]
