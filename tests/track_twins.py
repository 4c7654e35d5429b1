"""Tiny twins of every dataset, written once: read them, do not change them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kept_twins import keep_twin
from neuroarena.benchmarks import Benchmark, load_benchmarks
from neuroarena.datasets import load_dataset

DATASET_OF = {
    "bci/commands": "bci_commands",
    "bci/ssvep-exo": "ssvep_exo",
    "img/things-eeg2": "things_eeg2",
    "sleep/sleep-edf": "sleep_edf",
    "sleep/muse": "muse_sleep",
    "emg/emg2qwerty": "emg2qwerty",
    "transfer/img": "things_eeg2",
    "transfer/bci": "bci_commands",
    "transfer/sleep": "sleep_edf",
    "transfer/emg": "emg2qwerty",
    "eeg2025": "hbn",
    "neuroprobe": "braintreebank",
}


def dataset_of(task: str) -> str:
    """The dataset that a task, ``family[@definition]/task``, is bound to."""
    family, _, rest = task.partition("/")
    family = family.partition("@")[0]
    return DATASET_OF.get(f"{family}/{rest}") or DATASET_OF[family]


def twin(dataset: str, **changes: Any) -> Path:
    """Return the folder of a twin; its parent holds it by the dataset's name, as the transfer track wants it."""
    return keep_twin(dataset, **{**load_dataset(dataset).tiny, **changes})


def bound(task: str, **changes: Any) -> Benchmark:
    """Bind a task to its tiny twin."""
    place = twin(dataset_of(task), **changes)
    (benchmark,) = load_benchmarks(task, str(place.parent if task.startswith("transfer") else place))
    return benchmark
