"""What a run will cost: cells, time, memory and room, from what earlier cells took on this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from neuroarena.evaluation.cache import CellCache
from neuroarena.evaluation.cell import Cell
from neuroarena.evaluation.engines import Local, Outcome, run_jobs
from neuroarena.evaluation.feature_costs import FeatureCost
from neuroarena.evaluation.feature_plan import plan_features
from neuroarena.evaluation.origins import Origin, read_origins
from neuroarena.evaluation.plan import RunPlan
from neuroarena.progress import Progress, Silence

# A job of a cluster should take about this long: its start costs seconds, and a longer one waits longer for its turn.
PACK_S = 600.0
# The first cell of a process imports what it needs; where that may be most of its time, a second one is computed.
QUICK_S = 30.0
# What is taken for equally long: benchmark, split and kind of decoder.
Kind = tuple[str, str, str]


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
    reason : str or None
        Why there are none, where a cell was tried and failed.
    """

    benchmark: str
    split: str
    decoder: str
    cells: int
    cached: int
    seconds_a_cell: float | None
    peak_mb: float | None
    measured: int
    reason: str | None = None

    @property
    def seconds(self) -> float | None:
        """Seconds of the cells that are left, on one worker."""
        return None if self.seconds_a_cell is None else (self.cells - self.cached) * self.seconds_a_cell

    @property
    def pack(self) -> int | None:
        """Cells that one worker computes in ten minutes."""
        if self.seconds_a_cell is None:
            return None
        return max(1, int(PACK_S / max(self.seconds_a_cell, 1e-3)))


def estimate_costs(
    plans: Sequence[RunPlan], cache: Path, failures: Mapping[Kind, str] | None = None
) -> list[Cost]:
    """Estimate what each run of a plan will take, from the notes of the cache; `failures` say why there are none."""
    kept, known = CellCache(cache), _group_origins(read_origins(cache))
    costs = []
    for plan in plans:
        cells = {cell.key: cell for seed in _list_seeds(plan, kept) for cell in plan.cells_of(seed)}
        kind = plan.cells[0].kind
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
                reason=(failures or {}).get(kind),
            )
        )
    return costs


def _list_seeds(plan: RunPlan, kept: CellCache) -> Sequence[int]:
    """Return the seeds that will be trained: one, where a cell that is kept says that nothing is drawn at random."""
    there = next((cell.key for cell in plan.cells if cell.key in kept), None) if plan.n_repeats > 1 else None
    found = None if there is None else kept.read(there)
    return plan.seeds if found is None or found[1].get("drew", True) else plan.seeds[:1]


def estimate_wall_s(costs: Iterable[Cost], features: FeatureCost, workers: int) -> float:
    """Estimate the seconds that a run takes by the clock: features, then cells; the last of each is waited for."""
    known = [cost for cost in costs if cost.seconds]
    cells = sum(cost.seconds or 0.0 for cost in known)
    longest = max((cost.seconds_a_cell or 0.0 for cost in known), default=0.0)
    return max((features.seconds or 0.0) / workers, features.longest_s) + max(cells / workers, longest)


@dataclass(frozen=True)
class _Trial:
    """Compute a cell with the features it needs, and a second one where that was quick; they are kept."""

    cells: tuple[Cell, ...]

    @property
    def label(self) -> str:
        return self.cells[0].label

    @property
    def key(self) -> str:
        return self.cells[0].key

    def is_done(self, cache: Path) -> bool:
        return self.cells[0].is_done(cache)

    def run(self, cache: Path) -> None:
        for cell in self.cells[:2]:
            for shard in plan_features([cell], cache):
                shard.run(cache)
            begun = time.perf_counter()
            cell.run(cache)
            if time.perf_counter() - begun > QUICK_S:
                return


def measure_unknown(
    plans: Sequence[RunPlan], cache: Path, progress: Progress | None = None
) -> dict[Kind, str]:
    """Compute a cell of every kind that was never computed on this machine, two where they are quick; they are kept.

    They are computed in a process of their own, whose memory is that of a worker, and whose end is not ours.

    Returns
    -------
    dict
        Why a cell failed, by its kind.
    """
    known, shown = _group_origins(read_origins(cache)), progress or Silence()
    unknown = {plan.cells[0].kind: plan.cells for plan in plans if plan.cells[0].kind not in known}
    failures: dict[Kind, str] = {}

    def done(outcome: Outcome) -> None:
        assert isinstance(outcome.job, _Trial)
        shown.advance("measure")
        if outcome.error is not None:
            failures[outcome.job.cells[0].kind] = outcome.error

    if unknown:
        shown.begin("measure", len(unknown))
    run_jobs([_Trial(cells) for cells in unknown.values()], cache, Local(apart=True), done)
    return failures


def find_what_does_not_fit(costs: Iterable[Cost], features: int, cache: Path, workers: int) -> list[str]:
    """List what this machine lacks for a plan: memory for so many workers, or for one, or room for the features."""
    sentences = []
    free, memory = shutil.disk_usage(_existing(cache)).free, measure_memory()
    if features > free:
        sentences.append(
            f"The features take {features / 1e9:.1f} GB, and the disk of {cache} has {free / 1e9:.1f} GB left."
        )
    for cost in costs:
        what = f"{cost.decoder} on {cost.benchmark}"
        if cost.reason is not None:
            sentences.append(f"{what} could not be measured: {cost.reason}")
        if cost.peak_mb is None or memory is None or cost.peak_mb * 1e6 * workers <= memory:
            continue
        fit = int(memory // (cost.peak_mb * 1e6))
        takes = f"{what} takes {cost.peak_mb / 1e3:.1f} GB per worker"
        here = f"the {memory / 1e9:.1f} GB of this machine"
        sentences.append(
            f"{takes}: of {workers} workers {fit} {'fits' if fit == 1 else 'fit'} into {here}. Use --workers {fit}."
            if fit
            else f"{takes}: not even one fits into {here}. Run it on a larger one."
        )
    return sentences


def _group_origins(origins: Iterable[Origin]) -> dict[Kind, list[Origin]]:
    known: dict[Kind, list[Origin]] = {}
    for origin in origins:
        known.setdefault((origin.benchmark, origin.split, origin.decoder), []).append(origin)
    return known


def _existing(path: Path) -> Path:
    path = path.absolute()
    while not path.exists():
        path = path.parent
    return path


def measure_memory(groups: Path = Path("/sys/fs/cgroup")) -> float | None:
    """Return the bytes of memory that processes may use here: of the machine, or of the container they are in."""
    try:
        bounds = [float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))]
    except (AttributeError, OSError, ValueError):
        return None
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):  # no such group, or "max"
            bounds.append(float((groups / name).read_text(encoding="ascii")))
    return min(bounds)
