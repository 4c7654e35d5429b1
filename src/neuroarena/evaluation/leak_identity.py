"""Leaks of identity: people, sessions, blocks and samples that stand on both sides of a split.

Only the table of examples is looked at, no signal, so that every run can afford it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from neuroarena.benchmarks import Benchmark, Split
from neuroarena.evaluation.leak_report import Probe

# From the largest to the smallest: the first session of one person is not that of another.
LEVELS = ("subject", "session", "run", "block")
# What names of splits promise: leave-one-subject-out, cross-session, unseen-people.
_PROMISE = re.compile(r"(?:leave-one-|cross-|unseen-)([a-z]+?)s?(?:-out\b.*)?$")
_WORDS = {"person": "subject", "people": "subject", "participant": "subject", "patient": "subject"}


def promised_apart(split: Split) -> tuple[str, ...]:
    """Return the columns of which a split's definition lets no value stand on both sides.

    What a split does not say itself is read off its name.

    Examples
    --------
    >>> from neuroarena.benchmarks import Fold
    >>> folds = (Fold("1", ("a",), ("b",)),)
    >>> promised_apart(Split("cross-subject", folds)), promised_apart(Split("within-session", folds))
    (('subject',), ())
    """
    found = _PROMISE.fullmatch(split.name)
    if split.apart or found is None:
        return split.apart
    return (_WORDS.get(found[1], found[1]),)


def identity_probes(benchmark: Benchmark, split: Split) -> list[Probe]:
    """Look for who and what stands on both sides of the folds of a split.

    A crossing that the definition of the split excludes is a leak; any other is what the split is about, and is
    reported as such. A target that is the same for all examples of a person is a leak where that person is on both
    sides, whatever the split says: who it is tells the answer.

    Parameters
    ----------
    benchmark : Benchmark
    split : Split

    Returns
    -------
    list of Probe
        One for each level that the table has, one for samples, and one for targets that belong to people.
    """
    table = benchmark.examples.set_index("id", drop=False)
    # Validation parts choose a model and are not learned from: published folds take them from the judged session.
    folds = [(table.loc[list(fold.train)], table.loc[list(fold.test)]) for fold in split.folds]
    return [*_levels(table, folds, split), _samples(folds, split), *_traits(table, folds)]


Folds = list[tuple[pd.DataFrame, pd.DataFrame]]


def _levels(table: pd.DataFrame, folds: Folds, split: Split) -> Iterator[Probe]:
    promised = promised_apart(split)
    present = [name for name in LEVELS if name in table]
    others = [name for name in promised if name in table and name not in present]
    for name in (*present, *others):
        columns = [*present[: present.index(name) + 1]] if name in present else [name]
        if len(table[columns].drop_duplicates()) < 2 and name not in promised:
            continue
        shared, asked, example = 0, 0, ""
        for train, test in folds:
            known = set(map(tuple, train[columns].astype(str).to_numpy()))
            own = list(map(tuple, test[columns].astype(str).to_numpy()))
            twice = [each for each in own if each in known]
            shared, asked = shared + len(twice), asked + len(own)
            example = example or (f", for example {'/'.join(twice[0])}" if twice else "")
        excluded = name in promised
        what = f"examples of a test part whose {name} is also in its training part (share){example}"
        if excluded:
            why = f'the split "{split.name}" promises that no {name} is on both sides'
        else:
            why = f'the split "{split.name}" does not hold {name}s apart: scores are for {name}s that were trained on'
        yield Probe(
            "identity", shared > 0, what, shared / max(1, asked), 0.0, None, False, why, declared=not excluded
        )


def _samples(folds: Folds, split: Split) -> Probe:
    """Look for windows of a test part that overlap windows of its training part."""
    shared, asked, example = 0, 0, ""
    for train, test in folds:
        spans = {key: _merge_spans(own) for key, own in train.groupby("recording")}
        for key, own in test.groupby("recording"):
            asked += len(own)
            if key not in spans:
                continue
            starts, stops = spans[key]
            # The first stretch of training that ends after a window begins, if it begins before the window ends.
            place = np.searchsorted(stops, own["start"].to_numpy(), side="right")
            inside = place < len(starts)
            inside[inside] = starts[place[inside]] < own["stop"].to_numpy()[inside]
            shared += int(inside.sum())
            if inside.any() and not example:
                example = f", for example {own['id'].to_numpy()[inside][0]}"
    declared = "sample" in split.crosses
    what = f"examples of a test part that overlap samples of its training part (share){example}"
    why = (
        f'the split "{split.name}" says so: windows near a cut share samples'
        if declared
        else "a decoder that remembers its training has seen these samples, with their targets"
    )
    return Probe(
        "samples", shared > 0, what, shared / max(1, asked), 0.0, None, False, why, declared=declared
    )


def _merge_spans(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Join windows into stretches that do not touch: starts and stops, sorted."""
    ordered = rows.sort_values("start")
    starts, stops = ordered["start"].to_numpy(dtype=np.int64), ordered["stop"].to_numpy(dtype=np.int64)
    reach = np.maximum.accumulate(stops)
    first = np.concatenate([[True], starts[1:] > reach[:-1]])
    last = np.concatenate([first[1:], [True]])
    return starts[first], reach[last]


def _traits(table: pd.DataFrame, folds: Folds) -> Iterator[Probe]:
    """Look for people on both sides, where every person has one target and people differ in it."""
    targets = table["target"].astype(str)
    several = targets.groupby(table["subject"]).agg(["nunique", "size"])
    several = several[several["size"] > 1]
    if len(several) < 2 or (several["nunique"] > 1).any() or targets.nunique() < 2:
        return
    shared = asked = 0
    for train, test in folds:
        shared += int(test["subject"].isin(set(train["subject"])).sum())
        asked += len(test)
    what = "examples of a test part whose person is in its training part, where each person has one target (share)"
    why = "who it is tells the answer, and a person is easily recognised"
    yield Probe("identity", shared > 0, what, shared / max(1, asked), 0.0, None, False, why)
