"""What can be chosen about a map, and what a family says about its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from neuroarena.benchmarks import Benchmark
from neuroarena.errors import InputError
from neuroarena.maps.bin_features import KINDS, SPECTROGRAM_FROM_HZ, Kind
from neuroarena.maps.conventions import Conventions

if TYPE_CHECKING:
    from neuroarena.maps.grid import MapGrid
    from neuroarena.maps.page.contents import Section

WINDOW_S, STRIDE_S = 0.25, 0.125
# Fewer draws cannot give a p value of .05; below the second number figures say so.
LEAST_DRAWS, DRAWS_FOR_FIGURES = 19, 1000


@dataclass(frozen=True)
class MapSettings:
    """What is computed; None is what the family says, or what fits the windows of the benchmark.

    Attributes
    ----------
    window_s, stride_s : float or None
        Length of a time bin, and from one to the next.
    first_s, last_s : float or None
        Where the first bin begins and the last one ends, in seconds from the event.
    features : {"spectrogram", "voltage"} or None
        By default voltage below 500 samples per second.
    draws : int
        Of the null; 0 for a map without one.
    seed : int
        Of the shifts.

    Raises
    ------
    InputError
        For lengths that are not positive, an end before its beginning, or fewer than 19 draws.
    """

    window_s: float | None = None
    stride_s: float | None = None
    first_s: float | None = None
    last_s: float | None = None
    features: Kind | None = None
    draws: int = DRAWS_FOR_FIGURES
    seed: int = 0

    def __post_init__(self) -> None:
        for flag, value in (("--window", self.window_s), ("--stride", self.stride_s)):
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InputError(f"{flag} is a length in seconds above 0, got {value:g}.")
        if self.first_s is not None and self.last_s is not None and self.first_s >= self.last_s:
            raise InputError(f"--tmin {self.first_s:g} is not before --tmax {self.last_s:g}.")
        if self.features is not None and self.features not in KINDS:
            raise InputError(f'--features is {" or ".join(KINDS)}, got "{self.features}".')
        if self.draws != 0 and self.draws < LEAST_DRAWS:
            raise InputError(
                f"--null {self.draws} draws cannot give a p value of 0.05. Take {LEAST_DRAWS} or more (1000 for "
                "figures), or 0 for a map without a null."
            )

    def filled(self, given: MapSettings) -> MapSettings:
        """Return these settings with those that are None taken from others."""
        names = ("window_s", "stride_s", "first_s", "last_s", "features")
        own = {name: getattr(self, name) for name in names}
        return replace(
            self, **{name: getattr(given, name) if value is None else value for name, value in own.items()}
        )

    def kind_at(self, rate_hz: float) -> Kind:
        """Return the features for a rate."""
        if self.features is not None:
            return self.features
        return "spectrogram" if rate_hz >= SPECTROGRAM_FROM_HZ else "voltage"


def window_begin(benchmark: Benchmark) -> float:
    """Return where the windows of a benchmark begin, in seconds from the event: at it, unless its rules say so."""
    window: Any = benchmark.options.get("window_s", (0.0,))
    return float(window[0])


@dataclass(frozen=True)
class FamilyMaps:
    """The face `maps` of a family: its published time bins, and where its electrodes are.

    Attributes
    ----------
    published : MapSettings
        Time bins and features as published; used where nothing else is asked for.
    begin_s : callable
        ``benchmark -> seconds from the event`` at which its windows begin.
    locate : callable or None
        ``(data, subject, names) -> DataFrame`` of electrodes with positions and regions, as
        :func:`neuroarena.maps.placement.electrode_table` makes it; by default what the recordings say.
    conventions : Conventions or None
        What its paper chose for its figures, for ``--as-published``.
    titles : mapping of str to str
        How its tasks are called on a page.
    sections : mapping of str to callable
        What its page can have besides, by name: ``(grid, data) -> Section``. Those in `usual` are made wherever the
        data are named, the others on request.
    usual : tuple of str
    """

    published: MapSettings = MapSettings()
    begin_s: Callable[[Benchmark], float] = window_begin
    locate: Callable[[str | None, str, Sequence[str]], pd.DataFrame] | None = None
    conventions: Conventions | None = None
    titles: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, Callable[[MapGrid, str | None], Section]] = field(default_factory=dict)
    usual: tuple[str, ...] = ()
