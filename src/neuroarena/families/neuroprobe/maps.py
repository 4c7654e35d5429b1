"""The face `maps` of Neuroprobe: the published time bins and features, places of electrodes, parts of pages."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from neuroarena.benchmarks import Benchmark
from neuroarena.datasets import locate
from neuroarena.families.neuroprobe import binding, map_sections, map_truth
from neuroarena.families.neuroprobe.localization import locate_electrodes
from neuroarena.families.neuroprobe.tasks import tasks_of
from neuroarena.families.neuroprobe.windows import time_bins
from neuroarena.maps.settings import FamilyMaps, MapSettings

_BINS = time_bins()
# 14 bins of 0.25 s that start every 0.125 s, from -0.5 to 1.125 s; magnitudes of 5 frames x 38 frequencies, without
# a Laplacian. The times on published axes are the starts of these windows.
PUBLISHED = MapSettings(
    window_s=_BINS[0][1] - _BINS[0][0],
    stride_s=_BINS[1][0] - _BINS[0][0],
    first_s=_BINS[0][0],
    last_s=_BINS[-1][1],
    features="spectrogram",
)


def window_begin(benchmark: Benchmark) -> float:
    """Return where the windows of a loaded task begin, in seconds from the onset."""
    return float(benchmark.options.get("offset_s", (0.0,))[0])


def place(data: str | None, subject: str, names: Sequence[str]) -> pd.DataFrame:
    """Place electrodes of a subject in MNI305 and name their regions; see :func:`.localization.locate_electrodes`."""
    dataset = binding.open_folder(str(locate("braintreebank", data)))
    return locate_electrodes(dataset, int(subject), list(names))


MAPS = FamilyMaps(
    published=PUBLISHED,
    begin_s=window_begin,
    locate=place,
    conventions=map_sections.CONVENTIONS,
    titles={name: task.title for name, task in tasks_of("2025.07").items()},
    sections={
        "labels": map_sections.labels_section,
        "films": map_sections.films_section,
        "speech": map_sections.speech_section,
        "published": map_sections.published_section,
        "planted": map_truth.planted_section,
    },
    usual=("labels", "films"),
)
