"""Decoders of EMG-to-text: a floor, a linear frame classifier and emg2qwerty's network, all with greedy CTC."""

from __future__ import annotations

from neuroarena.decoders.ctc import GreedyText, greedy_text
from neuroarena.families.emg.decoders.frequent import MostFrequentKey
from neuroarena.families.emg.decoders.linear import CtcLinear
from neuroarena.families.emg.decoders.shapes import convert_emg2qwerty
from neuroarena.families.emg.decoders.tds import TdsCtc, tds_ctc

__all__ = [
    "CtcLinear",
    "GreedyText",
    "MostFrequentKey",
    "TdsCtc",
    "convert_emg2qwerty",
    "greedy_text",
    "tds_ctc",
]
