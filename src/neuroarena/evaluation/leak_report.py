"""What a leak check looked for, and what it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Probe:
    """One thing that was looked for.

    Attributes
    ----------
    kind : {"order", "length", "channel", "duplicates", "text", "identity", "samples", "known"}
    found : bool
        Whether it is there. It is a leak unless it is hidden or declared.
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
        Whether it is inherent in the question.
    declared : bool
        Whether the definition of the split says that it is so.
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
    declared: bool = False

    @property
    def sentence(self) -> str:
        """What was found and why it matters, in one sentence."""
        what = self.what[:1].upper() + self.what[1:]
        return f"{what}: {self.score:.2f}; {self.why}."

    def to_dict(self) -> dict[str, Any]:
        """Return the probe as plain values."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def is_leak(probe: Probe) -> bool:
    """Return whether a probe is a leak: it is there, decoders see it, and it is not what the split is about."""
    return probe.found and not probe.hidden and not probe.declared


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
        """The leaks: what is there, is not hidden from decoders, and is not what the split is about."""
        return tuple(probe for probe in self.probes if is_leak(probe))

    @property
    def noted(self) -> tuple[Probe, ...]:
        """What is there and is no leak: decoders never see it, or the definition of the split says so."""
        return tuple(probe for probe in self.probes if probe.found and not is_leak(probe))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, as printed by ``--json``."""
        return {
            "schema_version": 2,
            "benchmark": self.benchmark,
            "split": self.split,
            "simulated": self.simulated,
            "notes": list(self.notes),
            "leaks": [probe.to_dict() for probe in self.findings],
            "noted": [probe.to_dict() for probe in self.noted],
            "looked_for": [probe.to_dict() for probe in self.probes if not probe.found],
        }
