"""Classical decoders of brain-computer interfaces: covariances, band power, canonical correlation."""

from __future__ import annotations

from neuroarena.decoders.bci.covariances import CspLda, RiemannLr
from neuroarena.decoders.bci.flicker import Discriminant, cca, filterbank_lda
from neuroarena.features.bands import BandCovariances, BandPower, FlickerCorrelation

__all__ = [
    "BandCovariances",
    "BandPower",
    "CspLda",
    "Discriminant",
    "FlickerCorrelation",
    "RiemannLr",
    "cca",
    "filterbank_lda",
]
