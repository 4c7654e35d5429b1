"""The networks of the braindecode zoo, by name."""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.benchmarks.faces import families_with
from neuroarena.decoders.decoder import Group
from neuroarena.decoders.torch_adapter import TorchDecoder
from neuroarena.errors import InputError, MissingDependency
from neuroarena.features import FeatureChain
from neuroarena.registry import unknown_name

PREFIX = "braindecode/"


def import_zoo(who: str) -> Any:
    """Import the models of braindecode, beside a CPU torch too.

    Raises
    ------
    MissingDependency
        When braindecode is not installed: it comes with the extra "zoo".
    """
    if importlib.util.find_spec("braindecode") is None:
        raise MissingDependency("braindecode", "zoo", who)
    for prepare in families_with("zoo_imports").values():
        prepare()
    try:
        import braindecode.models as models
    except (ImportError, OSError) as error:
        raise MissingDependency(f"a braindecode that can be imported ({error})", "zoo", who) from error
    return models


@functools.cache
def zoo_models() -> tuple[str, ...]:
    """List the models of the installed zoo, sorted; none without the extra. Nothing of braindecode is imported."""
    spec = importlib.util.find_spec("braindecode")
    if spec is None or not spec.submodule_search_locations:
        return ()
    source = Path(spec.submodule_search_locations[0]) / "models" / "__init__.py"
    found: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and any(
            getattr(name, "id", "") == "__all__" for name in node.targets
        ):
            found |= {str(name) for name in ast.literal_eval(node.value)}
    # Functions and mixins have other forms of name, and old names of networks stand beside the new.
    return tuple(sorted(name for name in found if name[0].isupper() and "Mixin" not in name))


@dataclass
class ZooDecoder(TorchDecoder):
    """A network of the braindecode zoo on raw windows, trained from random weights like any torch network.

    Parameters
    ----------
    build : str
        Name of the model, such as "EEGNeX".
    options : dict
        Arguments of the model itself, besides its shape, rate and channels, which come from the data.
    """

    build: Any = "EEGNeX"
    options: dict[str, Any] = field(default_factory=dict)

    def make_network(self, shape: tuple[int, ...], n_outputs: int, group: Group) -> Any:
        """Make the model for windows (channel, time).

        Raises
        ------
        MissingDependency
            When braindecode is not installed.
        InputError
            When there is no such model, or it cannot be made for these windows.
        """
        models = import_zoo(f"The decoder {PREFIX}{self.build}")
        model = getattr(models, self.build, None)
        if model is None:
            raise unknown_name("model of braindecode", self.build, zoo_models(), "decoders")
        if len(shape) != 2:
            raise InputError(
                f"{self.build}: expected windows (channel, time), got the shape {shape}. Choose raw windows."
            )
        known: dict[str, Any] = {"n_chans": shape[0], "n_times": shape[1], "n_outputs": n_outputs}
        known |= {"sfreq": float(group.rate_hz)}
        if self.alignment_.regions is None:
            known["chs_info"] = _channel_information(group, self.alignment_.names)
        takes = inspect.signature(model).parameters
        given = {name: value for name, value in known.items() if name in takes and value is not None}
        try:
            return model(**{**given, **self.options})
        except (ValueError, TypeError, RuntimeError, AssertionError) as error:
            raise InputError(
                f"{self.build} of braindecode cannot be made for {shape[0]} channels and {shape[1]} samples at "
                f"{group.rate_hz:g} Hz: {' '.join(str(error).split())[:300]}"
            ) from error


def _channel_information(group: Group, names: tuple[str, ...] | None) -> list[Any] | None:
    """Describe channels as MNE-Python does; None without it, or where a position is unknown."""
    if importlib.util.find_spec("mne") is None:
        return None
    import mne

    table = group.channels.set_index("name").loc[list(names or group.channels["name"])]
    positions = table[["x", "y", "z"]].to_numpy(dtype=np.float64)
    if not np.isfinite(positions).all():
        return None
    info = mne.create_info(list(table.index), float(group.rate_hz), "eeg", verbose="error")
    for channel, position in zip(info["chs"], positions, strict=True):
        channel["loc"][:3] = position
    return list(info["chs"])


def from_braindecode(
    model: str, features: FeatureChain | None = None, options: dict[str, Any] | None = None, **training: Any
) -> ZooDecoder:
    """Make a decoder from a model of the braindecode zoo, by its name.

    Parameters
    ----------
    model : str
        Such as "EEGNeX"; ``neuroarena list decoders`` shows them as "braindecode/EEGNeX".
    features : FeatureChain, optional
        Stateless preprocessing that leaves windows (channel, time).
    options : dict, optional
        Arguments of the model itself.
    **training
        As :func:`neuroarena.from_torch` takes them.

    Raises
    ------
    UnknownName
        With the closest names, where the zoo is installed and has no such model.
    """
    if zoo_models() and model not in zoo_models():
        raise unknown_name("model of braindecode", model, zoo_models(), "decoders")
    return ZooDecoder(model, features or FeatureChain(), options=dict(options or {}), **training)
