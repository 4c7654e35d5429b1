"""Check a decoder against the contract, on synthetic windows, before any data are touched."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.checklist import Check, Point, run_points
from neuroarena.decoders.decoder import Context, Decoder, Group, Part, n_examples
from neuroarena.features import FeatureChain
from neuroarena.scoring.metrics import Prediction

__all__ = ["Check", "check_decoder", "check_names"]

N_TRAIN, N_TEST = 24, 10


@dataclass(frozen=True)
class Asked:
    """What a benchmark asks a decoder for: classes, a number, or a vector of some length."""

    classes: tuple[str, ...] = ()
    kind: Prediction = "probabilities"
    vector_length: int = 8

    def targets(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Make synthetic targets of that form."""
        if self.kind == "number":
            return rng.standard_normal(n)
        if self.kind == "vector":
            return rng.standard_normal((n, self.vector_length)).astype(np.float32)
        return np.array([self.classes[row % len(self.classes)] for row in range(n)])

    def shape_problem(self, predicted: Any, n: int) -> str | None:
        """Return what is wrong with the shape of predictions for n examples, if anything."""
        shape = np.shape(predicted)
        expected: tuple[int, ...] = {"number": (n,), "vector": (n, self.vector_length)}.get(
            self.kind, (n, len(self.classes))
        )
        if shape == expected or (self.kind == "label" and shape == (n,)):
            return None
        return f"expected shape {expected}, got {shape}"


@dataclass(frozen=True)
class _Trial:
    """Synthetic parts of the benchmark's shape, made for one decoder."""

    decoder: Decoder
    asked: Asked
    train: Part
    validation: Part
    test: Part

    def context(self) -> Context:
        return Context(
            self.asked.classes,
            tuple(group.channels for group in self.test),
            np.random.default_rng(7),
            self.asked.kind,
            self.asked.vector_length,
        )

    def fitted(self) -> Decoder:
        decoder = copy.deepcopy(self.decoder)
        decoder.fit(self.train, self.validation, self.context())
        return decoder


def check_decoder(
    decoder: Any,
    channels: pd.DataFrame,
    rate_hz: float,
    n_samples: int,
    classes: tuple[str, ...] = (),
    *,
    kind: Prediction = "probabilities",
    vector_length: int | None = None,
    stream: bool = False,
) -> list[Check]:
    """Run every point of the contract and report each.

    Parameters
    ----------
    decoder : Decoder
        Not changed: every check works on a copy.
    channels : DataFrame
        Channel table of the synthetic windows.
    rate_hz : float
    n_samples : int
        Length of a window.
    classes : tuple of str
        Classes of the benchmark.
    kind : str
        What the benchmark asks for, as its manifest says.
    vector_length : int, optional
        Numbers in a vector, where it asks for vectors.
    stream : bool
        Whether recordings are played to the decoder. What it learns from cannot be synthesised then, so only
        its form is checked.

    Returns
    -------
    list of Check
        Those after a failed `fit` or `predict` are not run.
    """
    if not isinstance(getattr(decoder, "features", None), FeatureChain):
        return [Check("features is a FeatureChain", False, f"it is {getattr(decoder, 'features', None)!r}")]
    if stream:
        return _stream_checks(decoder)
    asked = Asked(classes, kind, vector_length or 8)
    return run_points(
        _POINTS,
        lambda: _make_trial(decoder, channels, rate_hz, n_samples, asked),
        vital=("fit runs", "predict returns one row per example"),
    )


def _make_trial(
    decoder: Decoder, channels: pd.DataFrame, rate_hz: float, n_samples: int, asked: Asked
) -> _Trial:
    rng = np.random.default_rng(0)
    numbers = iter(range(10**6))

    def part(n: int, with_targets: bool) -> list[Group]:
        windows = rng.standard_normal((n, len(channels), n_samples), dtype=np.float32)
        signals, table = decoder.features(windows, channels, rate_hz)
        ids = [f"check-{next(numbers):04d}" for _ in range(n)]
        known = pd.DataFrame({"id": ids, "subject": "1", "session": "check"})
        targets = asked.targets(n, rng) if with_targets else None
        return [Group(signals, table, decoder.features.rate_after(rate_hz), known, targets)]

    return _Trial(decoder, asked, part(N_TRAIN, True), part(N_TRAIN, True), part(N_TEST, False))


def _fit_runs(trial: _Trial) -> str | None:
    trial.fitted()
    return None


def _fit_without_validation(trial: _Trial) -> str | None:
    copy.deepcopy(trial.decoder).fit(trial.train, None, trial.context())
    return None


def _rows(trial: _Trial) -> str | None:
    return trial.asked.shape_problem(trial.fitted().predict(trial.test), n_examples(trial.test))


def _values(trial: _Trial) -> str | None:
    predicted = np.asarray(trial.fitted().predict(trial.test))
    if trial.asked.kind == "label" and predicted.ndim == 1:
        unknown = set(map(str, predicted)) - set(trial.asked.classes)
        return f'"{min(unknown)}" is not a class' if unknown else None
    predicted = predicted.astype(float)
    if not np.isfinite(predicted).all():
        return "some are NaN or infinite"
    if trial.asked.kind in ("number", "vector"):
        return None
    if (predicted < 0).any() or (predicted > 1).any():
        return f"they range from {predicted.min():.3g} to {predicted.max():.3g}"
    worst = float(np.abs(predicted.sum(axis=1) - 1).max())
    return None if worst < 1e-3 else f"a row sums to {1 + worst:.4f} or {1 - worst:.4f}"


def _repeatable(trial: _Trial) -> str | None:
    first, second = (np.asarray(trial.fitted().predict(trial.test)) for _ in range(2))
    same = np.array_equal(first, second)
    return None if same else "two fits with the same seed differ; use context.rng for all randomness"


def _leaves_inputs_alone(trial: _Trial) -> str | None:
    before = [group.signals.copy() for group in (*trial.train, *trial.test)]
    trial.fitted().predict(trial.test)
    changed = any(
        not np.array_equal(old, group.signals)
        for old, group in zip(before, (*trial.train, *trial.test), strict=True)
    )
    return "fit or predict writes into the signals it was given; copy them first" if changed else None


def _ignores_order(trial: _Trial) -> str | None:
    if getattr(trial.decoder, "role", None) == "chance":
        return None
    order = np.random.default_rng(1).permutation(N_TEST)
    group = trial.test[0]
    shuffled = [Group(group.signals[order], group.channels, group.rate_hz, group.table.iloc[order])]
    straight, mixed = trial.fitted().predict(trial.test), trial.fitted().predict(shuffled)
    one, other = np.asarray(straight)[order], np.asarray(mixed)
    same = np.array_equal(one, other) if one.dtype.kind in "UO" else np.allclose(one, other, atol=1e-5)
    return None if same else "the prediction of an example depends on the order or number of the others"


def _one_example(trial: _Trial) -> str | None:
    group = trial.test[0]
    single = [Group(group.signals[:1], group.channels, group.rate_hz, group.table.iloc[:1])]
    return trial.asked.shape_problem(trial.fitted().predict(single), 1)


def _travels(trial: _Trial) -> str | None:
    # Worker processes get decoders through multiprocessing, which pickles what we ourselves made.
    pickle.dumps(trial.decoder)
    return None


_POINTS: tuple[Point[_Trial], ...] = (
    ("fit runs", _fit_runs),
    ("predict returns one row per example", _rows),
    ("predictions are what is asked for", _values),
    ("fit runs without a validation part", _fit_without_validation),
    ("a single example can be predicted", _one_example),
    ("the same seed gives the same numbers", _repeatable),
    ("inputs are left as they were", _leaves_inputs_alone),
    ("the order of examples does not matter", _ignores_order),
    ("it can be sent to a worker process", _travels),
)


def _stream_checks(decoder: Any) -> list[Check]:
    """Check the form of a decoder of streams."""
    missing = [name for name in ("fit", "start", "step") if not callable(getattr(decoder, name, None))]
    form = Check(
        "it has fit, start and step", not missing, f"it lacks {', '.join(missing)}" if missing else ""
    )
    try:
        pickle.dumps(decoder)
        travels = Check("it can be sent to a worker process", True)
    except Exception as error:  # whatever a third-party decoder raises is reported
        travels = Check("it can be sent to a worker process", False, f"{type(error).__name__}: {error}")
    return [form, travels]


def check_names() -> Iterator[str]:
    """List the points of the contract, in the order in which they are checked."""
    yield from (name for name, _ in _POINTS)
