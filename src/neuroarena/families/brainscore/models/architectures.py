"""Architectures of torchvision and timm by name, with weights from a file of the user's.

``torchvision/resnet50@weights.safetensors`` is a model: the library, the architecture, and the file of its weights.
Without a file the network is untrained, from a fixed seed, and says so in its name. Nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from neuroarena.errors import InputError
from neuroarena.families.brainscore.errors import ConfigError, named
from neuroarena.families.brainscore.models.commitment import commit_by_depth
from neuroarena.families.brainscore.models.preprocessing import ImagePreprocessing
from neuroarena.families.brainscore.models.region_model import RegionModel
from neuroarena.families.brainscore.models.torch_features import TorchFeatures
from neuroarena.families.brainscore.models.torchvision_import import import_timm, import_torchvision
from neuroarena.registry import unknown_name

SEED = 0


def is_architecture(name: str) -> bool:
    """Return whether a name is one of an architecture, such as torchvision/resnet18.

    Examples
    --------
    >>> is_architecture("torchvision/resnet18@mine.pth"), is_architecture("tiny-cnn")
    (True, False)
    """
    return name.partition("/")[0] in LIBRARIES and "/" in name


def load_architecture(
    name: str,
    weights: str | Path | None = None,
    region_layer_map: Mapping[str, str] | None = None,
    preprocessing: Callable[[Any], Any] | None = None,
    visual_degrees: float = 8,
    **options: Any,
) -> RegionModel:
    """Make a model of an architecture of torchvision or timm.

    Parameters
    ----------
    name : str
        ``torchvision/resnet18`` or ``timm/resnet18``; ``@FILE`` after it names the weights.
    weights : path, optional
        A state dict as .pth, .pt (read without running code) or .safetensors.
    region_layer_map : mapping, optional
        Which layer stands for which region. By default layers are spread over the regions by depth, which is a starting
        point and not a choice by data: see :func:`~neuroarena.families.brainscore.models.choose_layers`.
    preprocessing : callable, optional
        By default the size, mean and deviation that timm states for the architecture, or 224 pixels and ImageNet's.
    visual_degrees : float
    **options
        Of :class:`RegionModel`: batch_size, reduction, cache, microsaccades.

    Raises
    ------
    UnknownName
        With the closest architectures.
    ConfigError
        When the weights do not fit; the first missing, unknown and misshapen names are listed.
    MissingDependency
        When the library is not installed.
    """
    import torch

    written, _, file = name.partition("@")
    library, _, architecture = written.partition("/")
    if file and weights is not None:
        raise ConfigError(f"{name}: the weights are given twice, in the name and as {weights}.")
    chosen = Path(file) if file else None if weights is None else Path(weights)
    if chosen is not None and not chosen.is_file():
        raise InputError(f"{chosen}: there is no such file of weights.")
    # Drawing the weights must not disturb the caller's random numbers.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        network, own = LIBRARIES[library](architecture)
    if chosen is not None:
        fill_weights(network, chosen, written)
    features = TorchFeatures(network.eval(), preprocessing or own)
    regions = dict(region_layer_map) if region_layer_map is not None else commit_by_depth(features)
    identifier = f"{architecture} (untrained)" if chosen is None else f"{architecture} ({chosen.stem})"
    return RegionModel(identifier, features, regions, visual_degrees, **options)


def fill_weights(network: Any, path: Path, name: str) -> None:
    """Load a state dict into a network; nothing in the file is executed.

    Raises
    ------
    InputError
        When the file cannot be read as a state dict.
    ConfigError
        When names or shapes differ from the network's.
    """
    state = read_state(path)
    own = network.state_dict()
    # Weights that were saved from torch.nn.DataParallel carry a prefix.
    state = {key.removeprefix("module."): value for key, value in state.items()}
    missing = [key for key in own if key not in state]
    unknown = [key for key in state if key not in own]
    misshapen = [key for key in own if key in state and own[key].shape != state[key].shape]
    problems = [
        f"{what} {named(keys, 3)}"
        for what, keys in (("it lacks", missing), ("it also has", unknown), ("other shapes have", misshapen))
        if keys
    ]
    if problems:
        raise ConfigError(f"{path}: these are not weights of {name}: {'; '.join(problems)}.")
    network.load_state_dict(state)


def read_state(path: Path) -> dict[str, Any]:
    """Read a state dict from .safetensors, or from .pth and .pt without running what is in it."""
    import pickle

    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        if path.suffix == ".safetensors":
            return dict(load_file(path))
        found = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError, SafetensorError, pickle.UnpicklingError) as error:
        why = (str(error).splitlines() or ["it is empty"])[0]
        raise InputError(f"{path}: cannot be read as weights: {why}") from error
    for key in ("state_dict", "model"):
        if isinstance(found, dict) and isinstance(found.get(key), dict):
            found = found[key]
    if not isinstance(found, dict) or not all(isinstance(value, torch.Tensor) for value in found.values()):
        raise InputError(f"{path}: holds no state dict, which is a mapping of names to tensors.")
    return dict(found)


def _of_torchvision(architecture: str) -> tuple[Any, ImagePreprocessing]:
    models = import_torchvision().models
    known = models.list_models(module=models)
    if architecture not in known:
        raise unknown_name("architecture of torchvision", architecture, known, "models")
    return models.get_model(architecture, weights=None), ImagePreprocessing()


def _of_timm(architecture: str) -> tuple[Any, ImagePreprocessing]:
    timm = import_timm()
    known = timm.list_models()
    if architecture not in known:
        raise unknown_name("architecture of timm", architecture, known, "models")
    network = timm.create_model(architecture, pretrained=False)
    stated = getattr(network, "pretrained_cfg", None) or {}
    usual = ImagePreprocessing()
    size = stated.get("input_size", (3, usual.size, usual.size))[1]
    return network, ImagePreprocessing(
        int(size), tuple(stated.get("mean", usual.mean)), tuple(stated.get("std", usual.std))
    )


LIBRARIES: dict[str, Callable[[str], tuple[Any, ImagePreprocessing]]] = {
    "torchvision": _of_torchvision,
    "timm": _of_timm,
}
