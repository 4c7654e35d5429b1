"""Track 2, BCI: commands decoded on later sessions of the same person, without recalibration."""

from __future__ import annotations

from neuroarena.benchmarks.tracks.bci.family import FAMILY, Bci
from neuroarena.benchmarks.tracks.bci.folds import cross_session, later_sessions, leave_one_subject_out

__all__ = ["FAMILY", "Bci", "cross_session", "later_sessions", "leave_one_subject_out"]
