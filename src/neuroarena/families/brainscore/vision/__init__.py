"""Brain-Score vision: recordings of V1, V2, V4 and IT with the pictures that were shown."""

from __future__ import annotations

from neuroarena.datasets.dataset import Dataset
from neuroarena.families.brainscore.vision.facts import STIMULUS_SETS, STUDIES, Study
from neuroarena.families.brainscore.vision.folder import VisionFolder
from neuroarena.families.brainscore.vision.published import fetch_plan
from neuroarena.families.brainscore.vision.verify import verify
from neuroarena.lazily import lazy_function

__all__ = ["DATASET", "STIMULUS_SETS", "STUDIES", "Study", "VisionFolder", "fetch_plan", "simulate", "verify"]


simulate = lazy_function("neuroarena.families.brainscore.vision.twin:simulate")
DATASET = Dataset(
    name="brainscore_vision",
    title="Brain-Score vision",
    licence="as each study says; two studies are public, the files of the others are supplied by the user",
    description=(
        "Recordings of macaque V1, V2, V4 and IT while pictures were shown (MajajHong2015, FreemanZiemba2013, "
        "Kar2019) and properties of V1 neurons (Cavanaugh2002a, Ringach2002, DeValois1982b), as netCDF, CSV and zip."
    ),
    origin="the public storage of Brain-Score, in the file names it uses",
    environment=("NEUROARENA_BRAINSCORE",),
    open=VisionFolder,
    simulate=simulate,
    verify=verify,
    fetch_plan=fetch_plan,
    tiny={"images": 12, "repetitions": 4, "neuroids": 6},
    simulate_options={
        "images": "pictures of each of the eight objects (default 50)",
        "repetitions": "trials of each picture (default 10)",
        "neuroids": "neurons of each region (default 24)",
        "seed": "seed of all chance (default 0)",
        "explained": "share of the repeatable variance that the planted layer explains (default 0.8)",
        "strength": "factor on that share, 0 to 1; 0 is chance (default 1)",
    },
)
