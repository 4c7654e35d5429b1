"""The states of a run, and what each change does to the team's attempt."""

from __future__ import annotations

from typing import Literal, get_args

State = Literal[
    "received",
    "checked",
    "queued",
    "running",
    "scoring",
    "refused",
    "scored",
    "failed",
    "broken",
    "withdrawn",
    "kept",
]
Slot = Literal["reserved", "used", "freed", "refunded"]

STATES: tuple[State, ...] = get_args(State)
TERMINAL: frozenset[State] = frozenset({"refused", "scored", "failed", "broken", "withdrawn", "kept"})
# What a worker holds by a lease; a lease that is over makes the run claimable again.
LEASED: frozenset[State] = frozenset({"received", "running", "scoring"})
MOST_TRIES = 3
# So many workers that went silent on one run are enough: an organiser looks at it before anybody tries again.
MOST_DEATHS = 2

# Change -> the state of the attempt afterwards; None leaves it as it is.
CHANGES: dict[tuple[State, State], Slot | None] = {
    ("received", "refused"): "freed",
    ("received", "checked"): "used",
    ("received", "withdrawn"): "freed",
    ("received", "broken"): "freed",
    # A pipeline is committed and not scored: it costs no attempt.
    ("received", "kept"): "freed",
    ("checked", "queued"): None,
    ("queued", "running"): None,
    ("queued", "scoring"): None,
    ("queued", "withdrawn"): None,
    ("queued", "broken"): "refunded",
    ("running", "scoring"): None,
    ("running", "failed"): None,
    ("running", "queued"): None,
    ("running", "broken"): "refunded",
    ("scoring", "scored"): None,
    ("scoring", "failed"): None,
    ("scoring", "queued"): None,
    ("scoring", "broken"): "refunded",
}


def may_change(before: State, after: State) -> bool:
    """Return whether a run may go from one state to another.

    Examples
    --------
    >>> may_change("scoring", "scored"), may_change("scored", "queued")
    (True, False)
    """
    return (before, after) in CHANGES
