"""Baselines of the EEG Foundation Challenge 2025: band power, demographics, and EEGNeX from the zoo."""

from __future__ import annotations

from neuroarena.decoders.eeg2025.bandpower import LogBandPower
from neuroarena.decoders.eeg2025.ridge import BandPowerRidge, DemographicsRidge

__all__ = ["BandPowerRidge", "DemographicsRidge", "LogBandPower"]
