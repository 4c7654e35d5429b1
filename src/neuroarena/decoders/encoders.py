"""Frozen encoders of one's own: embeddings are features, computed once per window for all tasks, splits and heads."""

from __future__ import annotations

import functools
import hashlib
import importlib
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from neuroarena.decoders.linear import Linear
from neuroarena.decoders.networks.training import choose_device, import_torch, private_torch
from neuroarena.decoders.sklearn_adapter import SklearnDecoder, from_sklearn
from neuroarena.errors import InputError
from neuroarena.features import FeatureChain
from neuroarena.features.blocks import check_block
from neuroarena.fingerprint import code_fingerprint
from neuroarena.recordings.channels import channel_table

Pooling = Literal["mean", "flatten"]


@dataclass(frozen=True)
class Embed:
    """Turn windows into embeddings with a frozen torch module.

    Parameters
    ----------
    encoder
        ``module:attribute`` of a torch module or of a function that makes one. It is called with a float32 tensor
        (windows, channels, samples) and the keywords `names`, `positions` (channels, 3) and `rate_hz`, and
        returns (windows, ..., d).
    weights
        Digest of its weights and code, so that nothing is found in the cache for other weights.
    pooling
        "mean" over the axes between the first and the last, or "flatten".
    batch_size
        Windows at once.
    device
        As torch names it; "auto" is the first GPU, else the processor.
    """

    encoder: str
    weights: str
    pooling: Pooling = "mean"
    batch_size: int = 64
    device: str = "auto"

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Turn a block (window, channel, time) into (window, 1, d)."""
        torch = import_torch("An encoder")
        block = check_block(signals, channels, "Embed", time_series=True)
        module = load_encoder(self.encoder)
        if weights_digest(module) != self.weights:
            raise InputError(
                f"{self.encoder}: its weights or code changed since the decoder was made. Make it again."
            )
        device = choose_device(torch, self.device)
        told = {"names": list(channels["name"]), "rate_hz": float(rate_hz)}
        told["positions"] = channels[["x", "y", "z"]].to_numpy(dtype=np.float32)
        module.to(device)
        with private_torch(torch), torch.inference_mode():
            windows = torch.from_numpy(np.ascontiguousarray(block, dtype=np.float32))
            said = [module(part.to(device), **told).float().cpu() for part in windows.split(self.batch_size)]
        found = torch.cat(said).numpy()
        if len(found) != len(block) or found.ndim < 2 or not np.isfinite(found).all():
            raise InputError(
                f"{self.encoder}: expected finite embeddings ({len(block)}, ..., d), got the shape {found.shape}."
            )
        if self.pooling == "mean" and found.ndim > 2:
            found = found.mean(axis=tuple(range(1, found.ndim - 1)))
        return found.reshape(len(block), 1, -1), channel_table(["embedding"], kind="misc")


@functools.lru_cache(maxsize=4)
def load_encoder(address: str) -> Any:
    """Import a torch module by its address, in inference mode and frozen.

    Raises
    ------
    InputError
        When it cannot be imported or is not a torch module.
    """
    torch = import_torch("An encoder")
    name, _, attribute = address.partition(":")
    try:
        found: Any = getattr(importlib.import_module(name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f'The encoder "{address}" cannot be imported: {error}. Expected module:attribute.'
        ) from error
    module = found if isinstance(found, torch.nn.Module) else found()
    if not isinstance(module, torch.nn.Module):
        raise InputError(f'The encoder "{address}" is a {type(module).__name__}; expected a torch module.')
    return module.eval().requires_grad_(False)


def weights_digest(module: Any) -> str:
    """Return the SHA-256 of a module's weights and code."""
    found = hashlib.sha256(code_fingerprint(module).encode())
    for name, value in sorted(module.state_dict().items()):
        found.update(name.encode() + value.detach().cpu().contiguous().numpy().tobytes())
    return found.hexdigest()


def from_encoder(
    encoder: str, pooling: Pooling = "mean", head: Any = "linear", **options: Any
) -> Linear | SklearnDecoder:
    """Make a decoder from a frozen encoder and a head that is fitted on its embeddings.

    Parameters
    ----------
    encoder : str
        ``module:attribute`` of a torch module, or of a function that makes one with its weights; see :class:`Embed`.
    pooling : {"mean", "flatten"}
    head : "linear" or scikit-learn estimator
    **options
        ``batch_size`` and ``device``.

    Raises
    ------
    InputError
        For an encoder that cannot be imported, or an unknown pooling or head.
    """
    if pooling not in get_args(Pooling):
        raise InputError(
            f"from_encoder: pooling must be one of {', '.join(get_args(Pooling))}, got {pooling!r}."
        )
    step = Embed(encoder, weights_digest(load_encoder(encoder)), pooling, **options)
    if head == "linear":
        return Linear(FeatureChain((step,)))
    if not hasattr(head, "fit"):
        raise InputError(f'from_encoder: head must be "linear" or a scikit-learn estimator, got {head!r}.')
    return from_sklearn(head, FeatureChain((step,)), input="2d")
