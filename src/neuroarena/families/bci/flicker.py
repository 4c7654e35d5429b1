"""Decoders of steady-state responses to flicker: band power, and canonical correlation."""

from __future__ import annotations

from neuroarena.decoders.discriminant import Discriminant
from neuroarena.decoders.pipelines import fbcca
from neuroarena.features import FeatureChain
from neuroarena.features.bands import BandPower, FlickerCorrelation

# The flicker frequencies of the exoskeleton study.
EXO_HZ = (13.0, 17.0, 21.0)


def cca(
    frequencies_hz: tuple[float, ...] = EXO_HZ, harmonics: int = 2, n_correlations: int = 2
) -> Discriminant:
    """Canonical correlation with sines at 13, 17 and 21 Hz, or others by name, then linear discriminant analysis."""
    return Discriminant(FeatureChain((FlickerCorrelation(tuple(frequencies_hz), harmonics, n_correlations),)))


def filterbank_cca(
    frequencies_hz: tuple[float, ...] = EXO_HZ, harmonics: int = 2, n_correlations: int = 2
) -> Discriminant:
    """Canonical correlation in three bands with sines at 13, 17 and 21 Hz, or others by name, then a discriminant."""
    return fbcca(tuple(frequencies_hz), harmonics, n_correlations)


def filterbank_lda(
    frequencies_hz: tuple[float, ...] = EXO_HZ, harmonics: int = 2, half_width_hz: float = 0.5
) -> Discriminant:
    """Log power around 13, 17 and 21 Hz, or others by name, and their harmonics, then linear discriminant analysis."""
    centres = [frequency * harmonic for frequency in frequencies_hz for harmonic in range(1, harmonics + 1)]
    bands = tuple((centre - half_width_hz, centre + half_width_hz) for centre in centres)
    return Discriminant(FeatureChain((BandPower(bands),)))
