"""Baselines of the EEG Foundation Challenge 2025: band power, demographics, and EEGNeX from the zoo."""

from __future__ import annotations

from neuroarena.families.eeg2025.decoders.bandpower import LogBandPower
from neuroarena.families.eeg2025.decoders.ridge import BandPowerRidge, DemographicsRidge

__all__ = ["BandPowerRidge", "DemographicsRidge", "LogBandPower"]
