"""What a record says about a split: its hash, and who or what stands on both sides of it."""

from __future__ import annotations

from collections.abc import Iterable

from neuroarena.benchmarks import Split
from neuroarena.evaluation.leak_report import Probe, is_leak
from neuroarena.evaluation.record import SplitRecord


def describe_split(split: Split, probes: Iterable[Probe]) -> SplitRecord:
    """Return what the record of a run says about its split.

    Parameters
    ----------
    split : Split
    probes : iterable of Probe
        What was looked for; only what was found is recorded.
    """
    found = [probe for probe in probes if probe.found]
    return SplitRecord(
        name=split.name,
        hash=split.hash,
        folds=len(split.folds),
        leaks=tuple(probe.sentence for probe in found if is_leak(probe)),
        crossings=tuple(probe.sentence for probe in found if not is_leak(probe)),
    )
