"""Networks that come with the package: one for each track, trained on its simulated twin.

They are fully trained baselines to look at, to hand in and to start from; `fit` learns nothing. Each file says in its
header what it was trained on; ``make weights`` makes them anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def shipped_img() -> Any:
    """EEGNet for images, trained on the simulated THINGS-EEG2."""
    from neuroarena.decoders.networks import EEGNet

    return EEGNet(weights=FOLDER / "img.safetensors")


def shipped_bci() -> Any:
    """EEGNet for commands, trained on the earlier sessions of the simulated set."""
    from neuroarena.decoders.networks import EEGNet

    return EEGNet(weights=FOLDER / "bci.safetensors")


def shipped_sleep() -> Any:
    """Convolutional stager, trained on another simulated Sleep-EDF than the default one."""
    from neuroarena.families.sleep.decoders import conv_stager

    return conv_stager(weights=str(FOLDER / "sleep.safetensors"))


def shipped_emg() -> Any:
    """Small TDS-CTC network, trained on another simulated emg2qwerty than the default one."""
    from neuroarena.families.emg.decoders import TdsCtc

    return TdsCtc(weights=FOLDER / "emg.safetensors")
