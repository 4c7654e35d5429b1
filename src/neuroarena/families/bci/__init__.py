"""Track 2, BCI: commands decoded on later sessions of the same person, without recalibration."""

from __future__ import annotations

from neuroarena.decoders.covariances import CspLda, RiemannLr
from neuroarena.decoders.discriminant import Discriminant
from neuroarena.families.bci.family import FAMILY, Bci
from neuroarena.families.bci.flicker import cca, filterbank_lda
from neuroarena.families.bci.folds import cross_session, later_sessions, leave_one_subject_out
from neuroarena.features.bands import BandCovariances, BandPower, FlickerCorrelation
from neuroarena.lazily import lazy_names

# What the family's datasets and decoders offer, imported when it is first used.
_MODULES: dict[str, tuple[str, ...]] = {
    ".bci_commands": (
        "BciCommands",
        "CUES",
    ),
    ".shipped": ("shipped_bci",),
    ".ssvep_exo": (
        "AUTHORS_EXCLUSIONS",
        "CLASSES",
        "SsvepExo",
    ),
}
__getattr__, __dir__, _later = lazy_names(__name__, _MODULES)

__all__ = [
    "FAMILY",
    "BandCovariances",
    "BandPower",
    "Bci",
    "CspLda",
    "Discriminant",
    "FlickerCorrelation",
    "RiemannLr",
    "cca",
    "cross_session",
    "filterbank_lda",
    "later_sessions",
    "leave_one_subject_out",
    *_later,
]
