"""How often each unit is drawn: count matrices (draws, units), from two generators.

Both are pure functions of a range of draws, so that the size of a block can change nothing: draw b of
`exact` depends on the legacy seed b alone, and draw b of `fast` reads its own stretch of one
counter-based stream.

With clusters both follow the two-level rule: clusters are drawn with replacement; inside a drawn
cluster its units are drawn with replacement once, and that draw counts as often as the cluster was drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

GENERATORS = {
    "exact": "MT19937 (legacy RandomState(b) for draw b)",
    "fast": "Philox4x64 (one stream, a fixed stretch a draw)",
}

# A block of this many counts stays in the cache: 256 draws of 500 units took 45 ms for 10,000
# draws, 2,048 draws at once took 65 ms. Very many units still get a few rows, for the product.
BLOCK_COUNTS = 1 << 17
FEWEST_ROWS = 32
LARGEST_BLOCK = 1 << 21


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the units of each cluster are.

    Attributes
    ----------
    codes
        Cluster number of each unit (units,).
    sizes
        Number of units of each cluster (clusters,).
    order
        Units sorted by cluster, inside a cluster by position (units,).
    starts
        Where each cluster starts in `order` (clusters,).
    """

    codes: np.ndarray
    sizes: np.ndarray
    order: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, codes: np.ndarray) -> Layout:
        """Lay out clusters numbered 0, 1, ... without gaps."""
        sizes = np.bincount(codes)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        return cls(codes, sizes, np.argsort(codes, kind="stable"), starts)


def block_rows(n_units: int) -> int:
    """Choose how many draws to handle at once, so that memory does not grow with their number."""
    return max(1, BLOCK_COUNTS // n_units, min(FEWEST_ROWS, LARGEST_BLOCK // n_units))


def draw_counts(
    start: int, stop: int, n_units: int, layout: Layout | None, method: str, seed: int
) -> np.ndarray:
    """Count how often each unit is drawn in the draws `start` to `stop`.

    Returns
    -------
    numpy.ndarray
        Integers (stop - start, units). A row sums to the number of drawn units: always `n_units`
        without clusters, and varying with them.

    Examples
    --------
    >>> draw_counts(0, 2, 4, None, "exact", seed=0).tolist()
    [[2, 1, 0, 1], [2, 1, 0, 1]]
    """
    if method == "exact":
        if layout is None:
            return _exact_plain(start, stop, n_units)
        return _exact_clustered(start, stop, layout)
    if layout is None:
        return _fast_plain(start, stop, n_units, seed)
    return _fast_clustered(start, stop, layout, seed)


def _tally(picks: np.ndarray, width: int) -> np.ndarray:
    """Count per row how often each of 0 ... width - 1 was picked; `picks` (int64) is overwritten."""
    rows = len(picks)
    picks += np.arange(0, rows * width, width, dtype=np.int64)[:, None]
    return np.bincount(picks.ravel(), minlength=rows * width).reshape(rows, width)


# ---------------------------------------------------------------- exact: the legacy generator


def _exact_plain(start: int, stop: int, n_units: int) -> np.ndarray:
    # Seeding one generator again is the same stream as a new one, at a fraction of the cost.
    generator = np.random.RandomState(0)
    picks = np.empty((stop - start, n_units), dtype=np.int64)
    for row, draw in enumerate(range(start, stop)):
        generator.seed(draw)
        picks[row] = generator.randint(0, n_units, n_units)
    return _tally(picks, n_units)


def _exact_clustered(start: int, stop: int, layout: Layout) -> np.ndarray:
    """Draw clusters, then the units of each from a generator that is seeded afresh.

    Because every cluster starts again from the same seed, clusters of one size draw the same
    positions, and all sizes read the same raw words: one seeding per draw serves them all.
    """
    n_clusters = len(layout.sizes)
    bounds = [n_clusters, *np.unique(layout.sizes).tolist()]
    words = _legacy_words(start, stop, max(_words_needed(bound) for bound in bounds))
    cluster_counts = _tally(_legacy_picks(words, start, n_clusters), n_clusters)
    counts = np.empty((stop - start, len(layout.codes)), dtype=np.int64)
    for size in bounds[1:]:
        inside = _tally(_legacy_picks(words, start, size), size)
        alike = np.flatnonzero(layout.sizes == size)
        units = layout.order[layout.starts[alike][:, None] + np.arange(size)]
        counts[:, units] = cluster_counts[:, alike][:, :, None] * inside[:, None, :]
    return counts


def _legacy_words(start: int, stop: int, n_words: int) -> np.ndarray:
    """Return the first 32-bit words of the legacy generator for each seed (draws, words)."""
    bits = np.random.MT19937(0)
    generator = np.random.RandomState(bits)
    words = np.empty((stop - start, n_words), dtype=np.int64)
    for row, draw in enumerate(range(start, stop)):
        generator.seed(draw)
        words[row] = bits.random_raw(n_words)
    return words


def _mask(bound: int) -> int:
    return (1 << (bound - 1).bit_length()) - 1


def _words_needed(bound: int) -> int:
    """Return how many words yield `bound` accepted ones, except with a probability far below 1e-20."""
    accepted = bound / (_mask(bound) + 1)
    spread = math.sqrt(bound * (1 - accepted)) / accepted
    return math.ceil(bound / accepted + 12 * spread) + 16


def _legacy_picks(words: np.ndarray, first_seed: int, bound: int) -> np.ndarray:
    """Reproduce `RandomState(seed).randint(0, bound, bound)` for all rows of words at once.

    The legacy rule keeps the low bits of a word and takes the next word when they are too large.
    """
    values = words[:, : _words_needed(bound)] & _mask(bound)
    accepted = values < bound
    place = np.cumsum(accepted, axis=1, dtype=np.int32)
    short = np.flatnonzero(place[:, -1] < bound)
    accepted &= place <= bound
    if len(short):
        accepted[short] = np.arange(values.shape[1]) < bound
    picks = values[accepted].reshape(len(words), bound)
    for row in short:
        picks[row] = np.random.RandomState(first_seed + int(row)).randint(0, bound, bound)
    return picks


# ---------------------------------------------------------------- fast: a counter-based generator


def _fast_words(start: int, stop: int, n_words: int, seed: int) -> np.ndarray:
    """Return 32-bit words (draws, n_words); each draw owns a whole number of the generator's steps."""
    steps = -(-n_words // 8)  # a step of Philox4x64 yields four 64-bit words
    bits = np.random.Philox(seed)
    bits.advance(start * steps)
    raw = bits.random_raw((stop - start) * steps * 4)
    # Raw words are the part of NumPy's generators that no version may change.
    words: np.ndarray = raw.astype("<u8", copy=False).view("<u4")
    return words.reshape(stop - start, steps * 8)[:, :n_words]


def _below(words: np.ndarray, bound: int | np.ndarray) -> np.ndarray:
    """Map words to 0 ... bound - 1, each within 2**-32 of its exact probability; int64, a new array."""
    picks: np.ndarray = np.multiply(words, np.asarray(bound, dtype=np.uint64), dtype=np.uint64)
    picks >>= np.uint64(32)
    return picks.view(np.int64)


def _fast_plain(start: int, stop: int, n_units: int, seed: int) -> np.ndarray:
    return _tally(_below(_fast_words(start, stop, n_units, seed), n_units), n_units)


def _fast_clustered(start: int, stop: int, layout: Layout, seed: int) -> np.ndarray:
    n_clusters, n_units = len(layout.sizes), len(layout.codes)
    words = _fast_words(start, stop, n_clusters + n_units, seed)
    cluster_counts = _tally(_below(words[:, :n_clusters], n_clusters), n_clusters)
    owner = layout.codes[layout.order]
    picks = _below(words[:, n_clusters:], layout.sizes[owner])
    picks += layout.starts[owner]
    inside = _tally(picks, n_units)
    inside *= cluster_counts[:, owner]
    counts = np.empty_like(inside)
    counts[:, layout.order] = inside
    return counts
