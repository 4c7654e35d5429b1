"""Kriegeskorte2008: dissimilarities of 92 images in human and monkey IT."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from neuroarena.families.brainscore.benchmark import BenchmarkBase, normalise
from neuroarena.families.brainscore.brain_model import BrainModel, check_model
from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.ceilings import rdm_ceiling
from neuroarena.families.brainscore.definitions.files import mark_simulated, plain_folder
from neuroarena.families.brainscore.errors import ConfigError
from neuroarena.families.brainscore.kept_rows import offer_contributions, offer_rows
from neuroarena.families.brainscore.metrics.rdm import (
    compare_rdms,
    dissimilarities,
    image_contributions,
)
from neuroarena.families.brainscore.neural import show_stimuli
from neuroarena.families.brainscore.stimuli import StimulusSet

BRAINS = "92_brainRDMs.mat"
IMAGES = "Kriegeskorte_Neuron2008_supplementalData.mat"
VARIABLE = "NEUROARENA_KRIEGESKORTE"
N_IMAGES = 92
# The images covered 2.9 degrees in the scanner.
DEGREES = 2.9
TIME_BINS = [(70.0, 170.0)]
BIBTEX = """@article{kriegeskorte2008matching,
  title = {Matching categorical object representations in inferior temporal cortex of man and monkey},
  author = {Kriegeskorte, Nikolaus and Mur, Marieke and Ruff, Douglas A. and Kiani, Roozbeh and Bodurka, Jerzy and
            Esteky, Hossein and Tanaka, Keiji and Bandettini, Peter A.},
  journal = {Neuron},
  volume = {60},
  number = {6},
  pages = {1126--1141},
  year = {2008},
  url = {https://www.cell.com/neuron/fulltext/S0896-6273(08)00943-4}
}"""


class DissimilarityBenchmark(BenchmarkBase):
    """Compare a model's dissimilarities with ready-made ones of several subjects.

    Parameters
    ----------
    identifier : str
    rdms : ndarray, shape (subjects, n, n)
        Dissimilarities of each subject, stimuli in the order of `stimuli`.
    subjects : list of str
    stimuli : StimulusSet
    region : str
    visual_degrees : float
    others : mapping of str to ndarray, shape (n, n)
        Dissimilarities whose correlation a Score also reports, in ``attrs["others"]``.
    version, parent, bibtex
        See :class:`~neuroarena.families.brainscore.benchmark.BenchmarkBase`. The ceiling is the upper bound of the
        subjects' agreement, the lower bound is in its attrs; scores are divided by it as they are.
    """

    def __init__(
        self,
        identifier: str,
        rdms: np.ndarray,
        subjects: list[str],
        stimuli: StimulusSet,
        region: str,
        visual_degrees: float,
        others: Mapping[str, np.ndarray] | None = None,
        **base: Any,
    ) -> None:
        super().__init__(identifier, lambda: rdm_ceiling(rdms, subjects), **base)
        if rdms.shape != (len(subjects), len(stimuli), len(stimuli)):
            raise ConfigError(
                f"{identifier}: the dissimilarities have the shape {rdms.shape}, expected "
                f"({len(subjects)}, {len(stimuli)}, {len(stimuli)})."
            )
        self.rdms, self.subjects, self.stimuli = rdms, list(subjects), stimuli
        self.region, self.timebins = region, list(TIME_BINS)
        self.others = dict(others or {})
        self._visual_degrees = visual_degrees

    def __call__(self, candidate: BrainModel) -> Score:
        """Let a model look at the images and compare its dissimilarities, 1 - Pearson."""
        check_model(candidate)
        self.checked_ceiling()
        candidate.start_recording(self.region, time_bins=self.timebins)
        source = show_stimuli(candidate, self.stimuli, self._visual_degrees, 1)
        if "time_bin" in source.dims:
            raise ConfigError(
                f"{self.identifier}: the model answered in several time bins, but only one was requested."
            )
        place = source["stimulus_id"].to_index().get_indexer(pd.Index(self.stimuli.ids))
        values = source.transpose("presentation", "neuroid").values[place]
        rdm = dissimilarities(values, np.array(self.stimuli.ids), "model")
        offer_rows(self.stimuli.ids, rdm, self.stimuli.ids, "dissimilarities")
        offer_contributions(self.subjects, functools.partial(image_contributions, rdm, self.rdms))
        return self.compare(rdm)

    def compare(self, rdm: npt.ArrayLike) -> Score:
        """Score dissimilarities, (n, n), against those of every subject.

        Returns
        -------
        Score
            Mean of Spearman's correlations over subjects / upper bound. ``raw.raw`` holds that of each subject,
            ``attrs["others"]`` those with other brains, ``attrs["lower_bound"]`` the lower bound in the same units.
        """
        values = np.array([compare_rdms(rdm, subject) for subject in self.rdms])
        raw = Score(
            float(values.mean()),
            error=float(values.std(ddof=1) / math.sqrt(len(values))),
            raw=xr.DataArray(values, dims="subject", coords={"subject": self.subjects}),
        )
        score = normalise(raw, self, "ratio")
        score.attrs["others"] = {name: compare_rdms(rdm, other) for name, other in self.others.items()}
        score.attrs["lower_bound"] = self.ceiling.attrs["lower_bound"] / float(self.ceiling)
        return score


def kriegeskorte_2008_it(data: str | Path | None = None, version: int = 1) -> DissimilarityBenchmark:
    """Make ``Kriegeskorte2008.IT-rdm`` from the folder with the two .mat files of the 92 images."""
    folder = plain_folder(data, VARIABLE, "kriegeskorte2008", (BRAINS, IMAGES))
    subjects, rdms = _human(folder / BRAINS)
    stimuli, monkey = _images(folder / IMAGES)
    benchmark = DissimilarityBenchmark(
        identifier="Kriegeskorte2008.IT-rdm",
        version=version,
        rdms=rdms,
        subjects=subjects,
        stimuli=stimuli,
        region="IT",
        visual_degrees=DEGREES,
        others={"monkey IT": monkey},
        parent="IT",
        bibtex=BIBTEX,
    )
    return mark_simulated(benchmark, False)


def _human(path: Path) -> tuple[list[str], np.ndarray]:
    """Read the dissimilarities of each person, averaged over their sessions."""
    found: dict[str, list[np.ndarray]] = {}
    for each in _stored(path, "RDMs").ravel():
        # Names are "hIT | BE | Session: 1".
        person = str(np.ravel(each["name"])[0]).split("|")[1].strip()
        matrix = np.asarray(each["RDM"], dtype=np.float64)
        if matrix.shape != (N_IMAGES, N_IMAGES):
            raise ConfigError(f"{path}: the matrix of {person} is {matrix.shape}, expected 92 x 92.")
        found.setdefault(person, []).append(matrix)
    return list(found), np.stack([np.mean(sessions, axis=0) for sessions in found.values()])


def _images(path: Path) -> tuple[StimulusSet, np.ndarray]:
    """Read the images with their categories, and the dissimilarities of monkey IT."""
    from scipy.spatial.distance import squareform

    stored = _stored(path, "stimuli_92objs").ravel()
    if len(stored) != N_IMAGES:
        raise ConfigError(f"{path}: holds {len(stored)} images, expected 92.")
    ids = [f"image{number:02d}" for number in range(1, N_IMAGES + 1)]
    table = pd.DataFrame({"stimulus_id": ids, "category": [str(np.ravel(e["category"])[0]) for e in stored]})
    for name in ("human", "face", "animal", "natural"):
        table[name] = [int(np.ravel(each[name])[0]) for each in stored]
    images = {key: np.ascontiguousarray(each["image"]) for key, each in zip(ids, stored, strict=True)}
    monkey = squareform(np.ravel(_stored(path, "RDMs_mIT_hIT_fig1").ravel()[0]["RDM"]).astype(np.float64))
    return StimulusSet(table, images=images, identifier="Kriegeskorte2008"), monkey


def _stored(path: Path, name: str) -> np.ndarray:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        found: np.ndarray = loadmat(path)[name]
    except (OSError, ValueError, TypeError, KeyError, NotImplementedError, MatReadError) as error:
        raise ConfigError(f"{path}: cannot be read as a MATLAB file with {name}: {error}.") from error
    return found
