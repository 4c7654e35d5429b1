"""The set of mental commands: its twin, and its reader on files of the twin and of other software."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mne
import mne_bids
import numpy as np
import pandas as pd
import pytest

from neuroarena.errors import InputError
from neuroarena.families.bci.bci_commands import DATASET, BciCommands, twin_signal
from neuroarena.families.bci.bci_commands.latents import balanced_accuracy, draw_latents, separation
from neuroarena.families.bci.bci_commands.twin import ELECTRODES
from neuroarena.fingerprint import file_digest

SMALL: dict[str, Any] = {"subjects": 1, "sessions": 2, "runs": 2, "trials": 6, "channels": 6, "seed": 3}


@pytest.fixture(scope="module")
def commands_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The smallest twin there is: read it, do not change it."""
    root = tmp_path_factory.mktemp("commands") / "twin"
    DATASET.simulate(root, **SMALL)
    return root


@pytest.fixture
def damaged(commands_root: Path, tmp_path: Path) -> Path:
    shutil.copytree(commands_root, tmp_path / "copy")
    return tmp_path / "copy"


def signal_file(root: Path) -> Path:
    return sorted(root.rglob("*_eeg.edf"))[0]


# --- the twin ----------------------------------------------------------------------------------------------


def test_a_twin_is_good_and_says_that_it_is_simulated(commands_root: Path) -> None:
    assert DATASET.verify(commands_root) == []
    data = BciCommands(commands_root)
    assert data.simulated
    assert data.card is not None
    assert data.card["ideal_balanced_accuracy"] == pytest.approx(0.85)
    assert data.card["options"]["seed"] == 3


def test_the_same_seed_gives_the_same_files_and_another_seed_others(
    tmp_path: Path, commands_root: Path
) -> None:
    DATASET.simulate(tmp_path / "again", **SMALL)
    DATASET.simulate(tmp_path / "other", **{**SMALL, "seed": 4})
    file = signal_file(commands_root).relative_to(commands_root)
    assert file_digest(tmp_path / "again" / file) == file_digest(commands_root / file)
    assert file_digest(tmp_path / "other" / file) != file_digest(commands_root / file)


def test_a_current_twin_is_left_as_it_is(tmp_path: Path) -> None:
    DATASET.simulate(tmp_path / "twin", **SMALL)
    before = signal_file(tmp_path / "twin").stat().st_mtime_ns
    DATASET.simulate(tmp_path / "twin", **SMALL)
    assert signal_file(tmp_path / "twin").stat().st_mtime_ns == before


def test_both_formats_hold_the_same_trials_and_signals(tmp_path: Path, commands_root: Path) -> None:
    DATASET.simulate(tmp_path / "vhdr", **SMALL, format="brainvision")
    assert DATASET.verify(tmp_path / "vhdr") == []
    one, two = BciCommands(commands_root), BciCommands(tmp_path / "vhdr")
    for first, second in zip(one.runs()["path"], two.runs()["path"], strict=True):
        pd.testing.assert_frame_equal(one.trials(first), two.trials(second))
        a, b = one.recording(first), two.recording(second)
        # EDF holds 16 bits of its own range, BrainVision steps of 0.05 microvolt.
        np.testing.assert_allclose(a.read(0, 3000), b.read(0, 3000), atol=0.06)


def test_other_software_reads_the_twin_as_we_do(commands_root: Path) -> None:
    path = signal_file(commands_root)
    raw = mne_bids.read_raw_bids(mne_bids.get_bids_path_from_fname(path), verbose="error")
    data = BciCommands(commands_root)
    np.testing.assert_allclose(
        data.recording(path).read(0, 2000), raw.get_data(stop=2000) * 1e6, rtol=1e-4, atol=1e-3
    )
    cues = [text for text in raw.annotations.description if text in ("mi", "sub", "word")]
    names = {"mi": "motor-imagery", "sub": "mental-math", "word": "word-association"}
    assert data.trials(path)["label"].tolist() == [names[cue] for cue in cues]


def test_every_class_is_equally_frequent_in_every_run(commands_root: Path) -> None:
    data = BciCommands(commands_root)
    for path in data.runs()["path"]:
        assert data.trials(path)["label"].value_counts().tolist() == [2, 2, 2]


def test_the_stated_ideal_is_what_a_draw_of_the_planted_numbers_gives() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 200_000)
    d = separation(0.85, 1.0)
    z = draw_latents(labels, d, 3, rng)
    assert np.mean(z.argmax(axis=1) == labels) == pytest.approx(0.85, abs=0.004)
    offsets = np.array([0.9, -0.4, 0.0])
    hits = (z + offsets).argmax(axis=1) == labels
    drawn = np.mean([hits[labels == command].mean() for command in range(3)])
    assert drawn == pytest.approx(balanced_accuracy(d, offsets.tolist()), abs=0.004)


def test_the_power_of_a_rhythm_over_the_judged_window_is_what_was_planted() -> None:
    rng = np.random.default_rng(1)
    cues, latents = np.array([500, 1800]), np.array([[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]])
    offsets = np.array([0.3, 0.0, -0.2])
    mixing, others = np.eye(6)[:, :3], np.ones((6, 5))
    with_rhythms = twin_signal.run_signal(
        mixing, others, 3000, cues, latents, offsets, 100.0, np.random.default_rng(1)
    )
    rhythms = (with_rhythms - twin_signal._background(others, 3000, 100.0, rng))[:3]
    for cue, latent in zip(cues, latents, strict=True):
        power = np.sqrt((rhythms[:, cue : cue + 400] ** 2).mean(axis=1)) / twin_signal.RHYTHM_UV
        np.testing.assert_allclose(np.log(power) / twin_signal.LOG_AMPLITUDE, latent + offsets, atol=1e-6)


def test_the_skull_blurs_every_source_over_the_whole_cap_and_the_rhythms_overlap_in_frequency() -> None:
    cap = twin_signal.make_cap(ELECTRODES, 2, 1.0, np.random.default_rng(0))
    assert cap.patterns.shape == (41, 3)
    # Each electrode hears every rhythm; nearby electrodes hear nearly the same.
    assert (cap.patterns.min(axis=1) > 0.03 * cap.patterns.max(axis=1)).all()
    near, far = (cap.patterns[ELECTRODES.index(name)] for name in ("C1", "PO8"))
    here = cap.patterns[ELECTRODES.index("C3")]
    assert np.abs(here - near).max() < 0.3 < np.abs(here - far).max()
    spans = sorted(twin_signal.BANDS_HZ)
    assert all(later[0] < earlier[1] for earlier, later in itertools.pairwise(spans))


def test_blinks_reach_the_forehead_most_and_what_idles_waxes_and_wanes() -> None:
    places = twin_signal.electrode_places(["AF3", "Pz", "PO8"])
    assert places.tolist() == [[-0.4, 0.75], [0.0, -0.5], [0.8, -0.75]]
    cap = twin_signal.make_cap(["AF3", "Pz", "PO8"], 2, 1.0, np.random.default_rng(0))
    eyes = cap.others[:, len(twin_signal.IDLE_HOMES)]
    assert eyes.argmax() == 0
    waxing = twin_signal._waxing(60_000, 100.0, np.random.default_rng(0))
    assert np.log(waxing).std() > 0.3


def test_strength_zero_states_chance_and_no_drift_states_the_ideal_for_later_sessions(tmp_path: Path) -> None:
    card = DATASET.simulate(tmp_path / "nothing", **SMALL, strength=0.0)
    assert card["ideal_balanced_accuracy"] == pytest.approx(1 / 3)
    card = DATASET.simulate(tmp_path / "steady", **SMALL, drift=0.0)
    assert card["frozen_rule_balanced_accuracy"] == pytest.approx(card["ideal_balanced_accuracy"])


def test_drift_costs_the_rule_that_is_left_as_it_is(tmp_path: Path) -> None:
    card = DATASET.simulate(tmp_path / "drifting", **{**SMALL, "subjects": 3, "drift": 3.0})
    assert card["ideal_balanced_accuracy"] == pytest.approx(0.85)
    assert card["frozen_rule_balanced_accuracy"] < 0.80


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("subjects", 0, "from 1 to 10"),
        ("sessions", 1, "from 2 to 14"),
        ("trials", 7, "a multiple of three"),
        ("channels", 64, "from 6 to 41"),
        ("rate_hz", 50, "from 100 to 500"),
        ("ideal", 0.2, "from 0.333333 to 0.999"),
        ("strength", -1.0, "from 0 to 10"),
        ("drift", "much", "must be a number"),
        ("format", "mat", "one of edf, brainvision"),
        ("plant_leak", "label", "one of channel, length, order"),
    ],
)
def test_an_option_out_of_range_is_refused_and_nothing_is_written(
    tmp_path: Path, option: str, value: object, expected: str
) -> None:
    with pytest.raises(InputError) as refusal:
        DATASET.simulate(tmp_path / "twin", **{**SMALL, option: value})
    assert expected in str(refusal.value)
    assert option.replace("_", "-") in str(refusal.value)
    assert not (tmp_path / "twin").exists()


# --- planted leaks -----------------------------------------------------------------------------------------


def cue_table(root: Path) -> pd.DataFrame:
    data = BciCommands(root)
    return pd.concat([data.trials(path).assign(path=path) for path in data.runs()["path"]], ignore_index=True)


def test_the_planted_channel_is_typed_eeg_and_tells_the_label(tmp_path: Path, commands_root: Path) -> None:
    DATASET.simulate(tmp_path / "leak", **SMALL, plant_leak="channel")
    data = BciCommands(tmp_path / "leak")
    recording = data.recording(signal_file(tmp_path / "leak"))
    assert recording.channels["name"].iloc[-1] == "EX1"
    assert recording.channels["kind"].iloc[-1] == "eeg"
    trials = data.trials(signal_file(tmp_path / "leak"))
    level = recording.windows(trials["start"], 400, ["EX1"])[:, 0].mean(axis=1)
    order = ["motor-imagery", "mental-math", "word-association"]
    np.testing.assert_array_equal(np.round(level / 10), [order.index(label) for label in trials["label"]])
    assert (
        "EX1"
        not in BciCommands(commands_root).recording(signal_file(commands_root)).channels["name"].tolist()
    )


def test_a_label_channel_that_is_typed_as_a_marker_is_not_read(tmp_path: Path) -> None:
    DATASET.simulate(tmp_path / "leak", **SMALL, plant_leak="channel")
    path = signal_file(tmp_path / "leak")
    table = path.with_name(path.name.replace("_eeg.edf", "_channels.tsv"))
    table.write_text(table.read_text().replace("EX1\tEEG", "EX1\tMISC"))
    assert "EX1" not in BciCommands(tmp_path / "leak").recording(path).channels["name"].tolist()


def test_the_planted_durations_tell_the_label_and_the_clean_ones_do_not(
    tmp_path: Path, commands_root: Path
) -> None:
    DATASET.simulate(tmp_path / "leak", **SMALL, plant_leak="length")
    told = cue_table(tmp_path / "leak").groupby("label")["duration_s"].unique()
    assert sorted(value for values in told for value in values) == [7.6, 8.0, 8.4]
    assert cue_table(commands_root)["duration_s"].unique().tolist() == [8.0]


def test_the_planted_order_takes_turns_and_the_clean_one_does_not(
    tmp_path: Path, commands_root: Path
) -> None:
    DATASET.simulate(tmp_path / "leak", **SMALL, plant_leak="order")
    turns = ["motor-imagery", "mental-math", "word-association"] * 2
    assert all(group.tolist() == turns for _, group in cue_table(tmp_path / "leak").groupby("path")["label"])
    assert not all(group.tolist() == turns for _, group in cue_table(commands_root).groupby("path")["label"])


# --- the reader --------------------------------------------------------------------------------------------


def test_a_set_written_by_mne_bids_is_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for session in ("1", "2"):
        info = mne.create_info(["C3", "Cz", "C4"], 200.0, "eeg")
        raw = mne.io.RawArray(rng.standard_normal((3, 12_000)) * 1e-5, info, verbose="error")
        raw.info["line_freq"] = 50
        raw.set_annotations(mne.Annotations([5, 17, 29, 41], [8.0] * 4, ["mi", "word", "sub", "beep"]))
        place = mne_bids.BIDSPath(
            subject="X", session=session, task="OnlineRawGraz", run="3", root=tmp_path, datatype="eeg"
        )
        mne_bids.write_raw_bids(raw, place, format="BrainVision", allow_preload=True, verbose="error")
    data = BciCommands(tmp_path)
    assert not data.simulated
    assert DATASET.verify(tmp_path) == []
    runs = data.runs()
    assert runs["context"].tolist() == ["Graz", "Graz"]
    trials = data.trials(runs["path"].iloc[0])
    assert trials["start"].tolist() == [1000, 3400, 5800]
    assert trials["label"].tolist() == ["motor-imagery", "word-association", "mental-math"]


def test_runs_without_cues_are_passed_over_and_contexts_are_named_by_their_environment(damaged: Path) -> None:
    path = signal_file(damaged)
    for ending in ("eeg.edf", "channels.tsv"):
        source = path.with_name(path.name.replace("eeg.edf", ending))
        shutil.copy(source, path.with_name(f"sub-P01_ses-1_task-BaselineOE_run-0_{ending}"))
    runs = BciCommands(damaged).runs()
    assert "BaselineOE" not in set(runs["task"])
    assert set(runs["context"]) == {"Graz", "BH"}


Damage = Callable[[Path], object]


def _events(root: Path) -> Path:
    return sorted(root.rglob("*_events.tsv"))[0]


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def _cue_line(root: Path) -> str:
    return next(line for line in _events(root).read_text().splitlines() if "\tmi\t" in line)


@pytest.mark.parametrize(
    ("damage", "file", "sentence"),
    [
        (
            lambda r: shutil.rmtree(r / "sub-P01"),
            ".",
            "sub-P01 is listed in participants.tsv, but is missing",
        ),
        (lambda r: shutil.rmtree(r / "sub-P01" / "ses-2"), "sub-P01/sub-P01_sessions.tsv", "lists ses-2"),
        (lambda r: (r / "participants.tsv").unlink(), "participants.tsv", "no such file"),
        (lambda r: _events(r).unlink(), "_eeg.edf", "has no events.tsv"),
        (
            lambda r: _edit(_events(r), "trial_type", "kind"),
            "_events.tsv",
            'the column "trial_type" is missing',
        ),
        (
            lambda r: _events(r).write_text("onset\tduration\ttrial_type\n1\t1\tbeep\n"),
            "_events.tsv",
            "does not hold a cue",
        ),
        (
            lambda r: _edit(_events(r), _cue_line(r).split("\t")[0] + "\t8\t", "9999\t8\t"),
            "_events.tsv",
            "the cue is not within the recording",
        ),
        (
            lambda r: _edit(_events(r), _cue_line(r), f"{_cue_line(r)}\n{_cue_line(r)}"),
            "_events.tsv",
            "two cues at",
        ),
        (
            lambda r: _edit(_events(r), "\tmi\t", "\tsub\t"),
            "_eeg.edf",
            "has no trial of the class motor-imagery",
        ),
        (
            lambda r: signal_file(r).write_bytes(signal_file(r).read_bytes()[:5000]),
            "_eeg.edf",
            "simulated.json states",
        ),
    ],
)
def test_every_damage_of_a_command_set_is_named(
    damaged: Path, damage: Damage, file: str, sentence: str
) -> None:
    damage(damaged)
    problems = [problem for problem in DATASET.verify(damaged) if sentence in problem.what]
    assert problems, DATASET.verify(damaged)
    assert problems[0].file.endswith(file)


def test_a_broken_card_is_named(damaged: Path) -> None:
    (damaged / "simulated.json").write_text("{")
    with pytest.raises(InputError, match=r"simulated\.json: cannot be read as the card"):
        BciCommands(damaged)


def test_the_card_lists_every_file_with_its_size(commands_root: Path) -> None:
    card = json.loads((commands_root / "simulated.json").read_text())
    for name, size in card["files"].items():
        assert (commands_root / name).stat().st_size == size
    assert len(card["files"]) > 16
