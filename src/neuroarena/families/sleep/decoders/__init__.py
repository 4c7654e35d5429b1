"""Decoders of the sleep track: floors, a classical stager and a convolutional one, all played as streams."""

from __future__ import annotations

from typing import Any

from neuroarena.families.sleep.decoders.bandpower import BandPower, BandpowerStager
from neuroarena.families.sleep.decoders.conv import ConvStager, TrainedStager, load_stager
from neuroarena.families.sleep.decoders.floors import SleepChance, SleepMedian

__all__ = [
    "BandPower",
    "BandpowerStager",
    "ConvStager",
    "SleepChance",
    "SleepMedian",
    "TrainedStager",
    "bandpower_stager",
    "conv_stager",
    "load_stager",
    "sleep_chance",
    "sleep_median",
]


def sleep_median() -> SleepMedian:
    """Answer with the median of the training part, whatever is heard."""
    return SleepMedian()


def sleep_chance() -> SleepChance:
    """Guess: answer with the target of a training recording, drawn at random."""
    return SleepChance()


def bandpower_stager(**options: Any) -> BandpowerStager:
    """Band power against a running baseline, a multinomial logistic stager, and the first stable N2."""
    return BandpowerStager(**options)


def conv_stager(weights: str | None = None, **options: Any) -> ConvStager:
    """Learned filters and their power, and the first stable N2; with `weights`, of a file instead of trained."""
    return ConvStager(**options) if weights is None else TrainedStager(weights=weights, **options)
