"""The network that ships with the BCI track: trained on a simulated twin, as the header of its file states.

It is a trained baseline to inspect, to submit and to start from; `fit` learns nothing. ``make weights`` rebuilds it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

WEIGHTS = Path(__file__).with_suffix(".safetensors")


def shipped_bci() -> Any:
    """EEGNet for commands, trained on the earlier sessions of the simulated set."""
    from neuroarena.decoders.networks import EEGNet

    return EEGNet(weights=WEIGHTS)
