"""A small benchmark in memory: two people, two sessions each, one planted channel."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from neuroarena.benchmarks import Benchmark, Fold, Split
from neuroarena.decoders import Context, Linear, Part, n_examples
from neuroarena.features import FeatureChain, Laplacian
from neuroarena.recordings import from_array
from neuroarena.scoring import Manifest

RATE_HZ = 100.0
WINDOW = 50
SESSIONS = ("1_0", "1_1", "2_0", "2_1")


def toy_manifest(**changes: object) -> Manifest:
    values = {
        "name": "toy/blip",
        "definition": "1",
        "title": "Blip",
        "question": "Was there a blip?",
        "metric": "auroc",
        "prediction": "probabilities",
        "classes": ("0", "1"),
        "unit": "session",
        "cluster": "subject",
        "split_rule": "halves, or the other session of the subject",
        "licence": "made up",
        "chance": 0.5,
    }
    return Manifest.model_validate({**values, **changes})


def toy_signal(session: str, strength: float, n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Signal (4, time), starts and targets of a session."""
    rng = np.random.default_rng([SESSIONS.index(session), 5])
    signal = rng.standard_normal((4, n * 80 + 200)).astype(np.float32)
    starts = 20 + 80 * np.arange(n)
    targets = rng.permutation(np.arange(n) % 2)
    for start in starts[targets == 1]:
        signal[1, start : start + WINDOW] += strength
    return signal, starts, targets


def _examples(strength: float) -> pd.DataFrame:
    parts = []
    for session in SESSIONS:
        _, starts, targets = toy_signal(session, strength)
        parts.append(
            pd.DataFrame(
                {
                    "id": [f"{session}-{item:03d}" for item in range(len(starts))],
                    "recording": session,
                    "start": starts,
                    "stop": starts + WINDOW,
                    "target": targets,
                    "unit": session,
                    "cluster": session[0],
                    "subject": session[0],
                    "session": session,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _within(examples: pd.DataFrame) -> Split:
    folds = []
    for session, group in examples.groupby("session"):
        ids = sorted(group["id"])
        half = len(ids) // 2
        folds += [
            Fold(f"{session}/0", tuple(ids[half:]), tuple(ids[:half])),
            Fold(f"{session}/1", tuple(ids[:half]), tuple(ids[half:])),
        ]
    return Split("within", tuple(folds))


def _cross(examples: pd.DataFrame) -> Split:
    ids = {str(session): tuple(sorted(group["id"])) for session, group in examples.groupby("session")}
    other = {"1_0": "1_1", "1_1": "1_0", "2_0": "2_1", "2_1": "2_0"}
    return Split("cross", tuple(Fold(session, ids[other[session]], ids[session]) for session in SESSIONS))


def toy_benchmark(strength: float = 0.5, **changes: object) -> Benchmark:
    def recording(key: str):
        names = ["A1", "A2", "A3", "B1"]
        return from_array(toy_signal(key, strength)[0], RATE_HZ, names, name=f"toy {key}")

    values = {
        "manifest": toy_manifest(),
        "make_examples": lambda: _examples(strength),
        "split_rules": {"within": _within, "cross": _cross},
        "open_recording": recording,
        "simulated": True,
    }
    return Benchmark(**{**values, **changes})


@dataclass
class Mean:
    """Says how high the mean of one channel is; fast, deterministic and good at the toy."""

    channel: int = 1
    features: FeatureChain = field(default_factory=lambda: FeatureChain((Laplacian(),)))
    log: str = ""

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> Mean:
        if self.log:
            with Path(self.log).open("a") as file:
                file.write("fit\n")
        return self

    def predict(self, test: Part) -> np.ndarray:
        level = np.concatenate([group.signals[:, self.channel].mean(axis=1) for group in test])
        p = 1 / (1 + np.exp(-level))
        return np.stack([1 - p, p], axis=1)


@dataclass
class Fragile(Mean):
    """Fails on one session."""

    session: str = "2_0"
    how: str = "raise"

    def predict(self, test: Part) -> np.ndarray:
        if test[0].table["session"].iloc[0] == self.session:
            if self.how == "raise":
                raise RuntimeError("the electrode fell off")
            if self.how == "die":
                import os

                os.kill(os.getpid(), 9)
            if self.how == "eat":
                # Until whoever watches its memory ends the process; never more than this.
                eaten = [np.ones(2**23) for _ in range(24)]
                time.sleep(120)
                raise RuntimeError(f"nobody stopped {len(eaten)} x 64 MB")
            if self.how == "nan":
                return np.full((n_examples(test), 2), np.nan)
            return np.zeros((3, 2))
        return super().predict(test)


def toy_linear() -> Linear:
    return Linear(FeatureChain((Laplacian(),)))


# Where it is set, only so many cells of a `Slow` are computed until a file is there: "number:path".
GATE = "NEUROARENA_TEST_GATE"


def describe_gate(folder: Path, free: int) -> str:
    """Return what `GATE` has to be so that all cells but the first few wait for :func:`open_gate`."""
    return f"{free}:{folder / f'gate-{os.urandom(4).hex()}'}"


def open_gate(gate: str) -> None:
    """Let all cells go on."""
    Path(f"{gate.partition(':')[2]}.open").touch()


def wait_at_gate() -> None:
    """Count this cell, and wait if it is none of the first; for ten minutes at most, lest a failed test never end."""
    if GATE not in os.environ:
        return
    free, _, path = os.environ[GATE].partition(":")
    counter = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(counter, b".")
    number = os.lseek(counter, 0, os.SEEK_CUR)
    os.close(counter)
    for _ in range(12_000):
        if number <= int(free) or Path(f"{path}.open").exists():
            return
        time.sleep(0.05)


def wait_for_cells(cache: Path, n: int) -> None:
    """Wait until so many cells are in a cache; for ten minutes at most."""
    for _ in range(12_000):
        if len(list((cache / "cells").rglob("*.cell"))) >= n:
            return
        time.sleep(0.05)


@dataclass
class Slow(Mean):
    """The same answers, a little later, or not before a gate is opened."""

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> Mean:
        wait_at_gate()
        return super().fit(train, validation, context)

    def predict(self, test: Part) -> np.ndarray:
        time.sleep(0.4)
        return super().predict(test)
