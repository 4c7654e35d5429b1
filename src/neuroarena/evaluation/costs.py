"""What a run will cost: cells, time, memory and room, from what earlier cells took on this machine."""

from __future__ import annotations

import os
import shutil
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from neuroarena.evaluation.cache import CellCache
from neuroarena.evaluation.cell import Cell
from neuroarena.evaluation.engines import Local, run_jobs
from neuroarena.evaluation.feature_plan import plan_features
from neuroarena.evaluation.origins import Origin, read_origins
from neuroarena.evaluation.plan import RunPlan

# A job of a cluster should take about this long: its start costs seconds, and a longer one waits longer for its turn.
PACK_S = 600.0
# The first cell of a process imports what it needs; where that may be most of its time, a second one is computed.
QUICK_S = 30.0


@dataclass(frozen=True)
class Cost:
    """What one run of a plan will take.

    Attributes
    ----------
    benchmark, split, decoder : str
    cells, cached : int
        All cells, and those that the cache has.
    seconds_a_cell, peak_mb : float or None
        From cells of the same task, split and kind of decoder that were computed on this machine; None when there are
        none.
    measured : int
        How many those were.
    """

    benchmark: str
    split: str
    decoder: str
    cells: int
    cached: int
    seconds_a_cell: float | None
    peak_mb: float | None
    measured: int

    @property
    def seconds(self) -> float | None:
        """Processor seconds of the cells that are left, on one worker."""
        return None if self.seconds_a_cell is None else (self.cells - self.cached) * self.seconds_a_cell

    @property
    def pack(self) -> int | None:
        """Cells that one worker computes in ten minutes."""
        if self.seconds_a_cell is None:
            return None
        return max(1, int(PACK_S / max(self.seconds_a_cell, 1e-3)))


def estimate_costs(plans: Sequence[RunPlan], cache: Path) -> list[Cost]:
    """Estimate what each run of a plan will take, from the notes of the cache."""
    kept, known = CellCache(cache), _group_origins(read_origins(cache))
    costs = []
    for plan in plans:
        cells = {cell.key: cell for seed in plan.seeds for cell in plan.cells_of(seed)}
        kind = _kind_of(plan.cells[0])
        seen = known.get(kind, [])
        costs.append(
            Cost(
                benchmark=kind[0],
                split=kind[1],
                decoder=plan.decoder_name,
                cells=len(cells),
                cached=sum(key in kept for key in cells),
                seconds_a_cell=statistics.median_low(each.seconds for each in seen) if seen else None,
                peak_mb=max(each.peak_mb for each in seen) if seen else None,
                measured=len(seen),
            )
        )
    return costs


def measure_unknown(plans: Sequence[RunPlan], cache: Path) -> None:
    """Compute a cell of every kind that was never computed on this machine, two where they are quick; they are kept."""
    known = _group_origins(read_origins(cache))
    unknown = {_kind_of(plan.cells[0]): plan.cells for plan in plans if _kind_of(plan.cells[0]) not in known}
    _compute([cells[0] for cells in unknown.values()], cache)
    known = _group_origins(read_origins(cache))
    quick = [kind for kind in unknown if kind in known and known[kind][0].seconds < QUICK_S]
    _compute([unknown[kind][1] for kind in quick if len(unknown[kind]) > 1], cache)


def _compute(cells: Sequence[Cell], cache: Path) -> None:
    run_jobs(plan_features(cells, cache), cache, Local(), lambda _: None)
    run_jobs(cells, cache, Local(), lambda _: None)


def measure_features(plans: Sequence[RunPlan], cache: Path) -> int:
    """Return the bytes of features that the cells of a plan need and the cache lacks."""
    kept = CellCache(cache)
    left = [cell for plan in plans for cell in plan.cells if cell.key not in kept]
    return sum(len(shard.starts) * shard.bytes_a_window(cache) for shard in plan_features(left, cache))


def find_what_does_not_fit(costs: Iterable[Cost], features: int, cache: Path, workers: int) -> list[str]:
    """List what this machine lacks for a plan: memory for so many workers, or room for the features."""
    sentences = []
    free, memory = shutil.disk_usage(_existing(cache)).free, _total_memory()
    if features > free:
        sentences.append(
            f"The features take {features / 1e9:.1f} GB, and the disk of {cache} has {free / 1e9:.1f} GB left."
        )
    for cost in costs:
        if cost.peak_mb is not None and memory is not None and cost.peak_mb * 1e6 * workers > memory:
            fit = max(int(memory // (cost.peak_mb * 1e6)), 1)
            sentences.append(
                f"{cost.decoder} on {cost.benchmark} takes {cost.peak_mb / 1e3:.1f} GB per worker: of {workers} "
                f"workers {fit} fit into the {memory / 1e9:.0f} GB of this machine."
            )
    return sentences


def _kind_of(cell: Cell) -> tuple[str, str, str]:
    return cell.benchmark, cell.split, cell.decoder_type


def _group_origins(origins: Iterable[Origin]) -> dict[tuple[str, str, str], list[Origin]]:
    known: dict[tuple[str, str, str], list[Origin]] = {}
    for origin in origins:
        known.setdefault((origin.benchmark, origin.split, origin.decoder), []).append(origin)
    return known


def _existing(path: Path) -> Path:
    path = path.absolute()
    while not path.exists():
        path = path.parent
    return path


def _total_memory() -> float | None:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return None
