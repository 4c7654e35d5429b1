"""Three mental commands over several sessions: motor imagery, mental math, word association, in BIDS."""

from __future__ import annotations

from neuroarena.datasets.dataset import Dataset
from neuroarena.families.bci.bci_commands.reader import CUES, BciCommands
from neuroarena.families.bci.bci_commands.verify import verify
from neuroarena.lazily import lazy_function

__all__ = ["CUES", "DATASET", "BciCommands", "simulate", "verify"]


simulate = lazy_function("neuroarena.families.bci.bci_commands.twin:simulate")
DATASET = Dataset(
    name="bci_commands",
    title="Three mental commands (PROTEUS)",
    licence="CC BY 4.0",
    description=(
        "Scalp EEG (41 channels, 500 Hz) of ten people in up to three sessions, cued to imagine movement, to "
        "subtract or to associate words, in two feedback environments."
    ),
    origin="NEMAR nm000290 (Dreyer et al. 2026), BIDS",
    environment=("NEUROARENA_BCI_COMMANDS",),
    open=BciCommands,
    simulate=simulate,
    verify=verify,
    tiny={"subjects": 2, "sessions": 2, "runs": 2, "trials": 12, "channels": 6},
    simulate_options={
        "subjects": "number of people, 1 to 10 (default 3)",
        "sessions": "sessions per person, 2 to 14 (default 4)",
        "runs": "cued runs per session, 2 to 6 (default 4)",
        "trials": "trials per run, a multiple of three up to 36 (default 18)",
        "channels": "electrodes, 6 to 41 (default 8)",
        "rate_hz": "sampling rate, 100 to 500 (default 100)",
        "seed": "seed of all chance (default 0)",
        "ideal": "balanced accuracy of the best possible decoder, 0.334 to 0.999 (default 0.85)",
        "strength": "factor on the planted difference; 0 is pure chance (default 1)",
        "drift": "factor on how far sessions wander; 0 is none (default 1)",
        "format": "edf or brainvision (default edf)",
        "plant_leak": "channel, length or order: plant a flaw (default none)",
    },
)
