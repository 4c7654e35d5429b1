"""The folds of the BCI track: later sessions, other recordings, other people."""

from __future__ import annotations

import pandas as pd

from neuroarena.benchmarks.split_rules import later_sessions, leave_one_out
from neuroarena.benchmarks.splits import Split

__all__ = ["cross_session", "later_sessions", "leave_one_subject_out"]


def cross_session(examples: pd.DataFrame) -> Split:
    """Judge each session with a decoder trained on the same person's other sessions.

    Returns
    -------
    Split
        One fold for each session of each person with two sessions or more.
    """
    return leave_one_out(examples, "session", within="subject", name="cross-session")


def leave_one_subject_out(examples: pd.DataFrame) -> Split:
    """Judge each person with a decoder trained on all others: one fold for each person."""
    return leave_one_out(examples, "subject")
