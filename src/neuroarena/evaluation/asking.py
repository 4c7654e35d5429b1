"""Ask a fitted decoder about the test part, in a way that only the signals can answer."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.decoders import Decoder, StreamDecoder, drive
from neuroarena.errors import NeuroarenaError
from neuroarena.evaluation.parts import StreamSet, WindowSet
from neuroarena.features import FeatureChain
from neuroarena.scoring import StreamRule

# In few batches: enough that the number of calls or the place in a batch reveals nothing, few enough to stay fast.
_MOST_BATCHES = 4


def predict_windows(
    decoder: Decoder,
    chain: FeatureChain,
    test: Sequence[WindowSet],
    cache: Path,
    rng: np.random.Generator,
    blind: bool,
) -> Any:
    """Predict windows in random order and random batches, and return the answers in the order of the sets.

    A decoder sees what the chain makes of windows, and tokens in place of ids. Every batch is predicted by a fresh
    copy of the fitted decoder.

    Raises
    ------
    NeuroarenaError
        When a batch is answered with a different number of rows.
    """
    offsets = np.cumsum([0, *(len(windows.starts) for windows in test)])
    answers: list[Any] = [None] * int(offsets[-1])
    tokens = rng.permutation(len(answers))
    batches = _batches(len(answers), rng)
    firsts = offsets[:-1].tolist()
    questions = [_in_batches(*each, batches, tokens) for each in zip(test, firsts, strict=True)]
    for parts in zip(*questions, strict=True):
        asked = [(rows, windows) for rows, windows in parts if len(rows)]
        groups = [windows.group(chain, cache, blind) for _, windows in asked]
        positions = np.concatenate([rows for rows, _ in asked])
        said: Any = copy.deepcopy(decoder).predict(groups)
        if not hasattr(said, "__len__") or len(said) != len(positions):
            got = f"the shape {np.shape(said)}" if isinstance(said, np.ndarray) else f"{said!r:.40}"
            raise NeuroarenaError(f"predict() returned {got}; expected {len(positions)} rows.")
        for position, answer in zip(positions.tolist(), said, strict=True):
            answers[position] = answer
    return answers


def _in_batches(
    windows: WindowSet, offset: int, batches: Sequence[np.ndarray], tokens: np.ndarray
) -> list[tuple[np.ndarray, WindowSet]]:
    """Return, for every batch, the rows of it that lie in one set, whose first row is `offset`, and their windows.

    The set is put into the order of the batches first, so that each of them is a slice: moving the rows of a small
    table costs more than a simple decoder does.
    """
    rows = [batch[(batch >= offset) & (batch < offset + len(windows.starts))] for batch in batches]
    order = np.concatenate(rows)
    shuffled = windows.shuffle(order - offset, tokens[order])
    edges = np.cumsum([0, *map(len, rows)]).tolist()
    cuts = itertools.starmap(shuffled.cut, itertools.pairwise(edges))
    return list(zip(rows, cuts, strict=True))


def _batches(n: int, rng: np.random.Generator) -> list[np.ndarray]:
    cuts = np.sort(rng.integers(0, n + 1, size=min(_MOST_BATCHES, n) - 1))
    return [rows for rows in np.split(rng.permutation(n), cuts) if len(rows)]


def predict_streams(
    decoder: StreamDecoder, test: Sequence[StreamSet], rule: StreamRule, rng: np.random.Generator
) -> list[Any]:
    """Play every stream to a fresh copy of the fitted decoder, and return the answers in the order of the sets."""
    listed = [
        (streams.recording, int(start), int(stop))
        for streams in test
        for start, stop in zip(streams.starts, streams.stops, strict=True)
    ]
    # Drawn for each stream by its place among the ids alone, so that the order of streams changes nothing.
    seeds = rng.integers(2**63, size=len(listed))
    answers: list[Any] = [None] * len(listed)
    # Played in random order: a decoder that keeps state outside itself learns nothing by counting streams.
    for number in rng.permutation(len(listed)):
        recording, start, stop = listed[number]
        answers[number] = drive(decoder, recording, start, stop, rule, np.random.default_rng(seeds[number]))
    return answers
