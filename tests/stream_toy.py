"""A small stream benchmark in memory: a tone begins somewhere in each recording."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.benchmarks import Benchmark, Fold, Split
from neuroarena.decoders import StreamMeta
from neuroarena.features import FeatureChain
from neuroarena.recordings import from_array
from neuroarena.scoring import Manifest, StreamRule

RATE_HZ = 50.0
PEOPLE = tuple("abcdefghijkl")
RULE = StreamRule(window_s=2, hop_s=1, start_jitter_s=10, horizon_s=120, answer="last")


def onset_of(person: str) -> float:
    """Seconds at which the tone of a person begins."""
    return float(np.random.default_rng([7, PEOPLE.index(person)]).integers(10, 60))


def recording_of(person: str, tail_s: float = 20.0):
    """A recording that ends `tail_s` after the tone begins: its length gives the answer away."""
    onset, rng = onset_of(person), np.random.default_rng([8, PEOPLE.index(person)])
    samples = round((onset + tail_s) * RATE_HZ)
    signal = rng.standard_normal((2, samples)).astype(np.float32)
    signal[0, round(onset * RATE_HZ) :] += 5.0
    return from_array(signal, rate_hz=RATE_HZ, channels=["one", "two"], kind="eeg", name=person)


def stream_manifest(**changes: Any) -> Manifest:
    values = {
        "name": "toy/onset",
        "definition": "1",
        "title": "Onset",
        "question": "When does the tone begin?",
        "metric": "mae",
        "prediction": "number",
        "prediction_column": "seconds",
        "unit": "recording",
        "split_rule": "other people",
        "licence": "made up",
        "state": "stream",
        "stream": RULE.model_dump(),
    }
    return Manifest.model_validate({**values, **changes})


def stream_benchmark() -> Benchmark:
    """Six people to learn from, six to be judged on."""

    def examples() -> pd.DataFrame:
        table = pd.DataFrame({"id": PEOPLE, "recording": PEOPLE, "start": 0})
        table["stop"] = [recording_of(person).n_samples for person in PEOPLE]
        table["target"] = [onset_of(person) for person in PEOPLE]
        return table.assign(unit=PEOPLE, cluster=PEOPLE, subject=PEOPLE, session="1")

    def events(person: str) -> pd.DataFrame:
        return pd.DataFrame({"onset_s": [onset_of(person)], "duration_s": [1.0], "value": ["tone"]})

    return Benchmark(
        manifest=stream_manifest(),
        make_examples=examples,
        split_rules={"other-people": lambda _: Split("other-people", (Fold("all", PEOPLE[:6], PEOPLE[6:]),))},
        open_recording=recording_of,
        simulated=True,
        read_events=events,
    )


@dataclass
class Listener:
    """Answers once, when the first channel is loud; `mode` makes it cheat."""

    mode: str = "listen"
    features: FeatureChain = field(default_factory=FeatureChain)

    def fit(self, train, validation=None, context=None):
        self.seen_ = [(group.signals.shape, len(group.events), group.recording.n_samples) for group in train]
        self.constant_ = float(np.mean([group.targets[0] for group in train]))
        return self

    def start(self, meta: StreamMeta) -> None:
        assert not hasattr(self, "steps_"), "a stream is played to a copy that another stream has used"
        self.steps_, self.found_ = 0, False
        self.meta_ = meta

    def step(self, window):
        self.steps_ += 1
        if self.mode == "silent":
            return None
        if self.mode == "words":
            return "three"
        if self.mode == "count":
            return self.steps_ * RULE.hop_s - 20.0
        if self.mode == "constant":
            return self.constant_
        if not self.found_ and window[0].mean() > 2.5:
            self.found_ = True
            return (self.steps_ - 1) * RULE.hop_s + RULE.window_s / 2
        return None
