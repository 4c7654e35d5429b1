"""People hum, loudly or softly; can you tell from one channel?"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from neuroarena.benchmarks import Benchmark, Fold, Split, WindowShape
from neuroarena.datasets import Dataset, Problem, locate
from neuroarena.features import FeatureChain
from neuroarena.recordings import channel_table, from_npy
from neuroarena.scoring import Manifest

RATE_HZ, WINDOW = 50.0, 50


def simulate(root, people=3, seed=0):
    root = Path(root)
    root.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    for person in range(people):
        loud = rng.permutation(np.arange(40) % 2)
        signal = rng.standard_normal((1, 40 * WINDOW)) * (1 + np.repeat(loud, WINDOW))
        np.save(root / f"person{person}.npy", signal.astype(np.float32))
        (root / f"person{person}.json").write_text(json.dumps(loud.tolist()))
    card = {"simulated": True, "people": people}
    (root / "simulated.json").write_text(json.dumps(card))
    return card


def verify(root):
    return [] if list(Path(root).glob("person*.npy")) else [Problem("person0.npy", "there is nobody here.")]


DATASET = Dataset(
    name="hum",
    title="Humming",
    licence="CC0",
    description="People who hum.",
    origin="made up",
    environment=("HUM_DIR",),
    open=Path,
    simulate=simulate,
    verify=verify,
    simulate_options={"people": "how many", "seed": "of all chance"},
)


class Hum:
    name = "hum"
    title = "Loud or soft"
    definitions = ("1",)

    def tasks(self, definition):
        return ("loud",)

    def splits(self, task, definition):
        return ("other-people",)

    def manifest(self, task, definition):
        return Manifest(
            name="hum/loud",
            definition="1",
            title="Loudness",
            question="Was it loud?",
            metric="balanced_accuracy",
            prediction="probabilities",
            classes=("0", "1"),
            unit="person",
            split_rule="leave one person out",
            licence="CC0",
            chance=0.5,
        )

    def window(self, task, definition):
        return WindowShape(channel_table(["mic"], kind="misc"), RATE_HZ, WINDOW)

    def load(self, task, definition, data=None):
        root = locate("hum", data)

        def examples():
            parts = []
            for path in sorted(root.glob("person*.json")):
                loud = json.loads(path.read_text())
                start = np.arange(len(loud)) * WINDOW
                ids = [f"{path.stem}-{number:02d}" for number in range(len(loud))]
                parts.append(
                    pd.DataFrame({"id": ids, "start": start, "stop": start + WINDOW, "target": loud})
                )
                parts[-1] = parts[-1].assign(
                    **dict.fromkeys(("recording", "unit", "cluster", "subject", "session"), path.stem)
                )
            return pd.concat(parts)

        def other_people(table):
            people = sorted(table["subject"].unique())
            ids = {person: tuple(table.loc[table["subject"] == person, "id"]) for person in people}
            train = {
                person: tuple(i for other in people if other != person for i in ids[other])
                for person in people
            }
            return Split("other-people", tuple(Fold(person, train[person], ids[person]) for person in people))

        return Benchmark(
            manifest=self.manifest(task, definition),
            make_examples=examples,
            split_rules={"other-people": other_people},
            open_recording=lambda key: from_npy(root / f"{key}.npy", RATE_HZ, ["mic"], kind="misc"),
            simulated=(root / "simulated.json").exists(),
        )


FAMILY = Hum()


@dataclass
class Power:
    """Louder than the median of the training part."""

    features: FeatureChain = field(default_factory=FeatureChain)

    def fit(self, train, validation=None, context=None):
        self.median_ = np.median(np.concatenate([group.signals.std(axis=(1, 2)) for group in train]))
        return self

    def predict(self, test):
        level = np.concatenate([group.signals.std(axis=(1, 2)) for group in test]) - self.median_
        loud = 1 / (1 + np.exp(-4 * level))
        return np.stack([1 - loud, loud], axis=1)
