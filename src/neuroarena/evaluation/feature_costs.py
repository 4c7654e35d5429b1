"""What the features of a plan cost: room from their shape, time from a few windows that are tried."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from neuroarena.atomic import building
from neuroarena.evaluation.cache import CellCache
from neuroarena.evaluation.cell import FeatureShard
from neuroarena.evaluation.engines.jobs import on_one_thread
from neuroarena.evaluation.feature_plan import plan_features
from neuroarena.evaluation.feature_store import FeatureStore
from neuroarena.evaluation.plan import RunPlan
from neuroarena.sealed import UNFINISHED

# Windows that are tried. The first few import what the features need, and are not counted.
_WARMING, _TRIED = 4, 128


@dataclass(frozen=True)
class FeatureCost:
    """What the features take that the cells of a plan need and the cache lacks.

    Attributes
    ----------
    bytes : int
    seconds : float or None
        On one worker; None when they were not tried.
    longest_s : float
        Of the longest piece: no number of workers makes them quicker.
    reason : str or None
        Why they could not be tried.
    """

    bytes: int
    seconds: float | None
    longest_s: float = 0.0
    reason: str | None = None


def estimate_features(plans: Sequence[RunPlan], cache: Path, measure: bool = True) -> FeatureCost:
    """Estimate what the features take that a plan needs and the cache lacks.

    With `measure`, up to 128 windows of each kind (features and length of a window) are read, computed and written to
    the disk of the cache, and thrown away.
    """
    kept = CellCache(cache)
    shards = plan_features([cell for plan in plans for cell in plan.cells if cell.key not in kept], cache)
    room = sum(len(shard.starts) * shard.bytes_a_window(cache) for shard in shards)
    if not measure:
        return FeatureCost(room, None if shards else 0.0)
    seconds = []
    with building(cache / UNFINISHED / "measuring") as folder, on_one_thread():
        for kind in _group_by_kind(shards):
            try:
                pace = _measure_pace(kind[len(kind) // 2], folder)
            except Exception as error:  # unreadable, or refused by a step: the run will say so too
                return FeatureCost(room, None, reason=f"{kind[0].label}: {type(error).__name__}: {error}")
            seconds += [pace * _size(shard) for shard in kind]
    return FeatureCost(room, sum(seconds), max(seconds, default=0.0))


def _group_by_kind(shards: Iterable[FeatureShard]) -> list[list[FeatureShard]]:
    """Return the shards of each kind, those with few electrodes first."""
    kinds: dict[tuple[str, int], list[FeatureShard]] = {}
    for shard in shards:
        kinds.setdefault((shard.chain.fingerprint(), shard.length), []).append(shard)
    return [sorted(kind, key=lambda shard: len(shard.recording.channels)) for kind in kinds.values()]


def _measure_pace(shard: FeatureShard, folder: Path) -> float:
    """Return the seconds that one window of one electrode takes."""
    store = FeatureStore(folder, shard.fingerprint, shard.chain, shard.length)
    store.compute(shard.recording, shard.starts[:_WARMING])
    tried = shard.starts[_WARMING : _WARMING + _TRIED] if len(shard.starts) > 2 * _WARMING else shard.starts
    begun = time.perf_counter()
    store.compute(shard.recording, tried)
    return (time.perf_counter() - begun) / (len(tried) * len(shard.recording.channels))


def _size(shard: FeatureShard) -> int:
    return len(shard.starts) * len(shard.recording.channels)
