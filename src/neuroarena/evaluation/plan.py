"""Plan a run: which cells there are, what each reads, and the key under which each is cached."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.benchmarks import Benchmark, Fold, Split
from neuroarena.decoders import Decoder, StreamDecoder
from neuroarena.errors import InputError
from neuroarena.evaluation import cell as cell_module
from neuroarena.evaluation.cell import Cell
from neuroarena.evaluation.fractions import check_fractions
from neuroarena.evaluation.identity import Identity, identify
from neuroarena.evaluation.leak_identity import identity_probes
from neuroarena.evaluation.leak_report import Probe
from neuroarena.evaluation.parts import StreamSet, WindowSet
from neuroarena.evaluation.record import SplitRecord
from neuroarena.evaluation.split_record import describe_split
from neuroarena.features import FeatureChain
from neuroarena.fingerprint import code_fingerprint, digest, reading_code_once
from neuroarena.recordings import Recording


@dataclass(frozen=True)
class RunPlan:
    """One decoder on one split of one benchmark: a line of a board.

    `cells` are those of the first training; :meth:`cells_of` returns those of every repeat.
    """

    benchmark: Benchmark
    split: Split
    decoder_name: str
    decoder: Decoder
    identity: Identity
    seed: int
    cells: tuple[Cell, ...]
    n_repeats: int = 1
    probes: tuple[Probe, ...] = ()
    train_fraction: float = 1.0

    @property
    def split_record(self) -> SplitRecord:
        """What the record says about the split."""
        return describe_split(self.split, self.probes, self.train_fraction)

    def with_fraction(self, fraction: float) -> RunPlan:
        """Return the same run, trained on a share of the training part; the shares of all decoders are the same."""
        if fraction == 1:
            return self
        cells = tuple(
            replace(cell, train_fraction=fraction, key=digest({"of": cell.key, "train": fraction}))
            for cell in self.cells
        )
        return replace(self, cells=cells, train_fraction=fraction)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the repeats: the given one and those that follow it."""
        return tuple(range(self.seed, self.seed + self.n_repeats))

    def cells_of(self, seed: int) -> tuple[Cell, ...]:
        """Return the cells of one repeat: the same parts and questions, trained with a different seed."""
        if seed == self.seed:
            return self.cells
        return tuple(_repeat_cell(cell, seed) for cell in self.cells)

    @property
    def key(self) -> str:
        """SHA-256 over what was asked; the same question has the same key."""
        asked = [
            self.benchmark.name,
            self.benchmark.manifest.hash,
            self.split.hash,
            self.decoder_name,
            self.seed,
        ]
        asked += [] if self.n_repeats == 1 else [f"{self.n_repeats} repeats"]
        return digest([*asked, sorted(cell.key for cell in self.cells)])


class _Source:
    """The examples of a benchmark as arrays, and its recordings, opened once, with their fingerprints.

    A split of many folds asks for thousands of parts: positions in arrays cost a tenth of selections of a table.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        examples = benchmark.examples
        self.starts, self.stops = (examples[name].to_numpy(dtype=np.int64) for name in ("start", "stop"))
        self.targets = examples["target"].to_numpy()
        self._keys = examples["recording"].to_numpy(dtype=object)
        self._position = {example: at for at, example in enumerate(examples["id"].tolist())}
        # What a decoder may know about examples, whichever part they are in.
        self._known = examples[["id", "subject", "session", *benchmark.known]]
        self._open: dict[str, tuple[Recording, str]] = {}

    def group_by_recording(self, ids: Iterable[str]) -> Iterator[tuple[str, np.ndarray]]:
        """Iterate over recordings, sorted by key, and the positions of these examples in each, sorted by id."""
        positions = np.array([self._position[each] for each in sorted(ids)], dtype=np.intp)
        keys = self._keys[positions]
        for key in sorted(set(keys)):
            yield str(key), positions[keys == key]

    def recording(self, key: str) -> tuple[Recording, str]:
        """Return a recording and its fingerprint."""
        if key not in self._open:
            recording = self.benchmark.recording(key)
            self._open[key] = recording, recording.fingerprint()
        return self._open[key]

    def known(self, positions: np.ndarray) -> pd.DataFrame:
        """Return what a decoder may know about some examples."""
        table = self._known.take(positions)
        table.index = pd.RangeIndex(len(positions))
        return table

    def check_inside(self, positions: np.ndarray, recording: Recording) -> None:
        """Refuse an example that lies outside its recording."""
        starts, stops = self.starts[positions], self.stops[positions]
        outside = positions[(starts < 0) | (stops > recording.n_samples)]
        if len(outside):
            first = outside[0]
            raise InputError(
                f"{recording.name}: the window [{self.starts[first]}, {self.stops[first]}) of example "
                f'"{self._known["id"].iloc[first]}" lies outside the recording, which has samples 0 to '
                f"{recording.n_samples}."
            )


def plan_runs(
    decoders: Sequence[tuple[str, Decoder]],
    benchmarks: Iterable[Benchmark],
    splits: Sequence[str | None],
    seed: int = 0,
    repeats: int = 1,
    leaks_too: bool = False,
    train_fractions: Sequence[float] = (1.0,),
) -> list[RunPlan]:
    """Lay out every decoder on every split of every benchmark; None is a benchmark's first split.

    With several `repeats`, each run is trained once per seed, from `seed` on. With `leaks_too`, signals are searched
    for leaks; who stands on both sides of a split is looked for always. Each of `train_fractions` is a run of its own.

    Raises
    ------
    InputError
        For an unknown split, a missing recording, a window outside its recording, or fewer than one repeat.
    """
    if repeats < 1:
        raise InputError(f"A decoder is trained at least once; got {repeats} repeats.")
    with reading_code_once():
        code = code_fingerprint(cell_module)
        identities = [identify(decoder) for _, decoder in decoders]
    # Nothing may ever find the cells of a decoder that cannot be told apart; addresses occur twice.
    keys = [identity.key or f"unknown {uuid.uuid4()}" for identity in identities]
    plans = []
    for benchmark in benchmarks:
        for name, decoder in decoders:
            _check_kind(name, decoder, benchmark)
        source = _Source(benchmark)
        for split_name in splits:
            split = benchmark.split(split_name or benchmark.splits[0])
            probes = _look_for_leaks(benchmark, split, leaks_too)
            folds = [_FoldParts.of(fold, source) for fold in split.folds]
            for (name, decoder), identity, key in zip(decoders, identities, keys, strict=True):
                cells = tuple(
                    _plan_cell(decoder, key, benchmark, split, parts, seed, code) for parts in folds
                )
                plan = RunPlan(benchmark, split, name, decoder, identity, seed, cells, repeats, probes)
                plans += [plan.with_fraction(fraction) for fraction in check_fractions(train_fractions)]
    return plans


def _look_for_leaks(benchmark: Benchmark, split: Split, signals_too: bool) -> tuple[Probe, ...]:
    if not signals_too:
        return tuple(identity_probes(benchmark, split))
    from neuroarena.evaluation.leaks import check_leaks

    return check_leaks(benchmark, split.name).probes


def _check_kind(name: str, decoder: Any, benchmark: Benchmark) -> None:
    """Refuse a decoder that cannot answer the benchmark's question, before anything is computed."""
    if not isinstance(getattr(decoder, "features", None), FeatureChain):
        raise InputError(
            f'The decoder "{name}" has no FeatureChain in its attribute features, but '
            f"{getattr(decoder, 'features', None)!r:.60}. Use features = FeatureChain() for plain windows."
        )
    if benchmark.manifest.stream is not None and not isinstance(decoder, StreamDecoder):
        raise InputError(
            f'The decoder "{name}" cannot be played a stream: {benchmark.name} needs a decoder with start() and step().'
        )
    if benchmark.manifest.stream is None and not callable(getattr(decoder, "predict", None)):
        raise InputError(
            f'The decoder "{name}" decodes streams: {benchmark.name} needs a decoder with predict().'
        )


Sets = tuple[WindowSet, ...] | tuple[StreamSet, ...]


@dataclass(frozen=True)
class _FoldParts:
    """The windows of a fold's parts, the same for every decoder."""

    fold: Fold
    train: Sets
    validation: Sets
    test: Sets
    digest: str

    @classmethod
    def of(cls, fold: Fold, source: _Source) -> _FoldParts:
        make = _window_sets if source.benchmark.manifest.stream is None else _stream_sets
        train = make(source, fold.train, with_targets=True)
        validation = make(source, fold.validation, with_targets=True)
        test = make(source, fold.test, with_targets=False)
        content = [[windows.digest() for windows in part] for part in (train, validation, test)]
        return cls(fold, train, validation, test, digest([fold.hash, content]))


def _plan_cell(
    decoder: Decoder,
    decoder_key: str,
    benchmark: Benchmark,
    split: Split,
    parts: _FoldParts,
    seed: int,
    code: str,
) -> Cell:
    cell_seed = _cell_seed(seed, benchmark.name, split.name, parts.fold.name)
    asked = {
        "benchmark": benchmark.name,
        "manifest": benchmark.manifest.hash,
        "parts": parts.digest,
        "decoder": decoder_key,
        "seed": cell_seed,
        "code": code,
    }
    if benchmark.features.steps:
        asked["preparation"] = benchmark.features.fingerprint()
    return Cell(
        benchmark=benchmark.name,
        split=split.name,
        fold=parts.fold.name,
        decoder=decoder,
        manifest=benchmark.manifest,
        seed=cell_seed,
        key=digest(asked),
        train=parts.train,
        validation=parts.validation,
        test=parts.test,
        vector_length=None if benchmark.codebook is None else benchmark.codebook.length,
        preparation=benchmark.features,
    )


def _cell_seed(seed: int, benchmark: str, split: str, fold: str) -> int:
    return int(digest([seed, benchmark, split, fold])[:15], 16)


def _repeat_cell(cell: Cell, seed: int) -> Cell:
    trained = _cell_seed(seed, cell.benchmark, cell.split, cell.fold)
    key = digest({"repeat of": cell.key, "seed": trained})
    return replace(cell, seed=trained, asking_seed=cell.seed, key=key)


def _window_sets(source: _Source, ids: Iterable[str], with_targets: bool) -> tuple[WindowSet, ...]:
    """Group the examples of a part by recording, in the order of ids: what a decoder will see."""
    sets = []
    for key, positions in source.group_by_recording(ids):
        recording, fingerprint = source.recording(key)
        starts = source.starts[positions]
        lengths = np.unique(source.stops[positions] - starts)
        if len(lengths) != 1:
            raise InputError(
                f"{recording.name}: windows of {len(lengths)} lengths in one part; they must be equal."
            )
        source.check_inside(positions, recording)
        targets = source.targets[positions] if with_targets else None
        known, codebook = source.known(positions), source.benchmark.codebook
        sets.append(WindowSet(recording, fingerprint, starts, int(lengths[0]), known, targets, codebook))
    return tuple(sets)


def _stream_sets(source: _Source, ids: Iterable[str], with_targets: bool) -> tuple[StreamSet, ...]:
    """Group the streams of a part by recording, in the order of ids; events go with targets only."""
    benchmark = source.benchmark
    assert benchmark.manifest.stream is not None
    sets = []
    for key, positions in source.group_by_recording(ids):
        recording, fingerprint = source.recording(key)
        source.check_inside(positions, recording)
        starts, stops = source.starts[positions], source.stops[positions]
        events = benchmark.read_events(key) if with_targets and benchmark.read_events else None
        targets = source.targets[positions] if with_targets else None
        window = round(benchmark.manifest.stream.window_s * recording.rate_hz)
        known = source.known(positions)
        sets.append(StreamSet(recording, fingerprint, starts, stops, window, known, targets, events))
    return tuple(sets)
