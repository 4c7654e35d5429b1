"""A small self-supervised encoder: convolutions of single channels that learned to fill in what was masked."""

from __future__ import annotations

import functools
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.decoders.networks.saved import read_note
from neuroarena.decoders.networks.training import import_torch
from neuroarena.errors import InputError
from neuroarena.families.transfer.decoders.pooling import (
    COURSE_S,
    SHORT_S,
    asks_for_frames,
    frame_powers,
    frames_of,
    most_parts,
    quiet_log,
    segment_means,
)
from neuroarena.fingerprint import file_digest

WEIGHTS = "selfsupervised.safetensors"
KIND = "masked-convolution"
MAPS, FIRST, SECOND, WIDEN = 8, 15, 9, 4
_PURPOSE = "The encoder selfsupervised"


def build() -> Any:
    """Make the network of one channel: (n, 1, samples) to (n, 8, samples), with random weights."""
    import_torch(_PURPOSE)
    from torch import nn

    return nn.Sequential(
        nn.Conv1d(1, MAPS, FIRST, padding=FIRST // 2),
        nn.GELU(),
        nn.Conv1d(MAPS, MAPS, SECOND, padding=WIDEN * (SECOND // 2), dilation=WIDEN),
        nn.GELU(),
        nn.Conv1d(MAPS, MAPS, 1),
    )


class SelfSupervised:
    """Convolutions of single channels, pretrained on unlabelled simulated windows of all four tracks.

    The network was trained to fill in masked stretches of a channel; see :func:`.pretrain`. Of every channel and
    map, the output is the log power, and for short windows the course in means of 50 ms; for EMG, it is the log power
    in each frame.

    Parameters
    ----------
    weights : path, optional
        A file of :func:`.pretrain`; by default the one that ships with the package, which is simulated.
    """

    def __init__(self, weights: str | Path | None = None) -> None:
        if weights is None:
            with as_file(files(__package__).joinpath(WEIGHTS)) as path:
                weights = path
        self.path = str(weights)
        if not Path(weights).is_file():
            raise InputError(f"{weights}: this file does not exist. Expected weights that pretrain() wrote.")

    def weights_hash(self) -> str:
        """Hash the file."""
        return file_digest(self.path)

    def encode(self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float) -> np.ndarray:
        """Encode windows: float32 (n, d), or (n, frames, 24 channels) for EMG."""
        torch = import_torch(_PURPOSE)
        torch.set_num_threads(1)
        network = _network(self.path, self.weights_hash())
        n, n_channels, samples = signals.shape
        centred = signals - signals.mean(axis=2, keepdims=True)
        loudness = np.sqrt(np.mean(np.square(centred), axis=(1, 2), keepdims=True)) + 1e-6
        with torch.inference_mode():
            flat = torch.from_numpy((centred / loudness).reshape(n * n_channels, 1, samples))
            maps = np.concatenate([network(part).numpy() for part in flat.split(256)])
        maps = maps.reshape(n, n_channels * MAPS, samples)
        if asks_for_frames(channels):
            return frames_of(frame_powers(maps * loudness, rate_hz))
        parts = [quiet_log(np.square(maps).mean(axis=2)), quiet_log(np.square(centred).mean(axis=2))]
        if samples / rate_hz <= SHORT_S:
            used = sum(part.shape[1] for part in parts)
            bins = most_parts(maps.shape[1], round(samples / rate_hz / COURSE_S), besides=used)
            parts.append(segment_means(maps, bins).reshape(n, -1))
        return np.concatenate(parts, axis=1).astype(np.float32)


@functools.lru_cache(maxsize=2)
def _network(path: str, content: str) -> Any:  # noqa: ARG001 - the content is part of the key
    from safetensors.torch import load_file

    if read_note(path).get("encoder") != KIND:
        raise InputError(f"{path}: holds another network. Expected weights that pretrain() wrote.")
    network = build()
    try:
        network.load_state_dict(load_file(path))
    except RuntimeError as error:
        raise InputError(f"{path}: its tensors do not fit: {' '.join(str(error).split())[:300]}") from error
    return network.eval().requires_grad_(False)
