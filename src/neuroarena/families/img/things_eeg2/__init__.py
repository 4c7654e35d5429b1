"""THINGS-EEG2: ten people looked at 16,740 images; epochs, and the frozen embeddings of the images."""

from __future__ import annotations

from neuroarena.datasets.dataset import Dataset
from neuroarena.families.img.things_eeg2.pickled import read_pickled
from neuroarena.families.img.things_eeg2.reader import ThingsEEG2
from neuroarena.families.img.things_eeg2.verify import verify
from neuroarena.lazily import lazy_function

__all__ = ["DATASET", "ThingsEEG2", "read_pickled", "simulate", "verify"]


simulate = lazy_function("neuroarena.families.img.things_eeg2.twin:simulate")
DATASET = Dataset(
    name="things_eeg2",
    title="THINGS-EEG2",
    licence="CC BY 4.0",
    description=(
        "Scalp EEG epochs (63 channels, or the 17 at the back; 100 or 250 Hz) of ten people looking at 16,540 "
        "training and 200 test images, shown five a second, and an embedding of every image."
    ),
    origin="Gifford et al. 2022 (OSF 3jk45, Figshare 18470912); embeddings are computed elsewhere",
    environment=("NEUROARENA_THINGS_EEG2",),
    open=ThingsEEG2,
    simulate=simulate,
    verify=verify,
    tiny={"training_images": 60, "test_images": 30, "training_repetitions": 2, "length": 32},
    simulate_options={
        "subjects": "number of people, 1 to 10 (default 2)",
        "training_images": "training images, a multiple of 10 up to 16540 (default 400)",
        "test_images": "test images, 11 to 200 (default 200)",
        "training_repetitions": "epochs of each training image, 1 to 4 (default 4)",
        "test_repetitions": "epochs of each test image, 1 to 80 (default 2)",
        "channels": "17, those at the back, or 63 (default 17)",
        "length": "numbers in an embedding, 32 to 1536 (default 1536)",
        "seed": "seed of all chance (default 0)",
        "ideal": "top-5 accuracy of the best possible decoder of one epoch, up to 0.999 (default 0.9)",
        "strength": "factor on the planted response; 0 is pure chance (default 1)",
        "variant": "authors (100 Hz) or nice (250 Hz, a plain pickle, no samples before onset) (default authors)",
        "plant_leak": "channel or order: plant a flaw (default none)",
    },
)
