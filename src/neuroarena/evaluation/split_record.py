"""What a record says about a split: its hash, and who or what stands on both sides of it."""

from __future__ import annotations

from collections.abc import Iterable

from neuroarena.benchmarks import Split
from neuroarena.evaluation.fractions import name_split
from neuroarena.evaluation.leak_report import Probe, is_leak
from neuroarena.evaluation.record import SplitRecord
from neuroarena.fingerprint import digest


def describe_split(split: Split, probes: Iterable[Probe], train_fraction: float = 1.0) -> SplitRecord:
    """Return what the record of a run says about its split.

    Parameters
    ----------
    split : Split
    probes : iterable of Probe
        What was looked for; only what was found is recorded.
    train_fraction : float
        Share of the training part that is learned from; below 1, it is a split of another name and hash.
    """
    whole = train_fraction == 1
    found = [probe for probe in probes if probe.found]
    return SplitRecord(
        name=name_split(split.name, train_fraction),
        hash=split.hash if whole else digest([split.hash, train_fraction]),
        train_fraction=train_fraction,
        folds=len(split.folds),
        leaks=tuple(probe.sentence for probe in found if is_leak(probe)),
        crossings=tuple(probe.sentence for probe in found if not is_leak(probe)),
    )
