"""Evaluate decoders on benchmarks: plan, compute what the cache lacks, score, save."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neuroarena.benchmarks import Benchmark, Comparison, Suite, load_benchmark
from neuroarena.decoders import Decoder, load_decoder
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.evaluation.assembling import assemble_all, draws_at_random
from neuroarena.evaluation.cache import CellCache, default_cache
from neuroarena.evaluation.cell import Cell
from neuroarena.evaluation.comparisons import judge_models
from neuroarena.evaluation.computed import ROUNDS, Computed
from neuroarena.evaluation.engines import Engine, Local, Outcome, run_jobs
from neuroarena.evaluation.feature_plan import name_shards, plan_features
from neuroarena.evaluation.leases import Leases
from neuroarena.evaluation.plan import RunPlan, plan_runs
from neuroarena.evaluation.profiling import Profile
from neuroarena.evaluation.record import current_time
from neuroarena.evaluation.results import Result, save_result
from neuroarena.evaluation.shards import Shard
from neuroarena.fingerprint import remember_digests_in
from neuroarena.progress import Progress, Silence
from neuroarena.sealed import SealedFolder, reporting_to


class Interrupted(NeuroarenaError):
    """The run was stopped; what had been computed is kept."""


def evaluate(
    decoder: Decoder | str,
    benchmark: Benchmark | Comparison | str,
    split: str | None = None,
    *,
    data: str | None = None,
    name: str | None = None,
    out: str | Path | None = None,
    workers: int = 1,
    seed: int = 0,
    repeats: int = 1,
    leaks_too: bool = False,
    train_fraction: float = 1.0,
    cache: str | Path | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Result:
    """Evaluate one decoder on one split of one benchmark.

    Parameters
    ----------
    decoder : Decoder or str
        A decoder, or a name of ``neuroarena list decoders``, or ``module:attribute``; for a comparison, a model.
    benchmark : Benchmark, Comparison or str
        A loaded benchmark, or its name; `data` and `options` then go to ``load_benchmark``.
    split : str, optional
        Name of the split; by default the benchmark's first.
    name : str, optional
        What boards call the decoder; by default its registered name or its class.
    out : path, optional
        Folder to keep the result in; without it the result is only returned.
    workers : int
        Number of processes. The numbers do not depend on it.
    seed : int
        The seed from which every cell's own seed is derived.
    repeats : int
        How often to train, with the seeds `seed`, `seed` + 1, ...; nothing else changes between repeats. Unit scores
        are averaged over them, and boards add the noise of training to their comparisons. A decoder that draws nothing
        at random is trained once.
    leaks_too : bool
        Also look for leaks in the signals, as ``neuroarena check leaks`` does, and keep what is found with the result.
        Who stands on both sides of the split is looked for always.
    train_fraction : float
        Share of every training part that is learned from, the same share of every class; each repeat draws another.
        Smaller shares lie in larger ones. The result is of a split of its own, such as ``cross-session-train-0.1``.
    cache : path, optional
        Folder of the cache; by default ``NEUROARENA_CACHE`` or the user's cache folder.
    engine : Engine, optional
        Where the cells are computed (:func:`.engines.make_engine`); by default `workers` processes of this machine.
    progress : Progress, optional
        Notified of how far the run has come.

    Returns
    -------
    Result
    """
    chosen = load_benchmark(benchmark, data, **options) if isinstance(benchmark, str) else benchmark
    if isinstance(chosen, Suite):
        raise InputError(
            f'"{benchmark}" is a suite of {len(chosen.benchmarks)} tasks; use evaluate_all, or name a task.'
        )
    return evaluate_all(
        [(name, decoder)],
        [chosen],
        [split],
        out=out,
        workers=workers,
        seed=seed,
        repeats=repeats,
        leaks_too=leaks_too,
        train_fractions=(train_fraction,),
        cache=cache,
        engine=engine,
        progress=progress,
    )[0]


def evaluate_all(
    decoders: Sequence[tuple[str | None, Decoder | str]],
    benchmarks: Iterable[Benchmark | Comparison],
    splits: Sequence[str | None],
    *,
    out: str | Path | None = None,
    workers: int = 1,
    seed: int = 0,
    repeats: int = 1,
    leaks_too: bool = False,
    train_fractions: Sequence[float] = (1.0,),
    cache: str | Path | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
    profile: Profile | None = None,
) -> list[Result]:
    """Evaluate every decoder on every split of every benchmark, in one plan.

    Features that several of them share are computed once. Parameters are those of
    :func:`evaluate`; each of `train_fractions` is a run of its own. A decoder comes with the name boards give it, or
    None. Where the benchmarks are comparisons, the decoders are models that are shown stimuli. A `profile` is told what
    each step took, and with `out` it is written beside the runs, as ``profile-TIME.json``.

    Raises
    ------
    InputError
        When comparisons and benchmarks of recordings are mixed, or when models, which are not trained here, are to be
        repeated.
    """
    asked = list(benchmarks)
    comparisons = [each for each in asked if isinstance(each, Comparison)]
    windows = [each for each in asked if isinstance(each, Benchmark)]
    if comparisons and windows:
        raise InputError(
            f"{comparisons[0].name} judges models and {windows[0].name} decoders of recordings; nothing is both. "
            "Evaluate them one after the other."
        )
    if comparisons and repeats != 1:
        raise InputError(
            f"{comparisons[0].name} judges models that are not trained here; leave the repeats out."
        )
    if comparisons:
        return judge_models(decoders, comparisons, splits, out=out, progress=progress)
    with working_in(cache, progress) as (folder, shown):
        steps = profile or Profile()
        with steps.step("plan"):
            named = [name_decoder(*each) for each in decoders]
            plans = plan_runs(named, windows, splits, seed, repeats, leaks_too, train_fractions)
        for place in (folder, *([] if out is None else [Path(out)])):
            # Created before anything is computed: nobody should wait for a result that cannot be saved.
            place.mkdir(parents=True, exist_ok=True)
        started = current_time()
        computed = _compute(plans, folder, engine or Local(workers), shown, steps)
        with steps.step("assemble"):
            results = assemble_all(plans, computed, started)
        if out is not None:
            with steps.step("save"):
                results = [save_result(result, Path(out)) for result in results]
            if profile is not None:
                profile.write(Path(out) / f"profile-{started:%Y%m%dT%H%M%SZ}.json", folder)
        _forget_unnamed(plans, CellCache(folder))
        return results


def compute_shard(
    decoders: Sequence[tuple[str | None, Decoder | str]],
    benchmarks: Iterable[Benchmark],
    splits: Sequence[str | None],
    shard: Shard,
    *,
    seed: int = 0,
    repeats: int = 1,
    train_fractions: Sequence[float] = (1.0,),
    cache: str | Path | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> ShardOutcome:
    """Compute one share of the cells of a plan and leave them in the cache; nothing else is written.

    When every share is done, :func:`evaluate_all` with the same arguments finds all cells and assembles the results.
    Parameters are those of :func:`evaluate`.

    Raises
    ------
    InputError
        For a decoder that cannot be told apart from another: no other process could find its cells.
    """
    with working_in(cache, progress) as (folder, shown):
        named = [name_decoder(*each) for each in decoders]
        plans = plan_runs(named, list(benchmarks), splits, seed, repeats, train_fractions=train_fractions)
        for plan in plans:
            if plan.identity.key is None:
                raise InputError(
                    f"{plan.decoder_name} cannot be computed in shares: {plan.identity.reason}, so no other process "
                    "could find its cells. Run it without --shard."
                )
        folder.mkdir(parents=True, exist_ok=True)
        every = [cell for plan in plans for at in plan.seeds for cell in plan.cells_of(at)]
        own, computed = shard.take(every), Computed()
        _compute_cells(own, folder, engine or Local(), shown, f"shard {shard.number} of {shard.of}", computed)
        failed = {cell.label: computed.reason(cell.key) for cell in own if cell.key not in computed.kept}
        return ShardOutcome(len(own), len(every), failed)


@dataclass(frozen=True)
class ShardOutcome:
    """What a share held: its cells, those of the whole plan, and why some failed (by label)."""

    cells: int
    planned: int
    failed: dict[str, str]


@contextlib.contextmanager
def working_in(cache: str | Path | None, progress: Progress | None) -> Iterator[tuple[Path, Progress]]:
    """Yield the folder of the cache, swept of leftovers, and what shows progress and damaged entries."""
    folder = Path(cache) if cache is not None else default_cache()
    shown = progress or Silence()
    with reporting_to(functools.partial(shown.say, "cache")) if progress else contextlib.nullcontext():
        remember_digests_in(folder)
        SealedFolder(folder).sweep()
        Leases(folder).sweep()
        yield folder, shown


def name_decoder(name: str | None, decoder: Decoder | str) -> tuple[str, Decoder]:
    """Return a decoder with the name that boards give it; a string is looked up."""
    if isinstance(decoder, str):
        name, decoder = name or decoder, load_decoder(decoder)
    name = name or type(decoder).__name__
    # A pretrained encoder with random weights is a control, and says so wherever it is shown.
    untrained = getattr(decoder, "untrained", False) and not name.endswith("(untrained)")
    return f"{name} (untrained)" if untrained else name, decoder


def _compute(
    plans: list[RunPlan], cache: Path, engine: Engine, progress: Progress, profile: Profile
) -> Computed:
    """Read the cells that the cache has and compute those that it lacks, repeat by repeat."""
    computed = Computed(profile=profile)
    n_repeats = max((plan.n_repeats for plan in plans), default=1)
    for number in range(n_repeats):
        # A decoder that draws nothing, or whose first training failed, is not trained again.
        wanted = [plan for plan in plans if number == 0 or draws_at_random(plan, computed)]
        cells = [cell for plan in wanted for cell in plan.cells_of(plan.seeds[number])]
        stage = "cells" if n_repeats == 1 else f"repeat {number + 1} of {n_repeats}"
        if cells:
            _compute_cells(cells, cache, engine, progress, stage, computed)
    return computed


def _compute_cells(
    cells: list[Cell], cache: Path, engine: Engine, progress: Progress, stage: str, computed: Computed
) -> None:
    kept = CellCache(cache)
    total = len({cell.key for cell in cells})

    def cell_done(outcome: Outcome) -> None:
        assert isinstance(outcome.job, Cell)
        computed.outcomes[outcome.job.key] = outcome
        progress.advance(stage)

    steps = computed.profile
    with steps.step("read the cache"):
        computed.read(cells, kept)
    try:
        for _ in range(ROUNDS):
            todo = computed.waiting(cells)
            with steps.step("features"):
                told = _compute_features(todo, cache, engine, progress)
            progress.begin(stage, total, total - len(todo))
            with steps.step(stage):
                run_jobs(told, cache, engine, cell_done)
                # What a worker wrote may be damaged by now, or removed by another process: then it is made again.
                computed.read(todo, kept)
            steps.note_cells((cell.key, cell.label) for cell in todo)
            if not computed.waiting(cells):
                break
    except KeyboardInterrupt as interrupt:
        done = len({cell.key for cell in cells if cell.key in kept})
        where = "" if stage == "cells" else f" in {stage}"
        raise Interrupted(
            f"Stopped{where}. {done} of {total} cells are kept; run the same command again to go on from there."
        ) from interrupt


def _compute_features(cells: list[Cell], cache: Path, engine: Engine, progress: Progress) -> list[Cell]:
    """Compute the features that some cells need and the cache lacks; return the cells, told where these are."""
    shards = plan_features(cells, cache)
    if shards:
        progress.begin("features", len(shards))
        # A shard that fails leaves its windows out; the cells that need them say so.
        run_jobs(shards, cache, engine, lambda _: progress.advance("features"))
    return name_shards(cells, shards, cache)


def _forget_unnamed(plans: list[RunPlan], kept: CellCache) -> None:
    """Remove the cells of decoders that cannot be told apart: another may get the same key later."""
    for plan in plans:
        if plan.identity.key is None:
            for cell in (cell for seed in plan.seeds for cell in plan.cells_of(seed)):
                kept.forget(cell.key)
