"""The network that ships with the EMG track: trained on a simulated twin, as the header of its file states.

It is a trained baseline to inspect, to submit and to start from; `fit` learns nothing. ``make weights`` rebuilds it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

WEIGHTS = Path(__file__).with_suffix(".safetensors")


def shipped_emg() -> Any:
    """Small TDS-CTC network, trained on a simulated emg2qwerty other than the default one."""
    from neuroarena.families.emg.decoders import TdsCtc

    return TdsCtc(weights=WEIGHTS)
