"""Save a fitted network of windows to a file, and use it as it is."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.atomic import replacing
from neuroarena.decoders.alignment import Alignment
from neuroarena.decoders.decoder import Context, Part
from neuroarena.decoders.networks.goals import ClassGoal, Goal, NumberGoal
from neuroarena.decoders.networks.training import import_torch
from neuroarena.errors import InputError, MissingDependency, NeuroarenaError
from neuroarena.fingerprint import canonical_json

NOTE = "neuroarena"
_NETWORK = "network."


def save_network(decoder: Any, path: str | Path, **note: Any) -> None:
    """Write a fitted network decoder as safetensors.

    Parameters
    ----------
    decoder : NetworkDecoder
        Fitted on recordings that share their channels.
    path : path
    **note
        Further plain values for the file's header, such as ``simulated=True``.

    Raises
    ------
    NeuroarenaError
        When it is not fitted, or was fitted on regions.
    """
    if not hasattr(decoder, "network_"):
        raise NeuroarenaError(f"{type(decoder).__name__} has no network yet. Fit it before saving it.")
    if decoder.alignment_ != Alignment(None):
        raise NeuroarenaError(
            f"{type(decoder).__name__} was fitted on recordings with different channels; what they share is not saved."
        )
    goal: Goal = decoder.goal_
    tensors = {f"{_NETWORK}{name}": value for name, value in decoder.network_.state_dict().items()}
    arrays = {"mean": decoder.mean_, "scale": decoder.scale_}
    said: dict[str, Any] = {
        **note,
        "decoder": type(decoder).__name__,
        "item_shape": list(decoder.item_shape_),
    }
    said["parameters"] = {
        field.name: getattr(decoder, field.name)
        for field in dataclasses.fields(decoder)
        if field.name not in ("features", "weights")
    }
    said["built_with"] = decoder.built_with()
    if isinstance(goal, ClassGoal):
        said["classes"] = list(goal.classes)
    elif isinstance(goal, NumberGoal):
        said["single"] = goal.single
        arrays |= {"target_mean": goal.mean, "target_scale": goal.scale}
    torch = import_torch("Saving a network")
    tensors |= {name: torch.from_numpy(np.ascontiguousarray(values)) for name, values in arrays.items()}
    with replacing(path) as temporary:
        _safetensors("Saving a network").save_file(
            {name: value.contiguous() for name, value in tensors.items()},
            temporary,
            metadata={NOTE: canonical_json(said)},
        )


def read_note(path: str | Path) -> dict[str, Any]:
    """Read the header of a saved network.

    Raises
    ------
    InputError
        When the file is missing, is not a complete safetensors file, or was not written by :func:`save_network`.
    """
    _safetensors("Loading a network")
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file. Expected a network in safetensors.")
    try:
        with safe_open(path, framework="pt") as file:
            said: Any = json.loads((file.metadata() or {}).get(NOTE, "null"))
    except (SafetensorError, ValueError, OSError) as error:
        raise InputError(f"{path.name}: is not a complete safetensors file: {error}.") from error
    if not isinstance(said, dict):
        raise InputError(
            f"{path.name}: does not say what network it holds. Expected one that neuroarena saved."
        )
    return said


def restore_network(decoder: Any, path: str | Path, train: Part, context: Context) -> None:
    """Restore the state of a decoder from a file; nothing is learned.

    Raises
    ------
    InputError
        When the file holds another network, other classes, or one for other windows.
    """
    said, name = read_note(path), Path(path).name
    if said.get("decoder") != type(decoder).__name__:
        raise InputError(f"{name}: holds {said.get('decoder')}, expected {type(decoder).__name__}.")
    shape = list(train[0].signals.shape[1:]) if train else said["item_shape"]
    if shape != said["item_shape"]:
        raise InputError(
            f"{name}: was trained on windows of the shape {said['item_shape']}, these have {shape}. Train a new one."
        )
    classes = said.get("classes")
    if classes is not None and classes != list(context.classes):
        raise InputError(f"{name}: tells {', '.join(classes)} apart, not {', '.join(context.classes)}.")
    tensors = _safetensors("Loading a network").load_file(path)
    arrays = {key: value.numpy() for key, value in tensors.items() if not key.startswith(_NETWORK)}
    for key, value in said["parameters"].items():
        setattr(decoder, key, value)
    for key, value in said["built_with"].items():
        setattr(decoder, key, value)
    decoder.classes_, decoder.alignment_ = context.classes, Alignment(None)
    decoder.item_shape_ = tuple(said["item_shape"])
    decoder.mean_, decoder.scale_ = arrays["mean"], arrays["scale"]
    decoder.goal_ = (
        ClassGoal(tuple(classes))
        if classes is not None
        else NumberGoal(arrays["target_mean"], arrays["target_scale"], said["single"])
    )
    decoder.network_ = decoder.build(
        np.zeros((1, *decoder.item_shape_), dtype=np.float32), decoder.goal_.n_outputs
    )
    try:
        decoder.network_.load_state_dict(
            {key.removeprefix(_NETWORK): value for key, value in tensors.items() if key.startswith(_NETWORK)}
        )
    except RuntimeError as error:
        raise InputError(f"{name}: its tensors do not fit: {' '.join(str(error).split())[:300]}") from error


def _safetensors(purpose: str) -> Any:
    try:
        import safetensors.torch
    except ImportError as error:
        raise MissingDependency("safetensors", "torch", purpose) from error
    return safetensors.torch
