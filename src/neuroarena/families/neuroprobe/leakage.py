"""Measure how much of the judged data a decoder has already seen, fold by fold."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np
import pandas as pd

from neuroarena.benchmarks.benchmark import Benchmark
from neuroarena.benchmarks.splits import Fold, Split
from neuroarena.families.neuroprobe.sessions import recurring_films

LEAKAGE_COLUMNS = (
    "fold",
    "n_train",
    "n_validation",
    "n_test",
    "test_shares_train",
    "test_shares_validation",
    "validation_shares_train",
    "test_in_embargo",
    "class_cuts_differ_s",
    "films_in_both",
)


def leakage(benchmark: Benchmark, split: Split | str, embargo_s: float | None = None) -> pd.DataFrame:
    """Measure, fold by fold, what the training part reveals about the test part.

    Parameters
    ----------
    benchmark : Benchmark
        Of any family and definition.
    split : Split or str
        A split of the benchmark, or its name.
    embargo_s : float, optional
        Required distance of a test window from the training windows; by default the length of a window.

    Returns
    -------
    DataFrame
        One row per fold: ``fold``; ``n_train``, ``n_validation``, ``n_test``; ``test_shares_train``,
        ``test_shares_validation`` and ``validation_shares_train``, the number of windows of the first part
        that share samples with a window of the second; ``test_in_embargo``, the number of test windows
        nearer than the embargo to a training window; ``class_cuts_differ_s``, how far apart in time the
        classes are cut (0 when one cut serves all, NaN when nothing is cut); ``films_in_both``, films
        that people watched both in a training and in another, judged session.
    """
    chosen = benchmark.split(split) if isinstance(split, str) else split
    examples = benchmark.examples
    rate_hz = benchmark.recording(str(examples["recording"].iloc[0])).rate_hz
    embargo = None if embargo_s is None else round(embargo_s * rate_hz)
    return fold_leakage(examples, chosen, rate_hz, embargo)


def fold_leakage(
    examples: pd.DataFrame, split: Split, rate_hz: float, embargo: int | None = None
) -> pd.DataFrame:
    """Measure the folds of an examples table; as :func:`leakage`, with the embargo in samples."""
    table = examples.set_index("id")
    length = int((table["stop"] - table["start"]).max()) if embargo is None else embargo
    rows = [_measure(table, fold, rate_hz, length) for fold in split.folds]
    return pd.DataFrame(rows, columns=list(LEAKAGE_COLUMNS))


def describe_leakage(table: pd.DataFrame) -> str:
    """Summarise a measurement in one sentence.

    Examples
    --------
    >>> counts = {"n_test": [100, 100], "test_shares_train": [0, 5], "test_in_embargo": [2, 8]}
    >>> describe_leakage(pd.DataFrame({**counts, "class_cuts_differ_s": [61.2, 0.0]}))
    'Of 200 test windows 5 (2.5 %) share samples with a training window and 10 (5.0 %) lie within the embargo; \
the classes are cut up to 61 s apart.'
    """
    n, shared, near = (int(table[name].sum()) for name in ("n_test", "test_shares_train", "test_in_embargo"))
    apart = table["class_cuts_differ_s"].max()
    cuts = f"the classes are cut up to {apart:.0f} s apart" if apart > 0 else "all classes are cut at once"
    return (
        f"Of {n} test windows {shared} ({shared / n:.1%}) share samples with a training window and {near} "
        f"({near / n:.1%}) lie within the embargo; {cuts}."
    ).replace("%", " %")


def with_leakage(rule: Callable[[pd.DataFrame], Split], rate_hz: float, examples: pd.DataFrame) -> Split:
    """Cut examples by a rule, and note in the split what its folds share; a result records the note."""
    split = rule(examples)
    return replace(split, notes=(*split.notes, describe_leakage(fold_leakage(examples, split, rate_hz))))


def _measure(table: pd.DataFrame, fold: Fold, rate_hz: float, embargo: int) -> tuple[object, ...]:
    train, validation, test = (table.loc[list(ids)] for ids in (fold.train, fold.validation, fold.test))
    held_out = pd.concat([validation, test])
    cuts = [*_train_cuts(train, held_out), _cut_difference(validation, test)]
    known = [cut for cut in cuts if cut is not None]
    return (
        fold.name,
        len(train),
        len(validation),
        len(test),
        _sharing(test, train),
        _sharing(test, validation),
        _sharing(validation, train),
        _sharing(test, train, embargo),
        max(known) / rate_hz if known else float("nan"),
        ", ".join(_films(train["session"].unique(), held_out["session"].unique())),
    )


def _sharing(part: pd.DataFrame, other: pd.DataFrame, margin: int = 0) -> int:
    """Count the windows of a part nearer than `margin` samples to a window of the other, or overlapping it."""
    count = 0
    for recording, own in part.groupby("recording"):
        theirs = other[other["recording"] == recording]
        starts, stops = np.sort(theirs["start"].to_numpy()), np.sort(theirs["stop"].to_numpy())
        # A window overlaps no other when as many of them begin before its end as end before its beginning.
        begun = np.searchsorted(starts, own["stop"].to_numpy() + margin, side="left")
        ended = np.searchsorted(stops, own["start"].to_numpy() - margin, side="right")
        count += int((begun > ended).sum())
    return count


def _train_cuts(train: pd.DataFrame, held_out: pd.DataFrame) -> list[int | None]:
    """Measure the cut before and the cut after the held-out part, where training items lie there."""
    same = train[train["recording"].isin(held_out["recording"].unique())]
    middle = held_out.groupby("target")["start"].median()
    same = same[same["target"].isin(middle.index)]
    before = same["start"].to_numpy() < same["target"].map(middle).to_numpy()
    return [_cut_difference(same[before], held_out), _cut_difference(held_out, same[~before])]


def _cut_difference(before: pd.DataFrame, after: pd.DataFrame) -> int | None:
    """Return the samples between the places where classes pass from one part to the next; None without a cut.

    A class is cut somewhere between its last item before and its first item after.
    """
    after = after[after["recording"].isin(before["recording"].unique())]
    last, first = before.groupby("target")["start"].max(), after.groupby("target")["start"].min()
    both = last.index.intersection(first.index)
    if both.empty:
        return None
    edges = np.stack([last[both].to_numpy(), first[both].to_numpy()])
    return max(0, int(edges.min(axis=0).max() - edges.max(axis=0).min()))


def _films(training: Collection[str], judged: Collection[str]) -> list[str]:
    """Name the films that recur between training sessions and other, judged ones."""
    alone = [session for session in training if session not in set(judged)]
    films = recurring_films([*alone, *judged])
    return sorted(film for film, seen in films.items() if set(seen) & set(alone) and set(seen) & set(judged))
