"""Decoders of EMG-to-text: a floor, a linear frame classifier and emg2qwerty's network, all with greedy CTC."""

from __future__ import annotations

from neuroarena.decoders.emg.frequent import MostFrequentKey
from neuroarena.decoders.emg.greedy import GreedyText, greedy_text
from neuroarena.decoders.emg.linear import CtcLinear
from neuroarena.decoders.emg.tds import TdsCtc, tds_ctc

__all__ = ["CtcLinear", "GreedyText", "MostFrequentKey", "TdsCtc", "greedy_text", "tds_ctc"]
