"""The network that ships with the image track: trained on a simulated twin, as the header of its file states.

It is a trained baseline to inspect, to submit and to start from; `fit` learns nothing. ``make weights`` rebuilds it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

WEIGHTS = Path(__file__).with_suffix(".safetensors")


def shipped_img() -> Any:
    """EEGNet for images, trained on the simulated THINGS-EEG2."""
    from neuroarena.decoders.networks import EEGNet

    return EEGNet(weights=WEIGHTS)
