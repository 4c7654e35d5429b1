"""Haxby2001: what one slice of a person's brain reveals about eight kinds of pictures (fMRI)."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.definitions.files import mark_simulated, plain_folder
from neuroarena.families.brainscore.errors import ConfigError, named
from neuroarena.families.brainscore.models.precomputed import PrecomputedFeatures
from neuroarena.families.brainscore.rsa import RSABenchmark
from neuroarena.families.brainscore.stimuli import StimulusSet

FILE = "haxby_sub001_1slice.npz"
VARIABLE = "NEUROARENA_HAXBY"
SUFFIXES = (".png", ".jpg", ".jpeg")
BIBTEX = """@article{haxby2001distributed,
  title = {Distributed and overlapping representations of faces and objects in ventral temporal cortex},
  author = {Haxby, James V. and Gobbini, M. Ida and Furey, Maura L. and Ishai, Alumit and Schouten, Jennifer L. and
            Pietrini, Pietro},
  journal = {Science},
  volume = {293},
  number = {5539},
  pages = {2425--2430},
  year = {2001},
  url = {https://www.science.org/doi/10.1126/science.1063736}
}"""


class HaxbySlice(RSABenchmark):
    """Decode categories from voxels, or compare a model's dissimilarities of categories with those of every run.

    The benchmark can be called in two ways. A classifier with ``fit`` and ``predict`` is trained on the
    patterns of all runs but one and tested on that one; its Score is the accuracy (chance 0.125). A model of vision is
    compared by representational similarity; runs stand for subjects, and the noise ceiling is theirs.

    Parameters
    ----------
    patterns : ndarray, shape (runs, categories, voxels)
        Mean response of each block.
    categories : list of str
    pictures : path, optional
        Folder with one picture per category, named after it (``face.png``). The pictures of the study are not part of
        the data; without any, only features by category (`PrecomputedFeatures`) can be compared.
    version : int
    """

    def __init__(
        self,
        patterns: np.ndarray,
        categories: list[str],
        pictures: str | Path | None = None,
        version: int = 1,
    ) -> None:
        self.patterns, self.categories = patterns, categories
        self._has_pictures = pictures is not None
        super().__init__(
            identifier="Haxby2001-slice",
            version=version,
            assembly=_assembly(patterns, _stimuli(categories, pictures)),
            visual_degrees=8,
            number_of_trials=1,
            parent="IT",
            bibtex=BIBTEX,
        )

    def __call__(self, candidate: Any) -> Score:
        """Decode with a classifier, or compare with a model; see the class.

        Raises
        ------
        ConfigError
            When the model needs images and there are no pictures to show it.
        """
        if hasattr(candidate, "fit") and hasattr(candidate, "predict"):
            return self.decode(candidate)
        if not self._has_pictures and not isinstance(candidate, PrecomputedFeatures):
            raise ConfigError(
                f"{self.identifier}: the pictures of the study are not part of the data. Pass pictures=FOLDER with "
                f"one picture per category ({named(self.categories, 8)}), or PrecomputedFeatures by category."
            )
        return super().__call__(candidate)

    def decode(self, classifier: Any = None) -> Score:
        """Return the accuracy of a classifier, leaving one run out at a time.

        Parameters
        ----------
        classifier : scikit-learn classifier, optional
            Copied unfitted for each run; by default a linear support vector machine.

        Returns
        -------
        Score
            Mean accuracy over runs; `raw` holds that of each run, ``attrs["chance"]`` one over the categories.
        """
        from sklearn.base import clone
        from sklearn.svm import SVC

        runs, kinds, voxels = self.patterns.shape
        labels = np.array(self.categories)
        accuracy = []
        for run in range(runs):
            others = np.delete(self.patterns, run, axis=0).reshape(-1, voxels)
            fitted = clone(classifier if classifier is not None else SVC(kernel="linear"))
            fitted.fit(others, np.tile(labels, runs - 1))
            accuracy.append(float(np.mean(fitted.predict(self.patterns[run]) == labels)))
        return Score(
            float(np.mean(accuracy)),
            error=float(np.std(accuracy, ddof=1) / math.sqrt(runs)),
            raw=xr.DataArray(accuracy, dims="run", coords={"run": np.arange(1, runs + 1)}),
            n_splits=runs,
            n_neuroids_used=voxels,
            n_neuroids_total=voxels,
            attrs={"chance": 1 / kinds},
        )


def haxby_2001_slice(
    data: str | Path | None = None, pictures: str | Path | None = None, version: int = 1
) -> HaxbySlice:
    """Make ``Haxby2001-slice`` from the folder that holds ``haxby_sub001_1slice.npz``."""
    folder = plain_folder(data, VARIABLE, "haxby2001", (FILE,))
    patterns, categories = read_patterns(folder / FILE)
    return mark_simulated(HaxbySlice(patterns, categories, pictures, version), False)


def read_patterns(path: Path) -> tuple[np.ndarray, list[str]]:
    """Read block patterns: voxels are detrended and standardised run by run, volumes of a block averaged.

    Returns
    -------
    ndarray, shape (runs, categories, voxels)
        Voxels that never change are left out.
    list of str
        The categories, rest left out.

    Raises
    ------
    ConfigError
        When the file does not hold the expected arrays.
    """
    from scipy.signal import detrend

    try:
        with np.load(path, allow_pickle=False) as stored:
            volumes, labels, runs = (stored[name] for name in ("X", "y", "run"))
            names = [str(name) for name in stored["label_names"]]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ConfigError(f"{path}: cannot be read as X, y, run and label_names: {error}.") from error
    signals = volumes[:, np.ptp(volumes, axis=0) > 0].astype(np.float64)
    patterns = []
    for run in np.unique(runs):
        course = detrend(signals[runs == run], axis=0)
        course /= np.maximum(course.std(axis=0), 1e-12)
        absent = [names[kind] for kind in range(1, len(names)) if not (labels[runs == run] == kind).any()]
        if absent:
            raise ConfigError(f"{path}: run {run} shows no {named(absent)}.")
        patterns.append(
            np.stack([course[labels[runs == run] == kind].mean(axis=0) for kind in range(1, len(names))])
        )
    return np.stack(patterns), names[1:]


def _assembly(patterns: np.ndarray, stimuli: StimulusSet) -> xr.DataArray:
    """Lay out patterns as categories x (run, voxel); a run is a subject to the comparison."""
    runs, kinds, voxels = patterns.shape
    owners = np.repeat([f"run{run:02d}" for run in range(1, runs + 1)], voxels)
    return xr.DataArray(
        patterns.transpose(1, 0, 2).reshape(kinds, -1),
        dims=("presentation", "neuroid"),
        coords={
            "stimulus_id": ("presentation", stimuli.ids),
            "neuroid_id": ("neuroid", [f"{owner}.{at % voxels}" for at, owner in enumerate(owners)]),
            "subject": ("neuroid", owners),
            "region": ("neuroid", np.full(runs * voxels, "IT")),
            "time_bin_start": 70,
            "time_bin_end": 170,
        },
        attrs={"identifier": "Haxby2001-slice", "stimulus_set": stimuli},
    )


def _stimuli(categories: list[str], pictures: str | Path | None) -> StimulusSet:
    table = pd.DataFrame({"stimulus_id": categories, "object_name": categories})
    if pictures is None:
        # Never shown: models that need images are refused earlier.
        gray = np.full((8, 8, 3), 128, dtype=np.uint8)
        return StimulusSet(table, images=dict.fromkeys(categories, gray), identifier="Haxby2001")
    paths = {}
    for name in categories:
        found = [Path(pictures) / f"{name}{suffix}" for suffix in SUFFIXES]
        there = [path for path in found if path.is_file()]
        if not there:
            raise ConfigError(f"{pictures}: there is no picture {found[0].name} of the category {name}.")
        paths[name] = there[0]
    return StimulusSet(table, paths, "Haxby2001")
