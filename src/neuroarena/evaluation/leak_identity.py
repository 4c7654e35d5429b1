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
# From this share on, or correlation, a column that decoders may see is the answer under another name.
TOLD, FEWEST_VALUES = 0.95, 10
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
        One for each level that the table has, one for samples, one for targets that belong to people, and one for each
        column that decoders may see.
    """
    table = benchmark.examples
    row_of = {example: row for row, example in enumerate(table["id"].tolist())}
    # Validation parts choose a model and are not learned from: published folds take them from the judged session.
    folds = [
        tuple(np.array([row_of[each] for each in part], dtype=np.intp) for part in (fold.train, fold.test))
        for fold in split.folds
    ]
    told = _told(table, folds, benchmark.known, bool(benchmark.manifest.classes))
    return [*_levels(table, folds, split), _samples(table, folds, split), *_traits(table, folds), *told]


# Rows of the table in the training part and in the test part of each fold: some splits have thousands of folds.
Folds = list[tuple[np.ndarray, ...]]


def _levels(table: pd.DataFrame, folds: Folds, split: Split) -> Iterator[Probe]:
    promised = promised_apart(split)
    present = [name for name in LEVELS if name in table]
    others = [name for name in promised if name in table and name not in present]
    for name in (*present, *others):
        columns = [*present[: present.index(name) + 1]] if name in present else [name]
        parts = zip(*(table[column].tolist() for column in columns), strict=True)
        names = np.array(["/".join(map(str, part)) for part in parts], dtype=object)
        codes, values = pd.factorize(names)
        if len(values) < 2 and name not in promised:
            continue
        shared, asked, example = 0, 0, ""
        for train, test in folds:
            known = np.zeros(len(values), dtype=bool)
            known[codes[train]] = True
            twice = test[known[codes[test]]]
            shared, asked = shared + len(twice), asked + len(test)
            example = example or (f", for example {names[twice[0]]}" if len(twice) else "")
        excluded = name in promised
        what = f"examples of a test part whose {name} is also in its training part (share){example}"
        if excluded:
            why = f'the split "{split.name}" promises that no {name} is on both sides'
        else:
            why = f'the split "{split.name}" does not hold {name}s apart: scores are for {name}s that were trained on'
        yield Probe(
            "identity", shared > 0, what, shared / max(1, asked), 0.0, None, False, why, declared=not excluded
        )


def _samples(table: pd.DataFrame, folds: Folds, split: Split) -> Probe:
    """Look for windows of a test part that overlap windows of its training part."""
    starts, stops = (table[name].to_numpy(dtype=np.int64) for name in ("start", "stop"))
    # Recordings are laid one after the other, so that one search serves all of them.
    places = pd.factorize(table["recording"])[0] * (int(stops.max()) + 1)
    starts, stops = starts + places, stops + places
    shared, asked, example = 0, 0, ""
    for train, test in folds:
        firsts, lasts = _merge_spans(starts[train], stops[train])
        # The first stretch of training that ends after a window begins, if it begins before the window ends.
        place = np.searchsorted(lasts, starts[test], side="right")
        inside = place < len(firsts)
        inside[inside] = firsts[place[inside]] < stops[test][inside]
        shared, asked = shared + int(inside.sum()), asked + len(test)
        if inside.any() and not example:
            example = f", for example {table['id'].iloc[test[inside][0]]}"
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


def _merge_spans(starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Join windows into stretches that do not touch: starts and stops, sorted."""
    order = np.argsort(starts)
    starts, reach = starts[order], np.maximum.accumulate(stops[order])
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
    people, names = pd.factorize(table["subject"])
    shared = asked = 0
    for train, test in folds:
        known = np.zeros(len(names), dtype=bool)
        known[people[train]] = True
        shared, asked = shared + int(known[people[test]].sum()), asked + len(test)
    what = "examples of a test part whose person is in its training part, where each person has one target (share)"
    why = "who it is tells the answer, and a person is easily recognised"
    yield Probe("identity", shared > 0, what, shared / max(1, asked), 0.0, None, False, why)


def _told(table: pd.DataFrame, folds: Folds, known: tuple[str, ...], classes: bool) -> Iterator[Probe]:
    """Look for columns that decoders may see and that tell the answer."""
    for name in known:
        chance = 0.0
        if classes:
            share = _share_told(table[name].astype(str), table["target"].astype(str), folds)
            chance = 1 / max(1, table["target"].nunique())
            what = (
                f'examples of a test part whose answer the column "{name}" tells (share, mean over answers)'
            )
        else:
            numbers = pd.to_numeric(table[name], errors="coerce")
            aims = pd.to_numeric(table["target"], errors="coerce")
            # A few people are in line by chance.
            enough = min(numbers.nunique(), aims.nunique()) >= FEWEST_VALUES
            share = abs(float(numbers.corr(aims, method="spearman"))) if enough else 0.0
            what = f'the column "{name}" and the answer (rank correlation)'
        why = f'decoders are given the column "{name}", because the benchmark calls it known'
        share = share if np.isfinite(share) else 0.0
        yield Probe("known", share >= TOLD, what, share, chance, None, False, why)


def _share_told(values: pd.Series, targets: pd.Series, folds: Folds) -> float:
    """Return the share of judged examples whose value has their target most often in training, a mean over targets.

    A few exceptions hide nothing, and a column that says nothing has the share of a guess, also of rare targets.
    """
    codes, n_values = pd.factorize(values)[0], values.nunique()
    aims, n_aims = pd.factorize(targets)[0], targets.nunique()
    pairs, kinds = pd.factorize(codes * n_aims + aims)
    value_of, aim_of = np.divmod(kinds, n_aims)
    right, asked = np.zeros(n_aims), np.zeros(n_aims)
    for train, test in folds:
        counts = np.bincount(pairs[train], minlength=len(kinds))
        most = np.ones(n_values, dtype=counts.dtype)
        np.maximum.at(most, value_of, counts)
        usual, best = np.full(n_values, -1), counts == most[value_of]
        usual[value_of[best]] = aim_of[best]
        right += np.bincount(aims[test], weights=usual[codes[test]] == aims[test], minlength=n_aims)
        asked += np.bincount(aims[test], minlength=n_aims)
    there = asked > 0
    return float((right[there] / asked[there]).mean()) if there.sum() > 1 else 0.0
