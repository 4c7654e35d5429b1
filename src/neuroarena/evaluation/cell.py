"""The two kinds of work in a run: computing a shard of features, and judging one decoder on one fold."""

from __future__ import annotations

import copy
import itertools
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.decoders import Context, Decoder, Group
from neuroarena.evaluation.asking import predict_streams, predict_windows
from neuroarena.evaluation.cache import CellCache
from neuroarena.evaluation.feature_store import FeatureStore
from neuroarena.evaluation.fractions import choose_rows, name_split
from neuroarena.evaluation.origins import note_origin
from neuroarena.evaluation.parts import StreamSet, WindowSet
from neuroarena.evaluation.prediction_table import describe_ties, prediction_columns
from neuroarena.features import FeatureChain
from neuroarena.fingerprint import digest
from neuroarena.recordings import Recording
from neuroarena.scoring import METRICS, Manifest


@dataclass(frozen=True)
class FeatureShard:
    """Compute the features of some windows of one recording and store them."""

    recording: Recording
    fingerprint: str
    chain: FeatureChain
    length: int
    starts: np.ndarray

    @property
    def label(self) -> str:
        """A description of this work for people."""
        return f"{self.chain.name} of {self.recording.name}"

    @property
    def key(self) -> str:
        """A name for the product: that of the store and of the windows."""
        return digest([self.fingerprint, self.chain.fingerprint(), self.length, self.starts.tolist()])

    def is_done(self, cache: Path) -> bool:
        """Return whether every window of the shard is in the store."""
        return not len(self._store(cache).missing(self.starts))

    def bytes_a_window(self, cache: Path) -> int:
        """Return how much room the features of one window take."""
        return self._store(cache).bytes_a_window(self.recording)

    def run(self, cache: Path) -> None:
        """Compute the shard; it is in the store afterwards."""
        self._store(cache).compute(self.recording, self.starts)

    def _store(self, cache: Path) -> FeatureStore:
        return FeatureStore(cache, self.fingerprint, self.chain, self.length)


@dataclass(frozen=True)
class Cell:
    """Fit one decoder on the training part of one fold and predict its test part.

    `seed` is that of training. A repeat with another one is asked the same questions in the same order: those of
    `asking_seed`, which is `seed` unless given. `preparation` is what the benchmark does to every window before the
    decoder's own features. With `train_fraction`, a share of the training part is drawn by `seed`.
    """

    benchmark: str
    split: str
    fold: str
    decoder: Decoder
    manifest: Manifest
    seed: int
    key: str
    train: tuple[WindowSet, ...] | tuple[StreamSet, ...]
    validation: tuple[WindowSet, ...] | tuple[StreamSet, ...]
    test: tuple[WindowSet, ...] | tuple[StreamSet, ...]
    vector_length: int | None = None
    asking_seed: int | None = None
    preparation: FeatureChain = field(default_factory=FeatureChain)
    train_fraction: float = 1.0

    @property
    def chain(self) -> FeatureChain:
        """What windows go through: the benchmark's preparation, then the decoder's own features."""
        return FeatureChain((*self.preparation.steps, *self.decoder.features.steps))

    @property
    def label(self) -> str:
        """A description of this work for people."""
        return f"{self.benchmark} {self.split} {self.fold}"

    def training(self) -> tuple[WindowSet | StreamSet, ...]:
        """Return what is learned from: the training part, or the share of it that the seed draws."""
        if self.train_fraction == 1:
            return self.train
        ids = [str(each) for part in self.train for each in part.ids]
        targets = [each for part in self.train for each in (part.targets if part.targets is not None else ())]
        kept = choose_rows(ids, targets, self.train_fraction, self.seed)
        parts: Sequence[WindowSet | StreamSet] = self.train
        edges = np.cumsum([0, *(len(part.starts) for part in parts)])
        inside = [kept[(kept >= low) & (kept < high)] - low for low, high in itertools.pairwise(edges)]
        return tuple(part.select(rows) for part, rows in zip(parts, inside, strict=True) if len(rows))

    def window_sets(self) -> Iterator[WindowSet]:
        """Iterate over the windows of all three parts; those of streams are not known beforehand."""
        for part in (*self.train, *self.validation, *self.test):
            if isinstance(part, WindowSet):
                yield part

    def with_windows(self, change: Callable[[WindowSet, FeatureChain], WindowSet]) -> Cell:
        """Return the cell with its windows changed; streams stay as they are."""
        chain = self.chain

        def changed(part: Sequence[WindowSet | StreamSet]) -> Any:
            return tuple(change(each, chain) if isinstance(each, WindowSet) else each for each in part)

        parts = {name: changed(getattr(self, name)) for name in ("train", "validation", "test")}
        return replace(self, **parts)

    def is_done(self, cache: Path) -> bool:
        """Return whether the predictions are in the cell cache."""
        return self.key in CellCache(cache)

    def run(self, cache: Path) -> None:
        """Fit and predict; the predictions are in the cell cache afterwards.

        Raises
        ------
        NeuroarenaError
            When the predictions do not have the form that the manifest asks for.
        """
        started = time.perf_counter()
        decoder = copy.deepcopy(self.decoder)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            train, validation = self._groups(self.training(), cache), self._groups(self.validation, cache)
            context = self._context()
            untouched = _chance_state(context.rng)
            decoder.fit(train, validation or None, context)
            drew = _chance_state(context.rng) != untouched or _holds(decoder, context.rng)
            drew = drew or self.train_fraction < 1
            del train, validation
            predicted = self._ask(decoder, cache)
        ids = np.concatenate([part.ids for part in self.test])
        columns = prediction_columns(predicted, ids, self.manifest)
        said = sorted({f"{warning.category.__name__}: {warning.message}" for warning in caught})
        # A floor answers everything alike, and is meant to.
        tied = None if self._blind else describe_ties(columns, self.manifest)
        said += [tied] if tied else []
        content = CellCache(cache).write(self.key, columns, {"warnings": said, "drew": drew})
        seconds = round(time.perf_counter() - started, 4)
        benchmark, split, named = self.kind
        note_origin(
            cache, self.key, content, seconds=seconds, benchmark=benchmark, split=split, decoder=named
        )

    @property
    def kind(self) -> tuple[str, str, str]:
        """What cells of the same cost have in common: benchmark, split with the share of training, and decoder."""
        return self.benchmark, name_split(self.split, self.train_fraction), self.decoder_type

    @property
    def decoder_type(self) -> str:
        """The kind of decoder and what it is given, for figures of what it costs."""
        kind = f"{type(self.decoder).__module__}.{type(self.decoder).__qualname__}"
        # A parameter that is a word chooses what is computed (the network of a zoo, say); a number mostly does not.
        words = [
            each for each in vars(self.decoder).values() if isinstance(each, str) and each.isidentifier()
        ]
        chosen = f"{kind}({', '.join(words)})" if words else kind
        return f"{chosen} of {self.chain.name}" if self.chain.steps else chosen

    @property
    def _blind(self) -> bool:
        return bool(getattr(self.decoder, "blind", False))

    def _context(self) -> Context:
        return Context(
            classes=self.manifest.classes,
            test_channels=tuple(part.channels(self.chain) for part in self.test),
            rng=np.random.default_rng(self.seed),
            kind=self.manifest.prediction,
            vector_length=self.vector_length,
            stream=self.manifest.stream,
            ranks=METRICS.get(self.manifest.metric).ranks,
        )

    def _groups(self, part: Sequence[WindowSet | StreamSet], cache: Path) -> list[Group]:
        chain = self.chain
        return [
            each.group(chain, cache, self._blind) if isinstance(each, WindowSet) else each.group(chain)
            for each in part
        ]

    def _ask(self, decoder: Decoder, cache: Path) -> Any:
        # A separate generator: what a decoder draws while it learns must not change the order of the questions.
        seed = self.seed if self.asking_seed is None else self.asking_seed
        rng = np.random.default_rng([seed, 1])
        windows = [part for part in self.test if isinstance(part, WindowSet)]
        if self.manifest.stream is None:
            return predict_windows(decoder, self.chain, windows, cache, rng, self._blind)
        streams = [part for part in self.test if isinstance(part, StreamSet)]
        listener: Any = decoder
        return predict_streams(listener, streams, self.manifest.stream, rng)


def _chance_state(rng: np.random.Generator) -> tuple[Any, int]:
    """Return what changes when something is drawn from a generator, or when others are spawned from it."""
    return rng.bit_generator.state, rng.bit_generator.seed_seq.n_children_spawned  # type: ignore[attr-defined]


def _holds(decoder: Decoder, rng: np.random.Generator) -> bool:
    """Return whether a fitted decoder keeps the generator, and may therefore draw when it predicts."""
    copied: dict[int, Any] = {}
    copy.deepcopy(decoder, copied)
    return id(rng) in copied or id(rng.bit_generator) in copied
