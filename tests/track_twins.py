"""Tiny twins of every dataset, written once a process: read them, do not change them."""

from __future__ import annotations

import atexit
import functools
import tempfile
from pathlib import Path
from typing import Any

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


@functools.cache
def twin(dataset: str, **changes: Any) -> Path:
    """Give the folder of a twin; its parent holds it by the dataset's name, as the transfer track wants it."""
    folder = tempfile.TemporaryDirectory(prefix="twin-")
    atexit.register(folder.cleanup)
    place = Path(folder.name) / dataset
    made = load_dataset(dataset)
    made.simulate(place, **{**made.tiny, **changes})
    return place


def bound(task: str, **changes: Any) -> Benchmark:
    """Bind a task to its tiny twin."""
    place = twin(dataset_of(task), **changes)
    (benchmark,) = load_benchmarks(task, str(place.parent if task.startswith("transfer") else place))
    return benchmark
