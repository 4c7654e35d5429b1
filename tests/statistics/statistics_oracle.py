"""Slow, plain implementations to hold the fast ones against: one draw, one team, one unit at a time."""

from __future__ import annotations

import numpy as np


def exact_indices(draw: int, n_units: int, clusters: np.ndarray | None = None) -> np.ndarray:
    """Draw unit indices with legacy generators made afresh, as the specification words it."""
    if clusters is None:
        return np.random.RandomState(draw).randint(0, n_units, n_units)
    labels = np.unique(clusters)
    drawn = labels[np.random.RandomState(draw).randint(0, len(labels), len(labels))]
    indices = []
    for label in sorted(set(drawn.tolist())):
        members = np.flatnonzero(clusters == label)
        inside = members[np.random.RandomState(draw).randint(0, len(members), len(members))]
        indices.extend(np.repeat(inside, np.sum(drawn == label)))
    return np.array(indices)


def fast_indices(draw: int, n_units: int, clusters: np.ndarray | None = None, seed: int = 0) -> np.ndarray:
    """Draw unit indices from the Philox stream in Python integers, read from its very beginning."""
    labels = np.unique(clusters) if clusters is not None else np.array([])
    steps = -(-(len(labels) + n_units) // 8)
    raw = np.random.Philox(seed).random_raw((draw + 1) * steps * 4)[draw * steps * 4 :]
    words = [half for word in raw.tolist() for half in (word & 0xFFFFFFFF, word >> 32)]
    if clusters is None:
        return np.array([words[at] * n_units >> 32 for at in range(n_units)])
    times = [0] * len(labels)
    for at in range(len(labels)):
        times[words[at] * len(labels) >> 32] += 1
    indices, at = [], len(labels)
    for label, count in zip(labels, times, strict=True):
        members = np.flatnonzero(clusters == label)
        for _ in members:
            indices.extend([members[words[at] * len(members) >> 32]] * count)
            at += 1
    return np.array(indices)


INDICES = {"exact": exact_indices, "fast": fast_indices}


def loop_scores(
    unit_scores: dict[str, np.ndarray], n_draws: int, method: str, clusters: np.ndarray | None = None
) -> np.ndarray:
    """Score every team in every draw by a plain loop (draws, teams)."""
    n_units = len(next(iter(unit_scores.values())))
    rows = []
    for draw in range(n_draws):
        drawn = INDICES[method](draw, n_units, clusters)
        rows.append([float(np.mean(values[drawn])) for values in unit_scores.values()])
    return np.array(rows)


def sorted_ranks(scores: np.ndarray) -> np.ndarray:
    """Rank each row by Python's stable sort, highest first, ties in input order."""
    result = np.empty(scores.shape, dtype=int)
    for row, values in enumerate(scores):
        for place, team in enumerate(sorted(range(len(values)), key=lambda at: values[at], reverse=True), 1):
            result[row, team] = place
    return result
