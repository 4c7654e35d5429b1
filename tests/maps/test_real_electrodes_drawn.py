"""Real ECoG with positions is placed and drawn in the person's own space, and nothing is called MNI."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from neuroarena.maps import MapGrid
from neuroarena.maps.assembly import GridPart, make_grid
from neuroarena.maps.page.places import describe_places, find_places
from neuroarena.maps.pictures.flat import draw_subject_space
from neuroarena.maps.pictures.scale import Scale
from neuroarena.maps.placement import Placement, electrode_table, place_bids, place_recording
from neuroarena.maps.windows import window_bins
from neuroarena.recordings.mne_files import open_file
from shared_data import SHARED

IEEG = SHARED / "data" / "real" / "ieeg"
pytestmark = pytest.mark.skipif(not IEEG.is_dir(), reason="../shared/data/real is not beside this checkout")
SIGNALS = {
    "sub-01": "sub-01/ses-01/ieeg/sub-01_ses-01_task-visual_run-01_ieeg.gdf",
    "sub-02": "sub-02/ses-01/ieeg/sub-02_ses-01_task-visual_run-01_ieeg.eeg",
}


def grid_of(names: list[str], subject: str, placed: Placement) -> MapGrid:
    bins = window_bins(0.0, 0.5, 0.25, 0.25)
    values = np.random.default_rng(0).normal(0.5, 0.01, (20, 2, len(names), 2))
    part = GridPart("t", "1", subject, values[0], values[1:], n_test=50)
    table = electrode_table(names, subject, placed)
    return make_grid([part], table, bins, split="s", simulated=True, provenance={})


def place(subject: str) -> tuple[list[str], Placement]:
    if subject == "mne":
        recording = open_file(IEEG / "mne-misc" / "ecog" / "sample_ecog_ieeg.fif")
        return recording.channels["name"].tolist(), place_recording(recording)
    signal = IEEG / "ieeg_visual" / SIGNALS[subject]
    listed = pd.read_csv(next(Path(signal.parent).glob("*electrodes.tsv")), sep="\t", dtype={"name": str})
    names = [*listed["name"], "not listed"]
    return names, place_bids(signal, names)


@pytest.mark.parametrize("subject", ["mne", *SIGNALS])
def test_every_real_electrode_with_a_position_is_drawn_and_the_others_are_named(subject: str):
    names, placed = place(subject)
    places = find_places(grid_of(names, subject, placed))
    rows = places.own[subject]
    assert not places.in_template.any()
    assert len(rows) == placed.placed.sum() > 30
    figure = draw_subject_space(places.xyz[rows], np.full(len(rows), 0.5), Scale(0.5, 0.6))
    for axes in figure.axes[:3]:
        seen = np.asarray(axes.collections[0].get_offsets())
        assert len(seen) == len(rows)
        inside = (seen[:, 0] > axes.get_xlim()[0]) & (seen[:, 0] < axes.get_xlim()[1])
        assert inside.all()
    said = " ".join(describe_places(grid_of(names, subject, placed), places))
    assert "the person's own space" in said
    if subject != "mne":
        assert f"{subject}/not listed" in said
