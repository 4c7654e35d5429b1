from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import welch
from scipy.stats import multivariate_normal

from neuroarena.errors import InputError
from neuroarena.families.sleep.sleep_edf import SleepEDF, first_stable_n2, simulate, verify
from neuroarena.families.sleep.sleep_edf import twin_sleep as sleep
from neuroarena.families.sleep.sleep_edf.twin_signal import make_eeg

edfio = pytest.importorskip("edfio")
COVARIANCE = sleep.fitted().mixing @ sleep.fitted().mixing.T
SMALL = {"people": 2, "nights": 1, "minutes": 51, "seed": 3}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("twin") / "sleep_edf"
    simulate(folder, **SMALL)
    return folder


@pytest.fixture
def copied(root: Path, tmp_path: Path) -> Path:
    shutil.copytree(root, tmp_path / "copy")
    return tmp_path / "copy"


def onset_s(data: SleepEDF, key: str) -> float:
    epochs = data.stages(key)
    found = first_stable_n2(epochs["stage"].tolist())
    assert found is not None
    return float(epochs["start_s"].iloc[found])


def test_a_twin_has_the_real_layout_and_names(root: Path):
    names = sorted(path.name for path in (root / "sleep-cassette").iterdir())
    assert names == [
        "SC4001E0-PSG.edf",
        "SC4001EC-Hypnogram.edf",
        "SC4011E0-PSG.edf",
        "SC4011EC-Hypnogram.edf",
    ]
    header = (root / "sleep-cassette" / names[0]).read_bytes()[: 256 * 8]
    assert header[192:197] != b"EDF+C"  # signals are plain EDF, hypnograms EDF+
    assert header[244:252].strip() == b"30"  # seconds a record
    labels = [header[256 + 16 * row : 272 + 16 * row].decode().strip() for row in range(7)]
    assert labels[:3] == ["EEG Fpz-Cz", "EEG Pz-Oz", "EOG horizontal"]
    assert labels[3:] == ["Resp oro-nasal", "EMG submental", "Temp rectal", "Event marker"]


def test_a_clean_twin_verifies_and_its_card_knows_the_onsets(root: Path):
    assert verify(root) == []
    data = SleepEDF(root)
    assert data.simulated
    assert data.card is not None
    for entry in data.card["nights"]:
        assert onset_s(data, entry["night"]) == entry["stable_n2_s"]
        assert data.open(entry["night"]).duration_s == entry["length_s"]


def test_a_night_opens_as_two_channels_in_microvolts_without_reading(root: Path):
    recording = SleepEDF(root).open("SC4011")
    assert recording.channels["name"].tolist() == ["EEG Fpz-Cz", "EEG Pz-Oz"]
    assert recording.rate_hz == 100.0
    assert 5 < recording.read(0, 30_000).std() < 60


def test_the_last_annotation_is_unscored_and_outlasts_the_signal(root: Path):
    data = SleepEDF(root)
    last = data.annotations("SC4001").iloc[-1]
    assert last["description"] == "Sleep stage ?"
    assert last["onset_s"] + last["duration_s"] > data.open("SC4001").duration_s


def test_the_same_seed_gives_the_same_files_and_a_current_twin_is_left_alone(root: Path, tmp_path: Path):
    simulate(tmp_path / "again", **SMALL)
    for path in sorted((root / "sleep-cassette").iterdir()):
        assert path.read_bytes() == (tmp_path / "again" / "sleep-cassette" / path.name).read_bytes()
    before = (root / "simulated.json").stat().st_mtime_ns
    simulate(root, **SMALL)
    assert (root / "simulated.json").stat().st_mtime_ns == before


def test_levels_follow_the_states_and_at_strength_zero_they_do_not():
    rng = np.random.default_rng(0)
    states = np.repeat([sleep.RESTING, sleep.STATES.index("N3")], 400)
    means = sleep.fitted().means[[sleep.RESTING, sleep.STATES.index("N3")]]
    drawn = sleep.draw_levels(states, 1.0, rng).reshape(2, 400, 10).mean(axis=1)
    np.testing.assert_allclose(drawn, means, atol=0.08)
    assert np.abs(means[1] - means[0]).max() > 1.0
    awake, deep = sleep.draw_levels(states, 0.0, rng).reshape(2, 400, 10).mean(axis=1)
    np.testing.assert_allclose(awake, deep, atol=0.08)


def test_the_signal_has_the_levels_that_were_planted_in_every_band_and_channel():
    """Measured by SciPy's Welch estimate, on epochs whose levels jump by a decade."""
    rng = np.random.default_rng(0)
    levels = rng.uniform(-1.0, 1.0, (40, 10))
    signal = make_eeg(levels, (0, 1), 100, rng)
    assert signal.shape == (2, 40 * 30 * 100)
    for epoch in range(0, 40, 5):
        part = signal[:, epoch * 3000 + 200 : (epoch + 1) * 3000 - 200]
        frequencies, power = welch(part, 100, nperseg=400)
        for band, (low, high) in enumerate(sleep.BANDS_HZ):
            inside = (frequencies >= low + 0.5) & (frequencies < high - 0.5)
            # The edges are left out: what falls off there belongs to the neighbour as well.
            found = np.log10(power[:, inside].mean(axis=1))
            np.testing.assert_allclose(found, levels[epoch, [band, band + 5]], atol=0.3)


def test_a_night_before_sleep_is_wake_then_n1_and_its_first_stable_n2_is_the_one_asked_for():
    rng = np.random.default_rng(0)
    for onset in (10, 50, 117):
        stages = [sleep.STAGES[stage] for stage in sleep.STAGE_OF[sleep.draw_states(onset, 120, rng)]]
        assert first_stable_n2(stages) == onset
        assert stages[onset - 1] == "N1"
        assert set(stages[:onset]) <= {"W", "N1", "N2"}


def test_the_ideal_error_is_chance_at_strength_zero_and_falls_with_strength():
    errors = [sleep.ideal_error(strength, 300, 1500, 1800, draws=150) for strength in (0.0, 0.5, 1.0, 3.0)]
    assert errors[0] == pytest.approx(300, rel=0.15)
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert errors[3] < 5


def test_the_posterior_of_the_onset_agrees_with_counting_simulated_nights():
    """Two epochs of onset are possible; nights are drawn, and weighed by how well they explain the levels seen."""
    onsets, strength = np.array([2, 4]), 0.3
    means, spreads = sleep.planted(strength)
    rng = np.random.default_rng(1)
    seen = sleep.draw_levels(np.array([1, 2, 3, 2, 3, 3]), strength, rng)
    likely = np.array(
        [
            multivariate_normal.logpdf(seen / spreads[state], means[state] / spreads[state], COVARIANCE)
            - np.log(spreads[state]).sum()
            for state in range(len(means))
        ]
    )
    near = {2: 0.0, 4: 0.0}
    for onset in (2, 4):
        for _ in range(2000):
            states = sleep.draw_states(onset, len(seen), rng)
            near[onset] += float(np.exp(likely[states, np.arange(len(seen))].sum()))
    expected = near[2] / (near[2] + near[4])
    assert 0.1 < expected < 0.9
    assert sleep.onset_posterior(seen[np.newaxis], onsets, strength)[0, 0] == pytest.approx(
        expected, abs=0.05
    )


def test_a_length_leak_ends_every_night_exactly_300_seconds_after_stable_n2(tmp_path: Path):
    simulate(tmp_path / "leak", **SMALL, plant_leak="length")
    data = SleepEDF(tmp_path / "leak")
    assert {data.open(key).duration_s - onset_s(data, key) for key in data.nights} == {300.0}


def test_a_channel_leak_counts_down_to_stable_n2(tmp_path: Path):
    simulate(tmp_path / "leak", **SMALL, plant_leak="channel")
    data = SleepEDF(tmp_path / "leak")
    at = round(onset_s(data, "SC4001") * 100)
    leak = data.open("SC4001").read(at - 2000, at + 1, ["EEG Pz-Oz"])[0]
    assert leak[-1] == pytest.approx(0.0, abs=0.1)
    assert leak[0] == pytest.approx(1.0, abs=0.1)


def test_an_order_leak_sorts_nights_by_their_onset(tmp_path: Path):
    simulate(tmp_path / "leak", people=4, nights=1, minutes=51, plant_leak="order")
    data = SleepEDF(tmp_path / "leak")
    onsets = [onset_s(data, key) for key in data.nights]
    assert onsets == sorted(onsets)
    assert len(set(onsets)) == 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"people": 0}, "people must be a whole number from 1 to 78, got 0"),
        ({"people": 2.5}, "people must be a whole number"),
        ({"nights": 3}, "nights must be a whole number from 1 to 2"),
        ({"minutes": 20}, "minutes must be a whole number from 51 to 1440"),
        ({"strength": -1}, "strength must be a number from 0 to 10"),
        ({"seed": True}, "seed must be a whole number"),
        ({"plant_leak": "smell"}, "--plant-leak must be one of channel, length, order"),
    ],
)
def test_options_out_of_range_are_refused_and_nothing_is_written(tmp_path: Path, options: dict, words: str):
    with pytest.raises(InputError, match=words):
        simulate(tmp_path / "twin", **options)
    assert not (tmp_path / "twin").exists()


def test_a_folder_that_holds_something_else_is_not_written_over(tmp_path: Path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="is not empty"):
        simulate(tmp_path, **SMALL)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5000])


def _scribble(path: Path) -> None:
    path.write_bytes(b"\x00" * 3000)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda at: (at / "SC4001EC-Hypnogram.edf").unlink(), "has no Hypnogram.edf next to it"),
        (lambda at: (at / "SC4011E0-PSG.edf").unlink(), "has no PSG.edf next to it"),
        (
            lambda at: shutil.copy(at / "SC4001E0-PSG.edf", at / "SC4001F0-PSG.edf"),
            "is a second file of the night",
        ),
        (lambda at: _cut(at / "SC4001E0-PSG.edf"), "SC4001E0-PSG.edf"),
        (lambda at: _scribble(at / "SC4001E0-PSG.edf"), "SC4001E0-PSG.edf"),
        (lambda at: _scribble(at / "SC4001EC-Hypnogram.edf"), "SC4001EC-Hypnogram.edf"),
    ],
)
def test_verify_names_the_damaged_file(copied: Path, damage: Callable[[Path], object], words: str):
    damage(copied / "sleep-cassette")
    assert words in " ".join(map(str, verify(copied)))


def test_verify_misses_a_night_that_the_card_lists(copied: Path):
    for path in (copied / "sleep-cassette").glob("SC4011*"):
        path.unlink()
    assert [str(problem) for problem in verify(copied)] == [
        "SC4011*-PSG.edf: is missing, but simulated.json lists the night."
    ]


def test_a_folder_without_nights_and_a_night_that_is_not_there_are_refused(root: Path, tmp_path: Path):
    with pytest.raises(InputError, match="is not a Sleep-EDF folder"):
        SleepEDF(tmp_path)
    with pytest.raises(InputError, match="this folder does not exist"):
        SleepEDF(tmp_path / "nowhere")
    with pytest.raises(InputError, match='there is no night "SC4991"'):
        SleepEDF(root).open("SC4991")
    (tmp_path / "simulated.json").write_text("[")
    shutil.copytree(root / "sleep-cassette", tmp_path / "sleep-cassette")
    with pytest.raises(InputError, match="cannot be read as the card"):
        SleepEDF(tmp_path)


def test_files_with_other_header_habits_are_read(tmp_path: Path):
    """Flat folder, EDF+ with its own annotations, other labels, millivolts, one-second records, AASM texts."""
    rng = np.random.default_rng(0)
    data = 0.02 * rng.standard_normal((3, 6000))
    signals = [
        edfio.EdfSignal(row, 100, label=label, physical_dimension="mV", physical_range=(-0.5, 0.5))
        for row, label in zip(data, ("Pz-Oz", "FPZ-CZ", "EOG horizontal"), strict=True)
    ]
    texts = ["Sleep stage W", "Sleep stage N2"]
    scored = [edfio.EdfAnnotation(30 * i, 30, text) for i, text in enumerate(texts)]
    edfio.Edf(signals, annotations=scored[:1]).write(tmp_path / "ST7011J0-PSG.edf")
    edfio.Edf(signals[:1], annotations=[*scored, edfio.EdfAnnotation(5, None, "Lights off")]).write(
        tmp_path / "ST7011JP-Hypnogram.edf"
    )
    night = SleepEDF(tmp_path)
    assert not night.simulated
    assert night.nights["ST7011"].study == "telemetry"
    assert night.open("ST7011").channels["name"].tolist() == ["FPZ-CZ", "Pz-Oz"]
    read = night.open("ST7011").read(0, 6000)
    np.testing.assert_allclose(read, 1e3 * data[[1, 0]], atol=0.02)
    assert night.stages("ST7011")["stage"].tolist() == ["W", "N2"]


def test_files_written_by_mne_are_read(tmp_path: Path):
    mne = pytest.importorskip("mne")
    rng = np.random.default_rng(0)
    info = mne.create_info(["EEG Fpz-Cz", "EEG Pz-Oz"], 100.0, "eeg")
    data = 20e-6 * rng.standard_normal((2, 9000))
    raw = mne.io.RawArray(data, info, verbose="error")
    raw.export(tmp_path / "SC4021E0-PSG.edf", verbose="error")
    raw.set_annotations(mne.Annotations([0, 30], [30, 60], ["Sleep stage 1", "Sleep stage 2"]))
    raw.export(tmp_path / "SC4021EC-Hypnogram.edf", verbose="error")
    night = SleepEDF(tmp_path)
    np.testing.assert_allclose(night.open("SC4021").read(0, 9000), 1e6 * data, atol=0.05)
    assert night.stages("SC4021")["stage"].tolist() == ["N1", "N2", "N2"]


def test_a_recording_without_the_eeg_channels_is_refused_by_name(tmp_path: Path):
    signal = edfio.EdfSignal(np.zeros(3000), 100, label="EEG Fpz-Cz", physical_range=(-1, 1))
    edfio.Edf([signal]).write(tmp_path / "SC4021E0-PSG.edf")
    edfio.Edf([], annotations=[edfio.EdfAnnotation(0, 30, "Sleep stage W")]).write(
        tmp_path / "SC4021EC-Hypnogram.edf"
    )
    with pytest.raises(InputError, match='has no channel "EEG Pz-Oz"'):
        SleepEDF(tmp_path).open("SC4021")


def test_the_card_says_what_is_planted_and_how_well_one_can_do(root: Path):
    card = json.loads((root / "simulated.json").read_text())
    assert card["simulated"] is True
    assert card["options"]["strength"] == 1.0
    assert 0 < card["ideal_mae_s"] < card["chance_mae_s"] / 4
    assert "at strength 0 it is that of guessing" in card["ideal_says"]
