"""Encoders of one's own: frozen, embeddings are features that all tasks, splits and heads share; or fine-tuned."""

from __future__ import annotations

import functools
import hashlib
import importlib
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd

from neuroarena.decoders.linear import Linear
from neuroarena.decoders.networks.training import choose_device, import_torch, private_torch
from neuroarena.decoders.sklearn_adapter import SklearnDecoder, from_sklearn
from neuroarena.errors import InputError, MissingDependency
from neuroarena.features import FeatureChain
from neuroarena.features.blocks import check_block
from neuroarena.fingerprint import code_fingerprint, file_digest
from neuroarena.recordings.channels import channel_table

if TYPE_CHECKING:
    from neuroarena.decoders.tuned_encoders import FinetunedEncoder

Pooling = Literal["mean", "flatten"]
# Under which a checkpoint may hold its weights; a plain table of tensors is one too.
_STATE_KEYS = ("state_dict", "model", "model_state_dict")


@dataclass(frozen=True)
class EncoderSource:
    """Where an encoder and its weights come from. Make it with :meth:`find`.

    The path of the checkpoint is kept in `path_` and is not part of what the encoder is: a copied file holds the same
    weights, and its embeddings are found in the cache.

    Attributes
    ----------
    encoder : str
        ``module:attribute`` of a torch module, or of a class or function that makes one. It is called with a float32
        tensor (windows, channels, samples) and the keywords `names`, `positions` (channels, 3) and `rate_hz`, and
        returns (windows, ..., d).
    weights : str
        Digest of its weights and code, so that nothing is found in the cache for other weights.
    """

    encoder: str
    weights: str

    @classmethod
    def find(cls, encoder: str, checkpoint: str | Path | None = None) -> EncoderSource:
        """Import an encoder, read its checkpoint, and remember what they hold.

        Raises
        ------
        InputError
            When it cannot be imported, is not a torch module, or its checkpoint does not fit.
        """
        path = None if checkpoint is None else Path(checkpoint).resolve()
        found = cls(encoder, weights_digest(load_encoder(encoder, path)))
        object.__setattr__(found, "path_", path)
        return found

    def load(self) -> Any:
        """Return the module with its weights, frozen and in inference mode; the caller must not change it.

        Raises
        ------
        InputError
            When weights or code changed since the decoder was made.
        """
        module = load_encoder(self.encoder, getattr(self, "path_", None))
        if weights_digest(module) != self.weights:
            raise InputError(
                f"{self.encoder}: its weights or code changed since the decoder was made. Make it again."
            )
        return module


@dataclass(frozen=True)
class Embed:
    """Turn windows into embeddings with a frozen torch module.

    Parameters
    ----------
    source : EncoderSource
    pooling : {"mean", "flatten"}
        "mean" over the axes between the first and the last, or "flatten".
    batch_size : int
        Windows at once.
    device : str
        As torch names it; "auto" is the first GPU, else the processor.
    """

    source: EncoderSource
    pooling: Pooling = "mean"
    batch_size: int = 64
    device: str = "auto"

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Turn a block (window, channel, time) into (window, 1, d)."""
        torch = import_torch("An encoder")
        block = check_block(signals, channels, "Embed", time_series=True)
        module = self.source.load()
        device = choose_device(torch, self.device)
        told = describe_channels(channels, rate_hz)
        module.to(device)
        with private_torch(torch), torch.inference_mode():
            windows = torch.from_numpy(np.ascontiguousarray(block, dtype=np.float32))
            said = [
                pool(module(part.to(device), **told), self.pooling, len(part), self.source.encoder)
                .float()
                .cpu()
                for part in windows.split(self.batch_size)
            ]
        found = torch.cat(said).numpy()
        return found.reshape(len(block), 1, -1), channel_table(["embedding"], kind="misc")


def describe_channels(channels: pd.DataFrame, rate_hz: float) -> dict[str, Any]:
    """Return what an encoder is told about a recording: `names`, `positions` (channels, 3) and `rate_hz`."""
    positions = channels[["x", "y", "z"]].to_numpy(dtype=np.float32)
    return {"names": list(channels["name"]), "positions": positions, "rate_hz": float(rate_hz)}


def pool(said: Any, pooling: Pooling, n_windows: int, who: str = "the encoder") -> Any:
    """Turn the embeddings (windows, ..., d) of an encoder, a tensor, into (windows, length).

    Raises
    ------
    InputError
        When there is not one embedding per window, or one is not finite.
    """
    if len(said) != n_windows or said.ndim < 2 or not bool(said.isfinite().all()):
        raise InputError(
            f"{who}: expected finite embeddings ({n_windows}, ..., d), got the shape {tuple(said.shape)}."
        )
    if pooling == "mean" and said.ndim > 2:
        said = said.mean(dim=tuple(range(1, said.ndim - 1)))
    return said.flatten(1)


def load_encoder(address: str, checkpoint: Path | None = None) -> Any:
    """Import a torch module by its address, in inference mode and frozen, with the weights of a checkpoint.

    Raises
    ------
    InputError
        When it cannot be imported, is not a torch module, or the checkpoint does not fit.
    """
    if checkpoint is not None and not checkpoint.is_file():
        raise InputError(f"{checkpoint}: there is no such file. Expected the weights of {address}.")
    return _load_once(address, checkpoint, None if checkpoint is None else file_digest(checkpoint))


@functools.lru_cache(maxsize=4)
def _load_once(address: str, checkpoint: Path | None, content: str | None) -> Any:  # noqa: ARG001 - the file as it is
    torch = import_torch("An encoder")
    name, _, attribute = address.partition(":")
    try:
        found: Any = getattr(importlib.import_module(name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f'The encoder "{address}" cannot be imported: {error}. Expected module:attribute.'
        ) from error
    module = found
    if callable(found) and not isinstance(found, torch.nn.Module):
        # A private seed: random weights are then the same in every process, as their digest has to be.
        with private_torch(torch, seed=0):
            module = found()
    if not isinstance(module, torch.nn.Module):
        raise InputError(f'The encoder "{address}" is a {type(module).__name__}; expected a torch module.')
    if checkpoint is not None:
        try:
            module.load_state_dict(read_state(checkpoint))
        except RuntimeError as error:
            said = " ".join(str(error).split())[:300]
            raise InputError(f"{checkpoint}: does not fit {address}: {said}") from error
    return module.eval().requires_grad_(False)


def read_state(checkpoint: Path) -> dict[str, Any]:
    """Read a table of tensors from a safetensors file or a file of torch.save; nothing in it is run.

    Raises
    ------
    InputError
        When the file is damaged, or holds anything but tensors and plain values.
    """
    torch = import_torch("Reading a checkpoint")
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load_file
    except ImportError as error:
        raise MissingDependency("safetensors", "torch", "Reading a checkpoint") from error
    try:
        if checkpoint.suffix == ".safetensors":
            return dict(load_file(checkpoint))
        content = torch.load(checkpoint, map_location="cpu", weights_only=True)
    except (SafetensorError, pickle.UnpicklingError, RuntimeError, EOFError, ValueError, OSError) as error:
        # torch suggests loading with weights_only=False, which would run whatever is in the file.
        said = str(error).strip().partition("\n")[0].partition(". In PyTorch")[0]
        raise InputError(
            f"{checkpoint}: cannot be read as weights ({said}). Save them with safetensors.torch.save_file, or "
            "torch.save(module.state_dict(), FILE)."
        ) from error
    for key in _STATE_KEYS:
        if isinstance(content, dict) and isinstance(content.get(key), dict):
            content = content[key]
            break
    if not isinstance(content, dict) or not all(isinstance(each, torch.Tensor) for each in content.values()):
        raise InputError(
            f'{checkpoint}: expected a table of tensors, or one under the key "state_dict" or "model"; got '
            f"{', '.join(map(str, list(content)[:6])) if isinstance(content, dict) else type(content).__name__}."
        )
    return content


def weights_digest(module: Any) -> str:
    """Return the SHA-256 of a module's weights and code."""
    found = hashlib.sha256(code_fingerprint(module).encode())
    for name, value in sorted(module.state_dict().items()):
        found.update(name.encode() + value.detach().cpu().contiguous().numpy().tobytes())
    return found.hexdigest()


def from_encoder(
    encoder: str,
    pooling: Pooling = "mean",
    head: Any = "linear",
    *,
    checkpoint: str | Path | None = None,
    finetune: bool = False,
    features: FeatureChain | None = None,
    **options: Any,
) -> Linear | SklearnDecoder | FinetunedEncoder:
    """Make a decoder from an encoder: frozen, with a head fitted on its embeddings, or fine-tuned with a linear head.

    Parameters
    ----------
    encoder : str
        ``module:attribute`` of a torch module, or of a class or function that makes one; see :class:`EncoderSource`.
    pooling : {"mean", "flatten"}
        Of the axes between windows and the last.
    head : "linear" or scikit-learn estimator
        Of a frozen encoder.
    checkpoint : path, optional
        Weights to load into it: safetensors, or a table of tensors by torch.save.
    finetune : bool
        Train the encoder together with a linear head, in every cell from the same weights.
    features : FeatureChain, optional
        What windows go through first, such as the rate that the encoder was trained at.
    **options
        ``batch_size`` and ``device``; for fine-tuning also ``epochs``, ``learning_rate``, ``weight_decay``,
        ``patience`` and ``mixed_precision`` (see :class:`~neuroarena.decoders.tuned_encoders.FinetunedEncoder`).

    Raises
    ------
    InputError
        For an encoder that cannot be imported, a checkpoint that does not fit, or an unknown pooling, head or option.
    """
    if pooling not in get_args(Pooling):
        raise InputError(
            f"from_encoder: pooling must be one of {', '.join(get_args(Pooling))}, got {pooling!r}."
        )
    if head != "linear" and (finetune or not hasattr(head, "fit")):
        also = "" if finetune else " or a scikit-learn estimator"
        raise InputError(f'from_encoder: head must be "linear"{also}, got {head!r}.')
    source = EncoderSource.find(encoder, checkpoint)
    first = features or FeatureChain()
    try:
        if finetune:
            from neuroarena.decoders.tuned_encoders import FinetunedEncoder

            return FinetunedEncoder(source, pooling, first, **options)
        chain = FeatureChain((*first.steps, Embed(source, pooling, **options)))
    except TypeError as error:
        kind = "A fine-tuned encoder" if finetune else "A frozen encoder"
        known = "batch_size, device" + (", epochs, learning_rate, weight_decay, patience" if finetune else "")
        raise InputError(f"from_encoder: {str(error).partition('() ')[2]}. {kind} takes {known}.") from error
    return Linear(chain) if head == "linear" else from_sklearn(head, chain, input="2d")
