"""The examples of the image track and its split: one epoch per example, test images unseen."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuroarena.benchmarks.splits import Fold, Split
from neuroarena.errors import InputError
from neuroarena.families.img.things_eeg2.reader import PARTS, ThingsEEG2
from neuroarena.recordings import Recording

# Every tenth training concept chooses the model; concepts, not images, so that no look-alike is on both sides.
VALIDATION_EVERY = 10


def things_examples(dataset: ThingsEEG2, subjects: tuple[str, ...]) -> pd.DataFrame:
    """List every epoch of these people: columns of an examples table, and image, concept and part.

    The id holds person, part, image number and repetition: ``sub-01_test_00007_02``. A unit is one person's
    epochs of one image; the target is the image's name.
    """
    tables = []
    for subject in subjects:
        for part in PARTS:
            count, repetitions, _, samples = dataset.epochs(subject, part).data.shape
            images = dataset.images[dataset.images["part"] == part]
            epoch = np.arange(count * repetitions)
            table = images.iloc[epoch // repetitions].reset_index(drop=True)
            repetition = epoch % repetitions + 1
            tables.append(
                pd.DataFrame(
                    {
                        "id": [
                            f"{subject}_{part}_{number:05d}_{shown:02d}"
                            for number, shown in zip(table["number"], repetition, strict=True)
                        ],
                        "recording": f"{subject}/{part}",
                        "start": epoch * samples,
                        "stop": (epoch + 1) * samples,
                        "target": table["name"],
                        "unit": f"{subject}/" + table["name"],
                        "cluster": subject,
                        "subject": subject,
                        "session": f"{subject}/{part}",
                        "concept": table["concept"],
                        "part": part,
                    }
                )
            )
    return pd.concat(tables, ignore_index=True)


def unseen_images(examples: pd.DataFrame) -> Split:
    """Cut one fold per person: training images train, every tenth concept validates, test images are judged.

    A function of the ids alone: neither the order of the rows nor a missing person changes another's fold.

    Raises
    ------
    InputError
        When an image that is judged was also shown in training.
    """
    folds = []
    for subject, own in examples.groupby("subject", sort=True):
        parts = dict(tuple(own.groupby("part")))
        training, test = parts["training"], parts["test"]
        shared = set(training["target"]) & set(test["target"])
        if shared:
            raise InputError(f'{subject}: the image "{min(shared)}" is judged, but was shown in training.')
        number = training["concept"].str.extract(r"^(\d+)", expand=False).astype(int)
        validates = (number % VALIDATION_EVERY == 0).to_numpy()
        folds.append(
            Fold(
                str(subject),
                train=tuple(sorted(training.loc[~validates, "id"])),
                validation=tuple(sorted(training.loc[validates, "id"])),
                test=tuple(sorted(test["id"])),
            )
        )
    return Split("unseen-images", tuple(folds))


def open_part(dataset: ThingsEEG2, key: str) -> Recording:
    """Open the recording that an example names: ``sub-01/test``."""
    subject, _, part = key.partition("/")
    return dataset.recording(subject, part)
