"""The family eeg2025 on a simulated twin: examples, splits, presets, and baselines in the twin's band."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from hbn_twin import twin
from neuroarena import evaluate, load_benchmark
from neuroarena.decoders import load_decoder
from neuroarena.errors import InputError
from neuroarena.families.eeg2025 import FAMILY
from neuroarena.families.eeg2025.binding import FAST_PEOPLE, trials_of
from neuroarena.families.eeg2025.decoders import BandPowerRidge, DemographicsRidge
from neuroarena.families.eeg2025.hbn import HBN
from neuroarena.families.eeg2025.hbn.bdf_writer import write_bdf
from neuroarena.families.eeg2025.hbn.facts import CHANNELS, EXCLUDED, FAST_SUBJECT
from neuroarena.families.eeg2025.windows import cropped_starts, stimulus_starts

FACTORS = ("externalizing", "p-factor", "internalizing", "attention")


def load(task: str, definition: str = "as-scored", **options):
    return load_benchmark(f"eeg2025@{definition}/{task}", str(twin()), **options)


def test_the_definitions_have_the_tasks_of_the_paper_and_as_scored_comes_first():
    assert FAMILY.definitions == ("as-scored", "as-described", "zero-shot")
    assert FAMILY.tasks("as-scored") == FAMILY.tasks("as-described") == ("response-time", *FACTORS)
    assert FAMILY.tasks("zero-shot") == ("response-time",)
    assert FAMILY.splits("response-time", "as-scored") == ("validation", "sealed")
    for definition in FAMILY.definitions:
        for task in FAMILY.tasks(definition):
            manifest = FAMILY.manifest(task, definition)
            assert (manifest.metric, manifest.combiner, manifest.chance) == ("nrmse", "nrmse", 1.0)
            assert manifest.name == f"eeg2025/{task}"
            assert manifest.definition == definition
            assert manifest.direction == "lower"
            assert manifest.state == "stateless"


@pytest.mark.parametrize(
    ("task", "definition", "shape"),
    [
        ("response-time", "as-scored", (129, 200)),
        ("externalizing", "as-scored", (129, 200)),
        ("response-time", "as-described", (129, 200)),
        ("externalizing", "as-described", (129, 90_000)),
        ("response-time", "zero-shot", (258, 200)),
    ],
)
def test_windows_have_the_shape_that_the_definition_gives(task, definition, shape):
    window = FAMILY.window(task, definition)
    assert (len(window.channels), window.n_samples) == shape
    assert window.rate_hz == 100


def test_a_trial_is_one_window_and_every_answered_trial_counts_once():
    benchmark = load("response-time")
    data = HBN(twin())
    runs = data.recordings[data.recordings["task"] == "contrastChangeDetection"]
    expected = []
    for key in runs["key"]:
        trials = trials_of(data, key)
        starts = stimulus_starts(trials["stimulus_onset"].to_numpy())
        expected += list(zip([key] * len(trials), starts, trials["rt_from_stimulus"], strict=True))
    found = benchmark.examples[["recording", "start", "target"]].itertuples(index=False, name=None)
    assert sorted(found) == sorted(expected)
    assert len(expected) > 300
    assert (benchmark.examples["stop"] - benchmark.examples["start"] == 200).all()
    assert (benchmark.examples["unit"] == benchmark.examples["subject"]).all()


def test_every_crop_of_a_contrast_change_recording_repeats_the_factor_of_its_person():
    benchmark = load("p-factor")
    data = HBN(twin())
    people = data.participants("R5").set_index("participant_id")
    for key, rows in benchmark.examples[benchmark.examples["release"] == "R5"].groupby("recording"):
        assert "contrastChangeDetection" in key
        assert rows["start"].tolist() == cropped_starts(data.recording(key).n_samples).tolist()
        assert set(rows["target"]) == {people.at[rows["subject"].iloc[0], "p_factor"]}
    unknown = people.index[people["p_factor"].isna()]
    assert len(unknown) == 1
    assert unknown[0] not in set(benchmark.examples["subject"])


@pytest.mark.parametrize("definition", ["as-scored", "as-described", "zero-shot"])
def test_splits_are_by_release_and_leave_nine_people_out_of_training_only(definition):
    benchmark = load("response-time", definition)
    release = benchmark.examples.set_index("id")["release"]
    subject = benchmark.examples.set_index("id")["subject"]
    for name, judged in (("validation", "R5"), ("sealed", "R12")):
        (fold,) = benchmark.split(name).folds
        assert fold.name == judged
        assert set(release[list(fold.test)]) == {judged}
        assert set(release[list(fold.train)]) == {"R1"}
        assert not set(subject[list(fold.train)]) & set(EXCLUDED)
        held_out = {"R5"} if name == "sealed" and definition != "zero-shot" else set()
        assert set(release[list(fold.validation)]) == held_out
        assert set(fold.test) == set(release.index[release == judged])
    left_out = benchmark.examples["subject"].isin(EXCLUDED)
    assert left_out.any()
    assert set(benchmark.examples.loc[left_out, "release"]) == {"R1"}


def test_one_example_a_person_of_equal_length_with_complete_data_and_enough_eeg():
    benchmark = load("externalizing", "as-described")
    examples, data = benchmark.examples, HBN(twin())
    assert not examples["subject"].duplicated().any()
    assert examples[["age", "sex", "ehq_total"]].notna().all().all()
    assert benchmark.known == ("age", "sex", "ehq_total")
    assert "externalizing" not in benchmark.known
    assert len(examples) == 3 * 12  # the three with gaps in each release do not count
    assert (examples["stop"] == examples["stop"].iloc[0]).all()
    minutes = data.minutes("R5")
    counted = set(examples.loc[examples["release"] == "R5", "subject"])
    assert (minutes[sorted(counted)] >= benchmark.options["minimum_minutes"]).all()
    assert minutes[[name for name in minutes.index if name not in counted]].min() < minutes.median() / 2
    assert any("minutes of EEG count, not with 15, because simulated" in note for note in benchmark.notes)
    assert benchmark.manifest.hash != FAMILY.manifest("externalizing", "as-described").hash
    assert benchmark.manifest.notes[-1] in benchmark.notes


def test_fifteen_minutes_are_asked_unless_the_twin_or_the_caller_says_otherwise():
    with pytest.raises(InputError, match="no examples"):
        _ = load("externalizing", "as-described", minimum_minutes=15).examples
    fewer = load("externalizing", "as-described", minimum_minutes=0.5)
    assert len(fewer.examples) > 36
    assert fewer.examples["stop"].iloc[0] == 15 * 200


def test_a_person_is_pieces_of_all_their_tasks_laid_end_to_end():
    benchmark = load("externalizing", "as-described")
    key = benchmark.examples["recording"].iloc[0]
    recording, data = benchmark.recording(key), HBN(twin())
    source = recording._source
    assert {each.name.split("task-")[1].split("_")[0] for each in source.recordings} > {
        "RestingState",
        "ThePresent",
    }
    whole = recording.read(0, recording.n_samples)
    for piece in (0, 7, len(source.starts) - 1):
        own = source.recordings[source.owners[piece]]
        start = source.starts[piece]
        np.testing.assert_array_equal(whole[:, piece * 200 : (piece + 1) * 200], own.read(start, start + 200))
    np.testing.assert_array_equal(recording.read(150, 450, ["Cz", "E3"]), whole[[128, 2], 150:450])
    assert len(set(source.owners)) > 8
    assert data.simulated
    copy = pickle.loads(pickle.dumps(benchmark))
    assert copy.recording(key).fingerprint() == recording.fingerprint()


def test_without_contrast_change_data_in_training_inputs_are_before_the_trial_and_another_task():
    benchmark, data = load("response-time", "zero-shot"), HBN(twin())
    trained = benchmark.examples[benchmark.examples["release"] == "R1"]
    assert all(key.endswith("_surroundSupp") for key in trained["recording"])
    assert trained.groupby("subject")["target"].nunique().eq(1).all()
    judged = benchmark.examples[benchmark.examples["release"] == "R5"]
    row = judged.iloc[0]
    recording = benchmark.recording(row["recording"])
    assert len(recording.channels) == 258
    assert recording.channels["name"].tolist()[::129] == ["E1 pre-trial", "E1 surround"]
    contrast = row["recording"].removesuffix("+surroundSupp")
    trials = trials_of(data, contrast)
    start = round(trials["trial_start_onset"].iloc[0] * 100)
    window = recording.read(0, 200)
    np.testing.assert_array_equal(window[:129], data.recording(contrast).read(start - 200, start))
    assert row["target"] == pytest.approx(trials["rt_from_stimulus"].iloc[0])
    own = trained[trained["subject"] == trained["subject"].iloc[0]]
    stimulus = data.events(own["recording"].iloc[0] + "_run-1").query("value == 'stim_ON'")["onset_s"].iloc[0]
    other = benchmark.recording(own["recording"].iloc[0]).read(0, 200)
    surround = data.recording(own["recording"].iloc[0] + "_run-1")
    first = round(stimulus * 100)
    np.testing.assert_array_equal(other[:129], surround.read(first - 200, first))
    np.testing.assert_array_equal(other[129:], surround.read(first + 50, first + 250))


def test_demographics_are_given_as_described_and_not_as_scored():
    assert load("response-time").known == ()
    assert load("response-time", "as-described").known == ("age", "sex", "ehq_total")


def test_the_reference_is_left_out_on_request_but_not_as_scored():
    described = load("response-time", "as-described", channels=128)
    recording = described.recording(described.examples["recording"].iloc[0])
    assert recording.channels["name"].tolist() == [f"E{number}" for number in range(1, 129)]
    assert any("128 channels" in note for note in described.manifest.notes)
    person = load("attention", "as-described", channels=128)
    assert len(person.recording(person.examples["recording"].iloc[0]).channels) == 128


@pytest.mark.parametrize(
    ("definition", "options", "message"),
    [
        ("as-scored", {"channels": 128}, "the option channels must be 129, as in the published scorer"),
        ("as-described", {"channels": 64}, "the option channels is 64; expected 129 or 128"),
        ("as-described", {"channels": "130"}, 'the option channels is "130"; expected 129 or 128'),
        (
            "as-described",
            {"minimum_minutes": 0},
            "minimum_minutes is 0; expected a number, above 0 and below 1000",
        ),
        ("as-scored", {"fast": "perhaps"}, 'the option fast is "perhaps"; expected yes or no'),
        ("as-scored", {"releases": ["R9"]}, "has no release R9"),
        ("as-scored", {"releases": ["R1"]}, "has neither R5 nor R12"),
    ],
)
def test_options_out_of_range_are_refused_by_name(definition, options, message):
    with pytest.raises(InputError, match=message):
        load("externalizing", definition, **options)


def test_real_data_that_lack_releases_are_refused_unless_releases_are_named(tmp_path: Path):
    for name in ("R1_L100_bdf", "R5_L100_bdf"):
        (tmp_path / name).symlink_to(twin() / name)
    with pytest.raises(InputError, match="needs the releases R2, R3, R4, R6"):
        FAMILY.load("response-time", "as-scored", str(tmp_path))
    named = load_benchmark("eeg2025@as-scored/response-time", str(tmp_path), releases=["R1", "R5"])
    assert named.splits == ("validation",)
    assert not named.simulated
    assert "Restricted to the releases R1, R5." in named.notes


def test_raw_recordings_are_refused_with_the_command_that_makes_them_fit(tmp_path: Path):
    source, target = twin() / "R5_L100_bdf", tmp_path / "R5"
    path = sorted(source.glob("sub-*/eeg/*contrast*run-1_eeg.bdf"))[0]
    shutil.copytree(path.parent, target / path.relative_to(source).parent)
    shutil.copy(source / "participants.tsv", target)
    write_bdf(target / path.relative_to(source), CHANNELS, np.zeros((129, 5000)), 500)
    benchmark = load_benchmark("eeg2025@as-scored/response-time", str(tmp_path), releases=["R5"])
    with pytest.raises(InputError, match=r"has 500 Hz.*neuroarena data preprocess hbn RAW OUT"):
        _ = benchmark.examples


def test_a_person_in_two_releases_is_refused_by_name(tmp_path: Path):
    for release in ("R1", "R5"):
        (tmp_path / release).mkdir()
        lines = (twin() / "R5_L100_bdf" / "participants.tsv").read_text().replace("\tR5\t", f"\t{release}\t")
        (tmp_path / release / "participants.tsv").write_text(lines)
        (tmp_path / release / f"sub-{FAST_SUBJECT}").symlink_to(
            twin() / "R5_L100_bdf" / f"sub-{FAST_SUBJECT}"
        )
    benchmark = load_benchmark("eeg2025@as-scored/response-time", str(tmp_path), releases=["R1", "R5"])
    with pytest.raises(InputError, match=f"{FAST_SUBJECT} is in two releases, R1, R5"):
        _ = benchmark.examples


def test_a_quick_look_judges_four_people_and_says_so():
    benchmark = load("externalizing", fast=True)
    (fold,) = benchmark.split("validation").folds
    people = benchmark.examples.set_index("id").loc[list(fold.test), "subject"].unique()
    assert len(people) == FAST_PEOPLE
    assert FAST_SUBJECT in people
    assert any("Not a score of the benchmark" in note for note in benchmark.manifest.notes)


@pytest.mark.parametrize("task", ["response-time", "externalizing"])
def test_the_ridge_finds_what_was_planted_within_the_band_that_the_twin_states(task):
    low, high = HBN(twin()).card["ridge_band"]["as-scored"][task]["R5"]
    result = evaluate(BandPowerRidge(), load(task), "validation")
    assert high <= 0.95
    assert low <= result.record.score <= high
    floor = evaluate(load_decoder("dummy"), load(task), "validation")
    assert floor.record.score >= 1.0 - 1e-12


@pytest.mark.drill
@pytest.mark.parametrize("definition", ["as-scored", "as-described"])
def test_every_task_is_found_on_both_splits_within_the_band(definition):
    # Where there is one example a person, the twin promises a band from fourteen people to learn from on.
    root = twin() if definition == "as-scored" else twin(people=14)
    bands = HBN(root).card["ridge_band"][definition]
    for task in FAMILY.tasks(definition)[definition == "as-described" :]:
        for split, release in (("validation", "R5"), ("sealed", "R12")):
            low, high = bands[task][release]
            benchmark = FAMILY.load(task, definition, str(root))
            score = evaluate(BandPowerRidge(), benchmark, split).record.score
            assert low <= score <= high, (task, split)


@pytest.mark.drill
def test_at_strength_zero_there_is_nothing_to_find():
    root = str(twin(0.0))
    assert HBN(root).card["ridge_band"] is None
    for task in ("response-time", "externalizing"):
        result = evaluate(BandPowerRidge(), FAMILY.load(task, "as-scored", root), "validation")
        assert result.record.score > 0.97


def test_demographics_alone_are_asked_only_where_they_are_given():
    result = evaluate(DemographicsRidge(), load("internalizing", "as-described"), "validation")
    assert result.record.status == "complete"
    assert 0.5 < result.record.score < 1.5
    refused = evaluate(DemographicsRidge(), load("internalizing"), "validation")
    assert refused.record.status == "failed"
    assert 'needs "age" of every person' in refused.record.cells[0].error
