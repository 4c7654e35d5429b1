"""The network that ships with the sleep track: trained on a simulated twin, as the header of its file states.

It is a trained baseline to inspect, to submit and to start from; `fit` learns nothing. ``make weights`` rebuilds it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

WEIGHTS = Path(__file__).with_suffix(".safetensors")


def shipped_sleep() -> Any:
    """Convolutional stager, trained on a simulated Sleep-EDF other than the default one."""
    from neuroarena.families.sleep.decoders import conv_stager

    return conv_stager(weights=str(WEIGHTS))
