"""EEGNeX from the braindecode zoo: the baseline of the start kit, behind a guarded import."""

from __future__ import annotations

import importlib.util
import sys
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neuroarena.decoders.networks.decoder import NetworkDecoder
from neuroarena.errors import InputError, MissingDependency
from neuroarena.features import FeatureChain

_EXTENSION = "torchaudio._extension"


def import_zoo(who: str) -> Any:
    """Import the models of braindecode.

    braindecode imports torchaudio, whose usual build brings CUDA libraries that are absent beside a CPU torch. Its
    networks of EEG need none of that, so a stand-in replaces the compiled part before the first import.

    Raises
    ------
    MissingDependency
        When braindecode is not installed: it comes with the extra "zoo".
    """
    if importlib.util.find_spec("braindecode") is None:
        raise MissingDependency("braindecode", "zoo", who)
    if "torchaudio" not in sys.modules and _EXTENSION not in sys.modules:
        sys.modules[_EXTENSION] = _stand_in()
    try:
        import braindecode.models as models
    except (ImportError, OSError) as error:
        raise MissingDependency(f"a braindecode that can be imported ({error})", "zoo", who) from error
    return models


def _stand_in() -> types.ModuleType:
    """Make a module that reports every compiled extension of torchaudio as missing."""

    def untouched(function: Any) -> Any:
        return function

    def decorator(*_: Any, **__: Any) -> Any:
        return untouched

    module: Any = types.ModuleType(_EXTENSION)
    module._IS_TORCHAUDIO_EXT_AVAILABLE = False
    module._IS_RIR_AVAILABLE = False
    module._IS_ALIGN_AVAILABLE = False
    module.lazy_import_sox_ext = decorator
    module.fail_if_no_rir = untouched
    module.fail_if_no_align = untouched
    module._check_cuda_version = lambda: None
    stand_in: types.ModuleType = module
    return stand_in


@dataclass
class EEGNeX(NetworkDecoder):
    """EEGNeX of the braindecode zoo on raw windows: for classes, numbers or vectors.

    Every channel and sample is standardised by the mean and deviation of the items that are trained on.
    """

    features: FeatureChain = field(default_factory=FeatureChain)
    max_epochs: int = 30
    patience: int = 5

    def build(self, inputs: np.ndarray, n_classes: int) -> Any:
        """Make the network for windows (channel, time).

        Raises
        ------
        MissingDependency
            When braindecode is not installed.
        InputError
            When items have other axes.
        """
        if inputs.ndim != 3:
            raise InputError(
                f"EEGNeX: expected items of the axes (channel, time), got the shape {inputs.shape[1:]}. "
                "Choose raw windows."
            )
        models = import_zoo("The decoder EEGNeX")
        return models.EEGNeX(n_chans=inputs.shape[1], n_outputs=n_classes, n_times=inputs.shape[2])


def eegnex() -> EEGNeX:
    """EEGNeX of the braindecode zoo on raw windows; needs the extra zoo."""
    return EEGNeX()
