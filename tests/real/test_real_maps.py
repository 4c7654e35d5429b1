"""Maps of real recordings: the EEGLAB sample gives the values that were measured independently."""

from __future__ import annotations

import mne
import numpy as np
import pytest

from neuroarena.maps import MapSettings, compute_map
from neuroarena.maps.own import OwnQuestion, own_benchmark
from shared_data import SHARED

# Mean over stimuli from 250 to 400 ms as it was measured independently, in microvolts. Its filter is not known, and
# drifts move it by a few tenths.
MEASURED_UV = {"Fz": 18.8, "Cz": 17.4, "Pz": 5.4, "O2": -4.4}
SAMPLE = SHARED / "data" / "real" / "eeglab_sample" / "eeglab_data.set"
FRONTO_CENTRAL = {"F3", "Fz", "F4", "FC5", "FC1", "FC2", "FC6", "C3", "Cz", "C4", "CP1", "CP2"}
POSTERIOR = {"POz", "PO3", "O1"}

pytestmark = pytest.mark.skipif(not SAMPLE.exists(), reason="the real data beside the project are absent")


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    benchmark, settings = own_benchmark(SAMPLE, None, OwnQuestion("description"), MapSettings(draws=0))
    assert len(benchmark.examples) == 154
    return compute_map([benchmark], settings=settings, cache=tmp_path_factory.mktemp("cache"))


def test_stimulus_against_response_has_the_measured_values(grid):
    # With 30 judged items a swapped pair is 0.004: the filter's ends differ by that much between implementations.
    values, names = grid.data["auroc"].values[0, 0], grid.electrodes["name"].tolist()
    centres = grid.bins["centre_s"].tolist()
    assert len(names) == 30
    electrode, place = np.unravel_index(values.argmax(), values.shape)
    assert (names[electrode], centres[place]) == ("F4", 0.5)
    assert values.max() == pytest.approx(0.961, abs=0.005)
    for centre, mean in ((0.375, 0.909), (0.0, 0.882), (-0.375, 0.49)):
        assert values[:, centres.index(centre)].mean() == pytest.approx(mean, abs=0.006)


def test_the_best_channels_are_fronto_central_first_and_posterior_later(grid):
    values, names = grid.data["auroc"].values[0, 0], np.array(grid.electrodes["name"].tolist())
    for place, centre in enumerate(grid.bins["centre_s"]):
        best = set(names[np.argsort(-values[:, place])[:5]])
        if -0.125 <= centre <= 0.5:
            assert best <= FRONTO_CENTRAL
        if 0.625 <= centre <= 0.75:
            assert best >= POSTERIOR


def test_what_is_decoded_has_the_measured_microvolts():
    benchmark, settings = own_benchmark(SAMPLE, None, OwnQuestion("description"), MapSettings(draws=0))
    stimuli = benchmark.examples[benchmark.examples["target"] == "square"]
    recording = benchmark.recording(stimuli["recording"].iloc[0])
    first, last = (round((time - settings.first_s) * recording.rate_hz) for time in (0.25, 0.4))
    pieces = [recording.read(start + first, start + last + 1) for start in stimuli["start"]]
    found = dict(zip(recording.channels["name"], np.mean(pieces, axis=(0, 2)), strict=True))
    raw = mne.io.read_raw_eeglab(SAMPLE, preload=True, verbose="error").filter(0.5, None, verbose="error")
    events, codes = mne.events_from_annotations(raw, verbose="error")
    told = {"event_id": {"square": codes["square"]}, "tmin": -0.5, "tmax": 1.5, "baseline": None}
    average = mne.Epochs(raw, events, **told, preload=True, verbose="error").average().crop(0.25, 0.4)
    for name, microvolts in MEASURED_UV.items():
        assert found[name] == pytest.approx(average.get_data(picks=name).mean() * 1e6, abs=0.2)
        assert found[name] == pytest.approx(microvolts, abs=0.8)


def test_channels_are_placed_on_the_scalp(grid):
    table = grid.electrodes.set_index("name")
    assert set(table["space"]) == {"scalp"}
    assert table.loc["O1", "y"] < table.loc["Cz", "y"] < table.loc["FPz", "y"]
