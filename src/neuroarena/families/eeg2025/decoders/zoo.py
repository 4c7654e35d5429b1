"""EEGNeX from the braindecode zoo: the baseline of the start kit, behind a guarded import."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neuroarena.decoders.networks.decoder import NetworkDecoder
from neuroarena.decoders.zoo import import_zoo
from neuroarena.errors import InputError
from neuroarena.features import FeatureChain


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
