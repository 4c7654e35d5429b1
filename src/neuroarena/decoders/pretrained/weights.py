"""Weights of an encoder, identified by content, and the module that holds them."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neuroarena.decoders.networks.training import import_torch
from neuroarena.decoders.pretrained.models import find_model
from neuroarena.errors import InputError, MissingDependency
from neuroarena.fingerprint import file_digest

UNTRAINED = "untrained"
NOTE = "neuroarena"


@dataclass(frozen=True)
class Weights:
    """Which weights an encoder has: those of a file, known by content, or random ones.

    Make it with :func:`find_weights`. The path is stored separately, in `path_`, and is not part of what
    the weights are: a copied or renamed file is the same weights, and its results are found in the cache.

    Attributes
    ----------
    model : str
        Name of a :class:`~neuroarena.decoders.pretrained.PretrainedModel`, such as "brainbert".
    size : str
        One of its sizes.
    sha256 : str
        Of the file's content, or "untrained".
    seed : int or None
        Of random weights; None for those of a file.
    """

    model: str
    size: str
    sha256: str
    seed: int | None = None

    @property
    def untrained(self) -> bool:
        """Whether these are random weights."""
        return self.sha256 == UNTRAINED

    @property
    def path(self) -> Path | None:
        """Where the file was when it was found; None for random weights."""
        return getattr(self, "path_", None)


def find_weights(model: str, path: str | Path | None = None, size: str = "large", seed: int = 0) -> Weights:
    """Find the weights of an encoder.

    Parameters
    ----------
    model : str
        Name of a :class:`~neuroarena.decoders.pretrained.PretrainedModel`, such as "brainbert".
    path : path, optional
        A safetensors file written by ``neuroarena data convert``. None: random weights, which are
        called untrained wherever they are shown.
    size, seed : str, int
        Of random weights; a file says its own size.

    Raises
    ------
    InputError
        When the file is missing, is not a complete safetensors file, or holds other tensors.

    Examples
    --------
    >>> find_weights("brainbert", size="tiny")
    Weights(model='brainbert', size='tiny', sha256='untrained', seed=0)
    """
    known = find_model(model)
    if path is None:
        known.shape(size)
        return Weights(model, size, UNTRAINED, seed)
    found_size, shapes = read_header(Path(path), model)
    known.check_tensors(found_size, shapes, str(path))
    weights = Weights(model, found_size, file_digest(path))
    object.__setattr__(weights, "path_", Path(path).resolve())
    return weights


def as_weights(model: str, given: Any) -> Weights:
    """Return weights as they are, or find them: by a path, or None for random ones.

    Raises
    ------
    InputError
        When they are the weights of another model, or cannot be found.
    """
    if not isinstance(given, Weights):
        return find_weights(model, given)
    if given.model != model:
        raise InputError(f"These are the weights of {given.model}, and those of {model} are needed.")
    return given


def read_header(path: Path, model: str) -> tuple[str, dict[str, tuple[int, ...]]]:
    """Read the size and the tensor shapes of a safetensors file, without its tensors.

    Raises
    ------
    InputError
        When it is missing or is not a safetensors file of this model.
    """
    safetensors = _safetensors()
    if not path.is_file():
        raise InputError(f"{path}: there is no such file. Expected weights in safetensors form.")
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            note = json.loads((file.metadata() or {}).get(NOTE, "{}"))
            shapes = {key: tuple(file.get_slice(key).get_shape()) for key in file.keys()}  # noqa: SIM118
    except (safetensors.SafetensorError, ValueError, OSError) as error:
        raise InputError(
            f"{path}: not a complete safetensors file ({error}). "
            f"Make one from the published checkpoint with: neuroarena data convert {model} FILE"
        ) from error
    if (
        not isinstance(note, dict)
        or note.get("model") != model
        or note.get("size") not in find_model(model).sizes
    ):
        raise InputError(
            f"{path}: its header does not say that it holds {model}. "
            f"Make it from the published checkpoint with: neuroarena data convert {model} FILE"
        )
    return str(note["size"]), shapes


def load_module(weights: Weights, device: str = "cpu") -> Any:
    """Make the torch module with these weights, in evaluation mode; the caller must not change it.

    Raises
    ------
    MissingDependency
        When torch or safetensors is not installed.
    InputError
        When the file has changed or vanished since it was found, or the device is not available.
    """
    import_torch("A pretrained encoder")
    path = weights.path
    if not weights.untrained:
        if path is None or not path.is_file():
            raise InputError(f"{path}: the weights are no longer there. Put the file back and run again.")
        if file_digest(path) != weights.sha256:
            raise InputError(f"{path}: the weights have changed since the run was planned. Start it again.")
    return _module(weights, path, device)


def fresh_module(weights: Weights, device: str = "cpu") -> Any:
    """Make a trainable copy of the module."""
    import copy

    module = copy.deepcopy(load_module(weights, device))
    for parameter in module.parameters():
        parameter.requires_grad_(True)
    return module


@functools.lru_cache(maxsize=3)
def _module(weights: Weights, path: Path | None, device: str) -> Any:
    import torch

    model = find_model(weights.model)
    # One thread: sums in another order would move the last digits.
    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(weights.seed or 0)
        module = model.network(model.shape(weights.size))
    if path is not None:
        from safetensors.torch import load_file

        tensors = {key: value.float() for key, value in load_file(path).items()}
        for key, value in tensors.items():
            if not torch.isfinite(value).all():
                raise InputError(f"{path}: {key} holds NaN or infinity. Every weight must be finite.")
        module.load_state_dict(tensors, strict=True)
    try:
        module = module.to(device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f'The device "{device}" cannot be used: {error}') from error
    return module.eval().requires_grad_(False)


def _safetensors() -> Any:
    try:
        import safetensors
    except ImportError as error:
        raise MissingDependency("safetensors", "torch", "Reading weights") from error
    return safetensors
