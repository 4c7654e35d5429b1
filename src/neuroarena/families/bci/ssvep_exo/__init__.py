"""SSVEP exoskeleton: twelve people looked at lights that flickered at 13, 17 or 21 Hz, or at none."""

from __future__ import annotations

from neuroarena.datasets.dataset import Dataset
from neuroarena.families.bci.ssvep_exo.reader import AUTHORS_EXCLUSIONS, CLASSES, SsvepExo, open_folder
from neuroarena.families.bci.ssvep_exo.verify import verify
from neuroarena.lazily import lazy_function

__all__ = ["AUTHORS_EXCLUSIONS", "CLASSES", "DATASET", "SsvepExo", "open_folder", "simulate", "verify"]


simulate = lazy_function("neuroarena.families.bci.ssvep_exo.twin:simulate")
DATASET = Dataset(
    name="ssvep_exo",
    title="SSVEP exoskeleton",
    licence="CC0 1.0",
    description=(
        "Scalp EEG (8 occipital channels, 256 Hz) of twelve people in 33 recordings of 32 trials, looking at a light "
        "that flickers at 13, 17 or 21 Hz, or at none."
    ),
    origin="Kalunga et al. 2016, repository sylvchev/dataset-ssvep-exoskeleton, cut into subjectNN.npz",
    environment=("NEUROARENA_SSVEP_EXO",),
    open=SsvepExo,
    simulate=simulate,
    verify=verify,
    tiny={"subjects": 3},
    simulate_options={
        "subjects": "number of people, 2 to 99 (default 4)",
        "sessions": "recordings per person, 2 to 9 (default 2)",
        "seed": "seed of all chance (default 0)",
        "ideal": "balanced accuracy of the best possible decoder, 0.334 to 0.999 (default 0.85)",
        "strength": "factor on the planted difference; 0 is pure chance (default 1)",
        "plant_leak": "channel or order: plant a flaw (default none)",
    },
)
