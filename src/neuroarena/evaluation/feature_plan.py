"""Which features a run needs, cut into shards, and where its cells will find them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from neuroarena.evaluation.cell import Cell, FeatureShard
from neuroarena.evaluation.feature_store import FeatureStore, cut_shards, name_shard
from neuroarena.evaluation.parts import WindowSet
from neuroarena.features import FeatureChain


def plan_features(cells: Iterable[Cell], cache: Path) -> list[FeatureShard]:
    """Find the features that these cells need and the cache lacks, cut into shards.

    A window that several tasks, folds or decoders use is listed once.
    """
    wanted: dict[str, tuple[FeatureStore, WindowSet, list[np.ndarray]]] = {}
    for cell in cells:
        chain = cell.chain
        if not chain.steps:
            continue
        for windows in cell.window_sets():
            store = FeatureStore(cache, windows.fingerprint, chain, windows.length)
            wanted.setdefault(store.place, (store, windows, []))[2].append(windows.starts)
    shards = []
    for store, windows, starts in wanted.values():
        missing = store.missing(np.concatenate(starts))
        if not len(missing):
            continue
        size = store.bytes_a_window(windows.recording)
        shards += [
            FeatureShard(windows.recording, windows.fingerprint, store.chain, store.length, part)
            for part in cut_shards(missing, size)
        ]
    return shards


def name_shards(cells: Iterable[Cell], planned: Iterable[FeatureShard], cache: Path) -> list[Cell]:
    """Return the cells with the names of the shards that hold their features.

    A worker on another machine must not depend on a listing of the folder, which may be a minute old there: what it
    did not list would be computed again.
    """
    names: dict[str, set[str]] = {}
    for shard in planned:
        place = FeatureStore(cache, shard.fingerprint, shard.chain, shard.length).place
        names.setdefault(place, set()).add(name_shard(shard.starts))
    # Cells share their parts: each is told once, so that they still do afterwards.
    told: dict[tuple[int, str], WindowSet] = {}

    def tell(part: WindowSet, chain: FeatureChain) -> WindowSet:
        store = FeatureStore(cache, part.fingerprint, chain, part.length)
        key = id(part), store.place
        if key not in told:
            known = names.get(store.place, set()) | set(store.list_shards())
            told[key] = replace(part, shards=tuple(sorted(known)))
        return told[key]

    return [cell.with_windows(tell) if cell.chain.steps else cell for cell in cells]
