"""Chains of feature steps: named, fingerprinted, and applied to runs of windows."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.features.blocks import check_block, window_slices
from neuroarena.fingerprint import canonical_json, code_fingerprint, digest
from neuroarena.recordings.requests import check_rate

# Windows go through the whole chain in runs of this size. What the steps hand to each other then
# stays near the cache, and no intermediate copy of a large block is ever made.
RUN_BYTES = 16 << 20


@runtime_checkable
class FeatureStep(Protocol):
    """One stateless step: a frozen dataclass whose fields are its parameters.

    It treats every window by itself: the result for a window does not depend on the others.
    A step that changes the rate along axis 2 also has a method `rate_after(rate_hz) -> float`.
    """

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Turn a float32 block (window, channel, ...) and its channel table into new ones."""


@dataclass(frozen=True)
class FeatureChain:
    """Apply feature steps one after the other.

    Parameters
    ----------
    steps
        Frozen dataclasses that are callable as `FeatureStep` describes; a chain among them is spliced in.
        Without any step, the raw signals are used.

    Raises
    ------
    InputError
        When a step is not a frozen dataclass, is not callable, or has a parameter without a JSON form.

    Examples
    --------
    >>> from neuroarena.features import Laplacian, Spectrogram
    >>> chain = FeatureChain((Laplacian(), Spectrogram()))
    >>> chain.name, chain.output_shape(120, 2048, 2048.0)
    ('laplacian-spectrogram', (120, 17, 38))
    """

    steps: tuple[FeatureStep, ...] = ()

    def __post_init__(self) -> None:
        flat: list[FeatureStep] = []
        for step in self.steps:
            flat.extend(step.steps if isinstance(step, FeatureChain) else (_check_step(step),))
        object.__setattr__(self, "steps", tuple(flat))

    @property
    def name(self) -> str:
        """The names of the steps, joined by dashes; "raw" without any."""
        return "-".join(_step_name(step) for step in self.steps) or "raw"

    def parameters(self) -> list[dict[str, Any]]:
        """List the steps in order as plain data: `type` and the fields."""
        return [_parameters(step) for step in self.steps]

    def fingerprint(self) -> str:
        """Return a digest that changes with any parameter, and with the code of any step."""
        return digest(
            {"parameters": self.parameters(), "code": [code_fingerprint(step) for step in self.steps]}
        )

    def rate_after(self, rate_hz: float) -> float:
        """Return the rate along axis 2 after the chain: samples, or frames, per second."""
        rate = check_rate(rate_hz, "FeatureChain")
        for step in self.steps:
            rate = _rate_after(step, rate)
        return rate

    def output_shape(
        self, n_channels: int, n_samples: int, rate_hz: float, channels: pd.DataFrame | None = None
    ) -> tuple[int, ...]:
        """Find the shape of one window's features, by running the chain on one window of zeros.

        Parameters
        ----------
        n_channels, n_samples, rate_hz
            What goes in.
        channels
            The channel table; without it the channels belong to no probe, which matters to steps that
            drop or pair contacts.

        Returns
        -------
        tuple of int
            (channel, ...) without the axis of windows.
        """
        table = _anonymous_channels(n_channels) if channels is None else channels
        zeros = np.zeros((1, n_channels, n_samples), dtype=np.float32)
        features, _ = self(zeros, table, rate_hz)
        return features.shape[1:]

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Turn a block (window, channel, time) into features (window, channel, ...) and their channel table.

        Without a step the signals themselves are returned, not a copy.

        Raises
        ------
        InputError
            When signals and table disagree, or a step refuses them.
        """
        block = check_block(signals, channels, "FeatureChain")
        rate = check_rate(rate_hz, "FeatureChain")
        if not self.steps:
            return block, channels
        if not len(block):
            features, table = self._apply(np.zeros((1, *block.shape[1:]), dtype=np.float32), channels, rate)
            return features[:0], table
        runs = list(window_slices(len(block), block[:1].nbytes, RUN_BYTES))
        features, table = self._apply(block[runs[0]], channels, rate)
        if len(runs) == 1:
            return features, table
        result = np.empty((len(block), *features.shape[1:]), dtype=np.float32)
        result[runs[0]] = features
        for run in runs[1:]:
            result[run], _ = self._apply(block[run], channels, rate)
        return result, table

    def _apply(
        self, block: np.ndarray, channels: pd.DataFrame, rate: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        for step in self.steps:
            block, channels = step(block, channels, rate)
            rate = _rate_after(step, rate)
        return block.astype(np.float32, copy=False), channels


def _check_step(step: FeatureStep) -> FeatureStep:
    shown = type(step).__name__ if not isinstance(step, type) else f"the class {step.__name__}"
    if isinstance(step, type) or not dataclasses.is_dataclass(step) or not callable(step):
        raise InputError(
            f"FeatureChain: a step must be a callable instance of a frozen dataclass, got {shown}. "
            "Its fields are the parameters that the fingerprint is made of."
        )
    if not type(step).__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise InputError(
            f"FeatureChain: {shown} is a dataclass that is not frozen. Declare it with frozen=True."
        )
    try:
        canonical_json(_parameters(step))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"FeatureChain: a parameter of {shown} cannot be written as JSON ({error}). "
            "Use numbers, text, booleans and tuples of them."
        ) from error
    return step


def _parameters(step: Any) -> dict[str, Any]:
    return {"type": type(step).__name__} | {
        field.name: getattr(step, field.name) for field in dataclasses.fields(step)
    }


def _step_name(step: Any) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", type(step).__name__).lower()


def _rate_after(step: Any, rate: float) -> float:
    change = getattr(step, "rate_after", None)
    return rate if change is None else float(change(rate))


def _anonymous_channels(n_channels: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": [f"channel {place}" for place in range(n_channels)],
            "kind": "misc",
            **{axis: np.full(n_channels, np.nan) for axis in ("x", "y", "z")},
            "region": "",
        }
    )
