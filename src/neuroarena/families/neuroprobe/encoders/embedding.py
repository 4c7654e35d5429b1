"""BrainBERT features of electrodes: the encoder applied to spectra, and the step that is cached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.decoders.decoder import Group, Part
from neuroarena.decoders.networks.training import import_torch
from neuroarena.decoders.pretrained import Weights, load_module
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.encoders.session_scale import SessionScale
from neuroarena.families.neuroprobe.encoders.shapes import BRAINBERT, PURPOSE
from neuroarena.families.neuroprobe.encoders.spectra import BrainBertSpectra, Recipe

CENTRE_FRAMES = 10
# Sequences encoded at once in a stream: 128 of 34 frames take 13 MB per layer.
SEQUENCES = 128


def centre_of(encoded: Any) -> Any:
    """Average the ten frames about the middle: (..., frames, hidden) to (..., hidden).

    Raises
    ------
    InputError
        When there are fewer than ten frames.
    """
    frames = encoded.shape[-2]
    check_frames(frames)
    first = frames // 2 - CENTRE_FRAMES // 2
    return encoded[..., first : first + CENTRE_FRAMES, :].mean(-2)


def check_frames(frames: int) -> None:
    """Refuse a window with too few frames for a centre."""
    if frames < CENTRE_FRAMES:
        raise InputError(
            f"BrainBERT: the centre is {CENTRE_FRAMES} frames, and this window has {frames}. Use at least 1401 "
            'samples (850 with recipe="untrimmed").'
        )


@dataclass(frozen=True)
class BrainBertEmbedding:
    """Turn each electrode into its BrainBERT feature: the mean of the encoder's ten centre frames.

    The encoder is frozen and in evaluation mode, and each window is z-scored by itself, so the
    feature of a window depends on nothing else: evaluation computes it once for all tasks, folds
    and decoders. Windows are encoded one at a time, so that their bits do not depend on the other windows.

    Parameters
    ----------
    weights : Weights
        Of :func:`find_weights`. Their content, not their path, identifies the step.
    recipe : str
        Front end, as in :class:`BrainBertSpectra`.
    device : str
        A torch device.

    Raises
    ------
    InputError
        When called, for a window of fewer than ten frames, and as :class:`BrainBertSpectra` does.
    MissingDependency
        When called without torch.
    """

    weights: InitVar[Weights]
    recipe: Recipe = "pipeline"
    device: str = "cpu"
    size: str = field(init=False)
    weights_sha256: str = field(init=False)
    seed: int | None = field(init=False)

    def __post_init__(self, weights: Weights) -> None:
        BrainBertSpectra(self.recipe)
        values = {"size": weights.size, "weights_sha256": weights.sha256, "seed": weights.seed}
        for name, value in {**values, "weights_": weights}.items():
            object.__setattr__(self, name, value)

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Encode a block (window, channel, time) to (window, channel, hidden)."""
        spectra, channels = BrainBertSpectra(self.recipe)(signals, channels, rate_hz)
        check_frames(spectra.shape[2])
        weights: Weights = self.weights_  # type: ignore[attr-defined]
        module = load_module(weights, self.device)
        result = np.empty((*spectra.shape[:2], BRAINBERT.shape(self.size).hidden), dtype=np.float32)
        for place, window in enumerate(spectra):
            # A blank window (evaluation asks with one for the channel table) is ones everywhere:
            # one electrode speaks for all.
            distinct = window[:1] if (window == 1).all() else window
            result[place] = centre_of(encode(module, distinct)).cpu().numpy()
        return result, channels


def encode(module: Any, spectra: np.ndarray) -> Any:
    """Encode spectra (sequence, frame, 40), without gradients: tensor (sequence, frame, hidden)."""
    torch = import_torch(PURPOSE)
    torch.set_num_threads(1)
    device = next(module.parameters()).device
    with torch.inference_mode():
        return module(torch.from_numpy(np.ascontiguousarray(spectra)).to(device))


def embedded(part: Part, scale: SessionScale, module: Any) -> list[Group]:
    """Replace the magnitudes of a part by BrainBERT features, z-scored with learned statistics."""
    groups = []
    for group in part:
        hidden = module.input_encoding.in_proj.out_features
        check_frames(group.signals.shape[2])
        signals = np.empty((*group.signals.shape[:2], hidden), dtype=np.float32)
        for rows in batches(len(group), group.signals.shape[1]):
            spectra = scale.apply(group, rows)
            flat = encode(module, spectra.reshape(-1, *spectra.shape[2:]))
            signals[rows] = centre_of(flat).cpu().numpy().reshape(*spectra.shape[:2], hidden)
        groups.append(Group(signals, group.channels, group.rate_hz, group.table, group.targets))
    return groups


def batches(n_windows: int, n_channels: int) -> Iterator[slice]:
    """Cut windows into runs of about :data:`SEQUENCES` sequences.

    Examples
    --------
    >>> list(batches(3, 100))
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    """
    step = max(1, SEQUENCES // max(n_channels, 1))
    for first in range(0, n_windows, step):
        yield slice(first, min(first + step, n_windows))
