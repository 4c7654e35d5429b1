"""Small sleep benchmarks for tests, and decoders that try to answer without listening."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.benchmarks import Benchmark
from neuroarena.decoders import Context, Group, Part
from neuroarena.decoders.streams import StreamMeta, drive
from neuroarena.families.sleep import FAMILY, muse_sleep, sleep_edf
from neuroarena.features import FeatureChain
from neuroarena.recordings import Recording, from_array

TASKS = ("sleep-edf", "muse")
SMALL: dict[str, dict[str, Any]] = {
    "sleep-edf": {"people": 6, "nights": 1, "minutes": 51},
    "muse": {"people": 5, "recordings": 2, "longest": 11},
}


def make_benchmark(folder: Path, task: str, **options: Any) -> Benchmark:
    """Write a twin and bind its task."""
    module = sleep_edf if task == "sleep-edf" else muse_sleep
    module.simulate(folder, **{**SMALL[task], **options})
    return held_in_memory(FAMILY.load(task, "2026", str(folder)))


def held_in_memory(benchmark: Benchmark) -> Benchmark:
    """Read every recording once, so that tests do not wait for files."""
    held: dict[str, Recording] = {}

    def recording(key: str) -> Recording:
        if key not in held:
            found = benchmark.open_recording(key)
            samples = found.read(0, found.n_samples)
            held[key] = from_array(samples, found.rate_hz, found.channels["name"].tolist(), name=key)
        return held[key]

    return replace(benchmark, open_recording=recording)


def parts(benchmark: Benchmark, ids: tuple[str, ...]) -> list[Group]:
    """Make the training groups of some recordings as an evaluation does."""
    table = benchmark.examples.set_index("id", drop=False)
    groups = []
    for key in ids:
        row, recording = table.loc[key], benchmark.recording(key)
        known = table.loc[[key], ["id", "subject", "session", "start", "stop"]].reset_index(drop=True)
        nothing = np.empty((1, len(recording.channels), 0), dtype=np.float32)
        assert benchmark.read_events is not None
        groups.append(
            Group(
                nothing,
                recording.channels,
                recording.rate_hz,
                known,
                np.array([row["target"]]),
                recording,
                benchmark.read_events(key),
            )
        )
    return groups


def errors(decoder: Any, benchmark: Benchmark, folds: int = 5, seed: int = 0) -> np.ndarray:
    """Fit and play a decoder on the folds of the split; give the absolute errors in seconds."""
    table, rule = benchmark.examples.set_index("id"), benchmark.manifest.stream
    assert rule is not None
    found = []
    for number, fold in enumerate(benchmark.split("other-people").folds[:folds]):
        context = Context(rng=np.random.default_rng([seed, number]), kind="number", stream=rule)
        decoder.fit(parts(benchmark, fold.train), None, context)
        for place, key in enumerate(fold.test):
            row = table.loc[key]
            rng = np.random.default_rng([seed, number, place])
            answer = drive(decoder, benchmark.recording(key), int(row["start"]), int(row["stop"]), rule, rng)
            found.append(abs(answer - row["target"]))
    return np.array(found)


@dataclass
class Deaf:
    """Learn by how much the targets differ, in the median, from what can be had without listening."""

    features: FeatureChain = field(default_factory=FeatureChain)
    clues: dict[str, float] = field(default_factory=dict)

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> Deaf:
        assert context is not None
        assert context.stream is not None
        self.rule_ = context.stream
        clues, targets = [], []
        for place, group in enumerate(train):
            assert group.recording is not None
            assert group.targets is not None
            start, stop = int(group.table["start"].iloc[0]), int(group.table["stop"].iloc[0])
            if group.recording.name not in self.clues:
                rng = np.random.default_rng(place)
                clue = drive(self.fresh(), group.recording, start, stop, self.rule_, rng)
                self.clues[group.recording.name] = clue
            clues.append(self.clues[group.recording.name])
            targets.append(float(group.targets[0]))
        self.shift_ = float(np.median(np.array(targets) - np.array(clues)))
        return self

    def fresh(self) -> Deaf:
        listener = type(self)()
        listener.shift_, listener.rule_ = 0.0, self.rule_
        return listener

    def start(self, meta: StreamMeta) -> None:
        self.calls = 0
        self.clue = 0.0

    def step(self, window: np.ndarray) -> float:
        self.calls += 1
        self.look(window)
        return self.clue + self.shift_

    def look(self, window: np.ndarray) -> None:
        raise NotImplementedError


@dataclass
class CallCounter(Deaf):
    """Answers with the time that has passed: the number of calls tells the length of the stream."""

    def look(self, window: np.ndarray) -> None:
        self.clue = self.calls * self.rule_.hop_s


@dataclass
class OrderReader(Deaf):
    """Answers by how many streams it has heard before."""

    heard: int = 0

    def start(self, meta: StreamMeta) -> None:
        super().start(meta)
        self.heard += 1

    def look(self, window: np.ndarray) -> None:
        self.clue = 100.0 * self.heard


@dataclass
class RepeatDetector(Deaf):
    """Looks for samples it has heard before: where a recording is played again, its end has been."""

    def start(self, meta: StreamMeta) -> None:
        super().start(meta)
        self.heard = np.empty(0, dtype=np.float32)
        self.found = False

    def look(self, window: np.ndarray) -> None:
        hop = round(window.shape[1] * self.rule_.hop_s / self.rule_.window_s)
        fresh = window[0] if self.calls == 1 else window[0, -hop:]
        # What is played again before a stream begins is over by then.
        begun = self.calls * self.rule_.hop_s > self.rule_.start_jitter_s + self.rule_.window_s
        if not self.found:
            self.clue = self.calls * self.rule_.hop_s
            self.found = begun and any(self.knows(fresh[at : at + 40]) for at in range(0, hop - 40, hop // 4))
        self.heard = np.concatenate([self.heard, fresh])

    def knows(self, probe: np.ndarray) -> bool:
        places = np.flatnonzero(self.heard[: -len(probe)] == probe[0])
        return any(np.array_equal(self.heard[at : at + len(probe)], probe) for at in places)
