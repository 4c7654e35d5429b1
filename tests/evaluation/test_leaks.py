"""The leak check: every planted leak is found, and nothing is in a clean twin."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from neuroarena import load_benchmark, load_dataset
from neuroarena.benchmarks import Benchmark, list_benchmarks
from neuroarena.cli.app import app
from neuroarena.errors import InputError
from neuroarena.evaluation import leak_guessing as guessing
from neuroarena.evaluation.leaks import LeakReport, check_leaks
from neuroarena.families.bci import examples as bci_examples
from neuroarena.families.bci import leave_one_subject_out
from neuroarena.families.bci.ssvep_exo.reader import SsvepExo
from neuroarena.recordings import from_array
from shared_data import SHARED
from stream_toy import stream_benchmark
from toy import WINDOW, toy_benchmark, toy_manifest, toy_signal
from track_twins import bound, twin

REAL = SHARED / "data" / "real" / "ssvep_exo"
# Task, what is planted, and what must be found: the kinds, a word of it, and whether decoders are kept from it.
PLANTED = [
    ("bci/commands", "channel", "channel", "EX1", False),
    ("bci/commands", "length", "length", "duration_s", True),
    ("bci/commands", "order", "order", "place in the recording", True),
    ("img/things-eeg2", "channel", "channel", "Cz: steps", False),
    ("img/things-eeg2", "order", "order", "recording", True),
    ("sleep/muse", "channel", "channel", "TP10", False),
    ("sleep/muse", "length", "length", "length of the example", False),
    ("emg/emg2qwerty", "order", "text", "characters of test texts", False),
]
SLOWLY = [
    ("bci/ssvep-exo", "channel", "channel", "LBL", False),
    ("bci/ssvep-exo", "order", "order", "place in the recording", True),
    ("sleep/muse", "order", "order", "among all", True),
    ("emg/emg2qwerty", "channel", "channel", "R15", False),
    ("emg/emg2qwerty", "length", "length", "length of the", True),
    ("sleep/sleep-edf", "channel", "channel", "EEG Pz-Oz: steps", False),
    ("sleep/sleep-edf", "length", "length", "length of the example", False),
    ("sleep/sleep-edf", "order", "order", "among all", True),
]
TRACKS = [
    "bci/commands",
    "bci/ssvep-exo",
    "img/things-eeg2",
    "sleep/sleep-edf",
    "sleep/muse",
    "emg/emg2qwerty",
]


def kinds(report: LeakReport) -> list[str]:
    return [finding.kind for finding in report.findings]


def hidden_kinds(report: LeakReport) -> list[str]:
    return [probe.kind for probe in report.noted if probe.hidden]


@pytest.mark.parametrize(
    ("task", "planted", "kind", "word", "hidden"),
    [*PLANTED, *(pytest.param(*case, marks=pytest.mark.drill) for case in SLOWLY)],
    ids=lambda value: str(value).replace("/", "-") if isinstance(value, str) else None,
)
def test_a_planted_leak_is_found_and_named(task, planted, kind, word, hidden):
    report = check_leaks(bound(task, plant_leak=planted))
    (found,) = [probe for probe in report.probes if probe.found and probe.kind == kind and word in probe.what]
    assert found.hidden is hidden
    # What decoders never see is said, and is no leak.
    assert (found in report.noted, found in report.findings) == (hidden, not hidden)
    assert found.score > found.chance + 0.5
    assert found.p in (None, 1 / (guessing.PERMUTATIONS + 1))
    # Nothing else is said to be one, but that recordings sorted by their answer grow longer in Muse.
    others = ["length"] if (task, planted) == ("sleep/muse", "order") else []
    assert {probe.kind for probe in report.probes if probe.found and not probe.declared} <= {kind, *others}


@pytest.mark.parametrize("task", [task for task in TRACKS if task != "sleep/sleep-edf"])
def test_nothing_is_found_in_a_clean_twin(task):
    benchmark = bound(task)
    for split in benchmark.splits:
        report = check_leaks(benchmark, split)
        assert report.findings == ()
        assert {"channel", "duplicates"} <= {probe.kind for probe in report.probes}


@pytest.mark.drill
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("task", TRACKS)
def test_nothing_is_found_in_clean_twins_of_other_seeds(task, seed):
    assert check_leaks(bound(task, seed=seed)).findings == ()


@pytest.mark.drill
@pytest.mark.parametrize(
    "task",
    [
        "eeg2025/response-time",
        "eeg2025/externalizing",
        "eeg2025@as-described/externalizing",
        "eeg2025@zero-shot/response-time",
    ],
)
def test_nothing_is_found_in_the_twin_of_hbn_whose_reference_is_flat(task):
    assert check_leaks(bound(task)).findings == ()


@pytest.mark.drill
@pytest.mark.parametrize("task", [name for name in list_benchmarks() if name.startswith("neuroprobe/")])
def test_nothing_is_found_in_neuroprobe_but_what_its_questions_are_about(task):
    benchmark = bound(task)
    for split in benchmark.splits:
        report = check_leaks(benchmark, split)
        assert report.findings == ()
        # That a session or a person is on both sides is declared by the splits, and said.
        found = {probe.kind for probe in report.probes if probe.found and not probe.declared}
        assert found <= {"order", "length"}


@pytest.mark.drill
@pytest.mark.parametrize("task", ["transfer/bci", "transfer/emg"])
def test_nothing_is_found_in_benchmarks_of_transfer(task):
    assert check_leaks(bound(task)).findings == ()


def test_benchmarks_that_show_stimuli_to_models_say_why_there_is_no_split_to_check():
    (name, *_) = list_benchmarks(judges="models")
    said = CliRunner().invoke(app, ["check", "leaks", name])
    assert isinstance(said.exception, InputError)
    assert "only benchmarks of recordings are checked this way" in str(said.exception)


@pytest.mark.drill
def test_when_something_is_asked_is_part_of_the_question_in_neuroprobe_and_is_said():
    report = check_leaks(bound("neuroprobe/word_index"))
    assert report.findings == ()
    known = [probe for probe in report.probes if probe.by_design]
    assert {probe.kind for probe in known} == {"order", "length"}
    assert all(probe.hidden and "film" in probe.why for probe in known)


@pytest.mark.parametrize("split", ["within", "cross"])
def test_nothing_is_found_in_the_toy(split):
    assert check_leaks(toy_benchmark(), split).findings == ()
    assert check_leaks(toy_benchmark(strength=0.0), split).findings == ()


def _toy_with(change, table=lambda examples: examples) -> Benchmark:
    """The toy with other signals (session -> array (4, time)) or another table."""
    clean = toy_benchmark()

    def recording(key: str):
        return from_array(change(key), 100.0, ["A1", "A2", "A3", "B1"], name=f"toy {key}")

    return dataclasses.replace(
        clean, open_recording=recording, make_examples=lambda: table(clean.make_examples())
    )


def test_a_recording_that_is_there_twice_is_found_only_where_it_is_in_training_and_test():
    def signal(key):
        return toy_signal("1_1" if key == "1_0" else key, 0.5)[0]

    report = check_leaks(_toy_with(signal), "cross")
    assert kinds(report) == ["duplicates"]
    assert report.findings[0].score == 0.5
    assert "1_1 in 1_0" in report.findings[0].what or "1_0 in 1_1" in report.findings[0].what
    apart = _toy_with(lambda key: toy_signal("2_0" if key == "1_0" else key, 0.5)[0])
    assert check_leaks(apart, "cross").findings == ()


def test_a_window_of_one_recording_that_is_in_both_parts_under_two_ids_is_found():
    def table(examples: pd.DataFrame) -> pd.DataFrame:
        first, second = examples.index[examples["session"] == "1_0"][[0, 40]]
        examples.loc[second, ["start", "stop"]] = examples.loc[first, ["start", "stop"]].to_numpy()
        return examples

    assert kinds(check_leaks(_toy_with(lambda key: toy_signal(key, 0.5)[0], table), "within")) == [
        "duplicates",
        "samples",
    ]


@pytest.mark.parametrize("level", [0.0, 7.5])
def test_a_flat_channel_is_no_leak(level):
    def signal(key):
        made = toy_signal(key, 0.5)[0].copy()
        made[3] = level
        return made

    assert check_leaks(_toy_with(signal), "cross").findings == ()


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_a_channel_that_holds_the_class_is_named(noise):
    def signal(key):
        made, starts, targets = toy_signal(key, 0.0)
        made = made.copy()
        made[3] *= noise
        for start, target in zip(starts, targets, strict=True):
            made[3, start : start + WINDOW] += 3.0 * target
        return made

    report = check_leaks(_toy_with(signal), "cross")
    assert {*kinds(report)} == {"channel"}
    assert all(finding.what.startswith("B1") and not finding.hidden for finding in report.findings)


def test_a_trigger_channel_that_counts_trials_is_steps():
    def signal(key):
        made, starts, _ = toy_signal(key, 0.5)
        made = made.copy()
        made[3] = 0.0
        for number, start in enumerate(starts):
            made[3, start + 10 : start + 20] = number % 5 + 1
        return made

    report = check_leaks(_toy_with(signal), "cross")
    assert [finding.what.partition(":")[0] for finding in report.findings] == ["B1"]


def test_classes_that_follow_a_period_are_found_across_recordings_of_other_lengths():
    def table(examples: pd.DataFrame) -> pd.DataFrame:
        examples["target"] = examples.groupby("session").cumcount().to_numpy() % 2
        return examples.drop(index=examples.index[:8]).reset_index(drop=True)

    report = check_leaks(_toy_with(lambda key: toy_signal(key, 0.0)[0], table), "cross")
    assert (kinds(report), hidden_kinds(report)) == ([], ["order"])
    assert [probe.score for probe in report.noted if probe.hidden] == [1.0]


def test_windows_whose_length_tells_the_class_are_found():
    def table(examples: pd.DataFrame) -> pd.DataFrame:
        return examples.assign(stop=examples["stop"] + 5 * examples["target"])

    report = check_leaks(_toy_with(lambda key: toy_signal(key, 0.0)[0], table), "cross")
    assert (kinds(report), hidden_kinds(report)) == ([], ["length"])
    assert "length of the window" in next(probe.what for probe in report.noted if probe.hidden)


def test_numbers_that_grow_through_a_session_are_found():
    def table(examples: pd.DataFrame) -> pd.DataFrame:
        drawn = np.random.default_rng(3).standard_normal(len(examples))
        return examples.assign(target=examples.groupby("session").cumcount() / 10 + drawn)

    changed = toy_manifest(prediction="number", metric="mae", classes=())
    benchmark = dataclasses.replace(_toy_with(lambda key: toy_signal(key, 0.0)[0], table), manifest=changed)
    assert hidden_kinds(check_leaks(benchmark, "cross")) == ["order"]


def test_a_stream_that_ends_when_it_is_answered_is_found_and_said_to_be_seen():
    report = check_leaks(stream_benchmark())
    (length,) = [finding for finding in report.findings if finding.kind == "length"]
    assert not length.hidden
    assert "can be recognised" in length.why


@pytest.mark.skipif(not REAL.is_dir(), reason="the real recordings are not here")
@pytest.mark.drill
def test_the_fixed_order_of_the_real_flicker_recordings_is_found():
    ran = CliRunner().invoke(
        app,
        [
            "check",
            "leaks",
            "bci/ssvep-exo",
            "--data",
            str(REAL),
            "--split",
            "leave-one-subject-out",
            "--json",
        ],
    )
    assert ran.exit_code == 0, ran.stdout
    (report,) = json.loads(ran.stdout)
    # Decoders never see the order, so it is a note.
    assert report["leaks"] == []
    (found,) = [probe for probe in report["noted"] if probe["hidden"]]
    assert (found["kind"], found["p"]) == ("order", 0.001)
    assert found["score"] > 0.9


@pytest.mark.skipif(not REAL.is_dir(), reason="the real recordings are not here")
def test_the_recording_that_two_people_share_is_found_when_nobody_leaves_it_out():
    data = SsvepExo(REAL)
    listed = pd.DataFrame(
        {"subject": ["03", "05", "07"], "recording": ["2012.07.11-15.33.08", "", "2012.07.11-15.33.08"]}
    )
    listed.loc[1, "recording"] = str(data.subject("05").recordings[0])
    clean = bound("bci/ssvep-exo")
    benchmark = dataclasses.replace(
        clean,
        make_examples=lambda: bci_examples.flicker_examples(data, listed, clean.manifest.classes),
        split_rules={"leave-one-subject-out": leave_one_subject_out},
        open_recording=lambda key: bci_examples.open_flicker_recording(data, key),
    )
    (found,) = [each for each in check_leaks(benchmark).findings if each.kind == "duplicates"]
    assert found.score == pytest.approx(2 / 3)


def test_the_command_says_what_was_looked_for_and_leaves_with_one_when_something_is_found():
    clean = CliRunner().invoke(app, ["check", "leaks", "bci/commands", "--data", str(twin("bci_commands"))])
    assert clean.exit_code == 0
    assert "no leak found" in clean.stdout
    assert "(simulated)" in clean.stdout
    leaky = twin("bci_commands", plant_leak="channel")
    found = CliRunner().invoke(app, ["check", "leaks", "bci/commands", "--data", str(leaky)])
    assert found.exit_code == 1
    assert "LEAK   channel     EX1" in found.stdout
    assert "SEEN BY DECODERS" in found.stdout


def test_the_same_seed_gives_the_same_report():
    benchmark = bound("bci/commands")
    assert check_leaks(benchmark, seed=4) == check_leaks(benchmark, seed=4)


# Fixed seeds: among many, one in some hundreds is found by luck, as a p of 0.001 says.
@pytest.mark.parametrize("seed", range(12))
def test_classes_drawn_at_random_are_told_by_no_place(seed):
    n_classes = 2 + seed % 4
    rng = np.random.default_rng(seed)
    recordings = np.repeat(np.arange(6), 20)
    targets = guessing.class_targets(rng.integers(n_classes, size=120))
    place = np.tile(np.arange(20.0), 6)
    folds = [(np.flatnonzero(recordings < 3), np.flatnonzero(recordings >= 3))]
    setting = guessing.AcrossFolds(targets, recordings, folds)
    guess = guessing.best_guess({"place": place, "parity": place % 2}, setting, rng)
    assert guess is not None
    assert not guess.found


def test_the_p_value_counts_the_score_itself_and_stops_early_when_chance_does_as_well():
    calls = []

    def chance():
        calls.append(1)
        return 0.5

    assert guessing.permutation_p(1.0, chance) == 0.001
    assert len(calls) == guessing.PERMUTATIONS
    calls.clear()
    assert guessing.permutation_p(0.4, chance) == 1.0
    assert len(calls) == 1


def test_too_few_recordings_are_said_to_prove_nothing(tmp_path):
    load_dataset("muse_sleep").simulate(
        tmp_path / "twin", people=5, recordings=1, longest=11, plant_leak="length"
    )
    report = check_leaks(load_benchmark("sleep/muse", str(tmp_path / "twin")))
    assert not report.findings
    assert "5 recordings with one target each are too few" in report.notes[0]
    assert report.to_dict()["notes"] == list(report.notes)
