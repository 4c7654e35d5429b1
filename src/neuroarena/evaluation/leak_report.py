"""What a leak check looked for, and what it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Probe:
    """One thing that was looked for.

    Attributes
    ----------
    kind : {"order", "length", "channel", "duplicates", "text"}
    found : bool
        Whether it is a leak.
    what : str
        What predicts the targets, or the best of what does not.
    score, chance : float
        How well, and the score of an uninformed guess, in the measure that `what` names.
    p : float or None
        By shuffled targets; None where the score is too near to chance for it to matter, or no test is needed.
    hidden : bool
        Whether the evaluation keeps it from decoders.
    why : str
        How it is kept from them, or why not.
    by_design : bool
        Whether it is inherent in the question; then it is reported, but is not a leak while it is hidden.
    """

    kind: str
    found: bool
    what: str
    score: float
    chance: float
    p: float | None
    hidden: bool
    why: str
    by_design: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the probe as plain values."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class LeakReport:
    """What a leak check looked for in one split, and what it found."""

    benchmark: str
    split: str
    simulated: bool
    probes: tuple[Probe, ...]
    notes: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Probe, ...]:
        """The leaks."""
        return tuple(probe for probe in self.probes if probe.found and not (probe.by_design and probe.hidden))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, as printed by ``--json``."""
        return {
            "schema_version": 1,
            "benchmark": self.benchmark,
            "split": self.split,
            "simulated": self.simulated,
            "notes": list(self.notes),
            "leaks": [probe.to_dict() for probe in self.findings],
            "looked_for": [probe.to_dict() for probe in self.probes if probe not in self.findings],
        }
