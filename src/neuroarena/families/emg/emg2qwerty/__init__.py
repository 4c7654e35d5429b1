"""emg2qwerty: two wristbands of surface EMG while people type, with every keystroke logged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from neuroarena.datasets.dataset import Dataset
from neuroarena.families.emg.emg2qwerty.reader import Emg2Qwerty
from neuroarena.families.emg.emg2qwerty.verify import open_any, verify
from neuroarena.lazily import lazy_function

__all__ = ["DATASET", "Emg2Qwerty", "open_folder", "simulate", "verify"]


def open_folder(root: str | Path) -> Any:
    """Open a folder: of session files as published, or of the BIDS copy.

    Returns
    -------
    Emg2Qwerty, or Emg2QwertyBids of :mod:`neuroarena.families.emg.emg2qwerty.bids_copy`
        With the same methods: about, recording, events, text, split_file.
    """
    return open_any(root)


simulate = lazy_function("neuroarena.families.emg.emg2qwerty.twin:simulate")
DATASET = Dataset(
    name="emg2qwerty",
    title="emg2qwerty",
    licence="CC BY-NC-SA 4.0",
    description=(
        "Surface EMG of both wrists (2 x 16 electrodes, 2 kHz) of 108 people typing, 1,135 sessions, 346 hours; "
        "every keystroke is logged."
    ),
    origin="https://github.com/facebookresearch/emg2qwerty (Sivakumar et al. 2024)",
    environment=("NEUROARENA_EMG2QWERTY",),
    open=open_folder,
    simulate=simulate,
    verify=verify,
    tiny={"users": 6, "sessions": 3, "minutes": 0.15},
    simulate_options={
        "users": "number of people, 2 to 108 (default 6); a third of them is held out",
        "sessions": "sessions of each, 2 to 20 (default 3)",
        "minutes": "length of a session in minutes, 0.1 to 60 (default 1)",
        "keys": "keys in use, 3 to 98 (default 8)",
        "seed": "seed of all chance (default 0)",
        "strength": "factor on the bursts at a press; 0 is pure chance (default 1)",
        "slips": "share of presses at which the fingers move for another key, 0 to 1 (default 0.02)",
        "plant_leak": "channel, length or order: plant a leak of this kind (default: none)",
    },
)
