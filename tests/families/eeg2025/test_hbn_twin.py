"""The simulated HBN-EEG: layout, plausible people and events, stated links, and preprocessing of raw twins."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.signal import firwin, freqz

from hbn_twin import twin
from neuroarena.errors import InputError
from neuroarena.families.eeg2025.hbn import DATASET, HBN, preprocess, simulate, verify
from neuroarena.families.eeg2025.hbn.bdf_writer import write_bdf
from neuroarena.families.eeg2025.hbn.facts import CHANNELS, FACTORS
from neuroarena.families.eeg2025.hbn.preprocessing import filtered
from neuroarena.families.eeg2025.hbn.twin_people import LEAST_PEOPLE, make_people
from neuroarena.recordings import from_array

CONTRAST = "contrastChangeDetection"


def test_a_twin_says_that_it_is_simulated_and_what_it_holds():
    card = json.loads((twin() / "simulated.json").read_text())
    assert card["simulated"] is True
    assert card["options"]["people"] == 12
    assert set(card["planted"]) == {*FACTORS, "response", "trial"}
    assert set(card["ridge_band"]) == {"as-scored"}  # twelve people are too few to promise more
    for preset, tasks in card["ridge_band"].items():
        for task, bands in tasks.items():
            for release, (low, high) in bands.items():
                assert low < card["ideal_nrmse"][preset][task][release] < high == 0.95
    assert verify(twin()) == []


def test_one_release_of_a_twin_is_a_simulated_dataset_of_its_own():
    release = next(path for path in twin().iterdir() if path.is_dir())
    assert HBN(release).simulated
    assert verify(release) == []


def test_the_same_options_leave_a_twin_as_it_is_and_the_same_seed_gives_the_same_bytes(tmp_path: Path):
    small = {"releases": "R12", "people": 12, "trials": 3, "seconds": 4}
    card = simulate(tmp_path / "one", **small)
    stamp = (tmp_path / "one" / "simulated.json").stat().st_mtime_ns
    assert simulate(tmp_path / "one", **small) == card
    assert (tmp_path / "one" / "simulated.json").stat().st_mtime_ns == stamp
    person = make_people(12, {}, set(), 1.0, np.random.default_rng(5))
    assert person == make_people(12, {}, set(), 1.0, np.random.default_rng(5))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty and was not written by the neuroarena"):
        simulate(tmp_path / "full", **small)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"releases": "R13"}, "--releases must be some of"),
        ({"releases": "R1,R1"}, "each once"),
        ({"people": LEAST_PEOPLE - 1}, "people must be a whole number from 12"),
        ({"trials": 0}, "trials must be"),
        ({"seconds": 1}, "seconds must be"),
        ({"strength": 1.2}, "strength must be a number from 0 to 1.15"),
        ({"raw": "no"}, "--raw must be yes or no"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_options_out_of_range_are_refused_and_nothing_is_written(tmp_path: Path, options, message):
    with pytest.raises(InputError, match=message):
        simulate(tmp_path / "twin", **options)
    assert not (tmp_path / "twin").exists()
    assert set(options) <= set(DATASET.simulate_options)


@pytest.mark.parametrize("strength", [0.0, 0.5, 1.0])
def test_factors_and_amplitudes_are_linked_exactly_as_stated_in_every_release(strength):
    people = make_people(14, {}, set(), strength, np.random.default_rng(8))[:14]
    age = np.array([person.age for person in people])
    for factor in FACTORS:
        scores = np.array([person.factors[factor] for person in people])
        levels = np.array([person.amplitudes[factor] for person in people])
        assert np.corrcoef(scores, levels)[0, 1] == pytest.approx(0.85 * strength, abs=0.01)
        link = {"internalizing": 0.3, "externalizing": -0.4}.get(factor, 0.0)
        assert np.corrcoef(scores, age)[0, 1] == pytest.approx(link, abs=0.05)


def test_presses_are_double_early_and_missing_now_and_then_and_times_are_like_real_ones():
    data = HBN(twin())
    seen = {"double": 0, "early": 0, "missed": 0, "targetless": 0}
    closings = set()
    for key in data.recordings.loc[data.recordings["task"] == CONTRAST, "key"]:
        events = data.events(key)
        closings.add(events["value"].iloc[-1])
        starts = events.loc[events["value"] == "contrastTrial_start", "onset_s"].tolist()
        for start, stop in zip(starts, [*starts[1:], np.inf], strict=True):
            trial = events[(events["onset_s"] >= start) & (events["onset_s"] < stop)]
            target = trial.loc[trial["value"].str.endswith("_target"), "onset_s"]
            press = trial.loc[trial["value"].str.endswith("_buttonPress"), "onset_s"]
            if len(trial) == 1:
                continue
            if target.empty:
                seen["targetless"] += 1
                continue
            after = (press >= target.iloc[0]).sum()
            seen["double"] += after > 1
            seen["missed"] += after == 0
            seen["early"] += bool((press < target.iloc[0]).any())
    assert min(seen.values()) >= 3, seen
    assert {"contrastTrial_start", "end_experiment"} < closings


def test_younger_children_learn_six_targets_and_recordings_exist_for_available_ones_only():
    data = HBN(twin())
    for release in data.folders:
        people = data.participants(release)
        assert (people["seqLearning6target"].eq("available") <= people["age"].lt(9)).all()
        assert people[list(FACTORS)].isna().all(axis=1).sum() == 1
        assert people["ehq_total"].isna().sum() == 1
    assert set(data.participants("R1")["symbolSearch"]) == {"available", "caution", "unavailable"}


@pytest.fixture(scope="module")
def raw_and_copy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict, list]:
    """Two people of a raw release: a tone of 10 Hz, one of 80 Hz, an offset; and their copy."""
    raw, out = tmp_path_factory.mktemp("raw"), tmp_path_factory.mktemp("out") / "copies"
    source = twin() / "R12_L100_bdf"
    names = sorted(path.name for path in source.glob("sub-*"))[:2]
    lines = (source / "participants.tsv").read_text().splitlines()
    (raw / "R12").mkdir()
    kept = [lines[0], *(line for line in lines[1:] if line.split("\t")[0] in names)]
    (raw / "R12" / "participants.tsv").write_text("\n".join(kept) + "\n")
    seconds = np.arange(500 * 20) / 500
    samples = np.tile(
        300 + 20 * np.sin(2 * np.pi * 10 * seconds) + 20 * np.sin(2 * np.pi * 80 * seconds), (129, 1)
    )
    samples[128] = 0
    for name in names:
        place = raw / "R12" / name / "eeg"
        place.mkdir(parents=True)
        stem = f"{name}_task-{CONTRAST}_run-1"
        write_bdf(place / f"{stem}_eeg.bdf", CHANNELS, samples, 500)
        rows = ["-1\tn/a\t-500\tboundary\tboundary\t", "3.25\tn/a\t1625\tcontrastTrial_start\t5\tn/a"]
        rows += [
            "19.998\t2.4\t9999\tleft_target\t8\tn/a",
            "20\tn/a\t10000\tleft_buttonPress\t12\tsmiley_face",
        ]
        header = "onset\tduration\tsample\tvalue\tevent_code\tfeedback"
        (place / f"{stem}_events.tsv").write_text("\n".join([header, *rows]) + "\n")
        (place / f"{stem}_eeg.json").write_text('{"SamplingFrequency": 500, "RecordingDuration": 20}')
    told: list[tuple[int, int, str]] = []
    done = preprocess(raw, out, progress=lambda *state: told.append(state))
    return raw, out, done, told


def test_preprocessing_keeps_the_band_removes_the_rest_and_writes_the_challenge_s_layout(raw_and_copy):
    _, out, done, told = raw_and_copy
    assert (done["written"], done["kept"], done["dropped_events"]) == (2, 0, 4)
    assert [state[:2] for state in told] == [(1, 2), (2, 2)]
    data = HBN(out)
    assert [folder.name for folder in data.folders.values()] == ["R12_L100_bdf"]
    recording = data.recording(data.recordings["key"][0])
    assert (recording.rate_hz, recording.n_samples) == (100, 2000)
    middle = recording.read(500, 1500)
    seconds = np.arange(500, 1500) / 100
    # The tone of 80 Hz is gone, the tone of 10 Hz is where it was, in phase, and of the offset half a percent is left.
    assert abs(middle[0].mean()) < 0.005 * 300
    np.testing.assert_allclose(middle[0] - middle[0].mean(), 20 * np.sin(2 * np.pi * 10 * seconds), atol=0.5)
    assert not recording.read(0, 2000, ["Cz"]).any()


def test_preprocessing_drops_events_outside_and_the_sample_column(raw_and_copy):
    _, out, _, _ = raw_and_copy
    data = HBN(out)
    path = data.path(data.recordings["key"][0])
    table = pd.read_csv(
        path.with_name(path.name.replace("_eeg.bdf", "_events.tsv")), sep="\t", keep_default_na=False
    )
    assert list(table.columns) == ["onset", "duration", "value", "event_code", "feedback"]
    assert table.to_numpy().tolist() == [
        [3.25, "n/a", "contrastTrial_start", 5, "n/a"],
        [19.998, "2.4", "left_target", 8, "n/a"],
    ]
    about = json.loads(path.with_name(path.name.replace("_eeg.bdf", "_eeg.json")).read_text())
    assert about == {"SamplingFrequency": 100, "RecordingDuration": 20}


def test_preprocessing_goes_on_where_it_was_stopped(raw_and_copy):
    raw, out, _, _ = raw_and_copy
    files = sorted(out.glob("*/sub-*/eeg/*.bdf"))
    before = [file.read_bytes() for file in files]
    files[1].unlink()
    again = preprocess(raw, out)
    assert (again["written"], again["kept"]) == (1, 1)
    assert [file.read_bytes() for file in files] == before


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda raw, out: (raw, raw), "is the folder of the raw releases"),
        (lambda raw, out: (raw, out.with_name("other")), "is not empty and has no preprocessing.json"),
        (lambda raw, out: (out, out.with_name("twice")), "has 100 Hz; expected a raw recording"),
    ],
)
def test_preprocessing_refuses_what_it_cannot_do(raw_and_copy, prepare, message):
    raw, out, _, _ = raw_and_copy
    (out.with_name("other")).mkdir(exist_ok=True)
    (out.with_name("other") / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=message):
        preprocess(*prepare(raw, out))


def test_the_band_pass_has_the_transitions_that_it_states():
    taps = firwin(3301, [0.25, 50.25], pass_zero=False, window="hamming", fs=500)
    _, response = freqz(taps, worN=[0.5, 1.0, 10.0, 50.0, 0.0, 50.5, 60.0], fs=500)
    np.testing.assert_allclose(np.abs(response[:4]), 1, atol=0.005)
    assert (np.abs(response[4:]) < 0.005).all()
    # An impulse goes through the same filter: what comes out at the old samples is its response.
    impulse = np.zeros((1, 10_000), dtype=np.float32)
    impulse[0, 5000] = 1000.0
    out = filtered(from_array(impulse, 500.0, ["E1"]))
    assert out.shape == (1, 2000)
    assert int(np.abs(out).argmax()) == 1000
    np.testing.assert_allclose(out[0, 700:1000], out[0, 1300:1000:-1], atol=1e-3)
