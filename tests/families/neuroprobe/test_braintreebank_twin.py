from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.braintreebank import BrainTreebank, nonverbal_table, verify, word_table
from neuroarena.families.neuroprobe.braintreebank import twin as writer
from neuroarena.families.neuroprobe.braintreebank.twin import simulate
from neuroarena.families.neuroprobe.braintreebank.twin_signal import Response

SMALL: dict[str, Any] = {"subjects": 1, "sessions": 1, "electrodes": 16, "minutes": 2.0}
SCALARS = {
    "volume": "rms",
    "delta_volume": "delta_rms",
    "gpt2_surprisal": "gpt2_surprisal",
    "word_length": "word_length",
    "global_flow": "max_global_magnitude",
    "local_flow": "max_vector_magnitude",
    "frame_brightness": "mean_pixel_brightness",
}


@pytest.fixture(scope="module")
def long_twin(tmp_path_factory: pytest.TempPathFactory) -> BrainTreebank:
    """The twin of the demonstration, one subject of it."""
    root = tmp_path_factory.mktemp("long") / "twin"
    simulate(root, subjects=1, sessions=2, electrodes=24, minutes=8.0, seed=1)
    return BrainTreebank(root)


def words_of(data: BrainTreebank, subject: int, trial: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Align words as any user would, with all properties joined, and list the silences."""
    features, triggers = data.features(subject, trial), data.triggers(subject, trial)
    words = word_table(features, triggers)
    others = features.drop(columns=["start", "end"])
    return words.join(others, on="original_index"), nonverbal_table(words)


def classes(values: np.ndarray, *, whole_top: bool = False) -> tuple[np.ndarray, np.ndarray]:
    below = np.array([(values < value).mean() for value in values])
    return (below >= 0.75) if whole_top else (below > 0.75), below < 0.25


def task_starts(data: BrainTreebank, subject: int, trial: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Give the first samples of the windows of class 1 and class 0 for all fifteen tasks."""
    words, silent = words_of(data, subject, trial)
    start = words["est_idx"].to_numpy(dtype=int)
    pitch = {
        f"{float(k):.5f}": v["enhanced_pitch"] for k, v in data.pitch(data.movie(subject, trial)).items()
    }
    values = {task: words[column].to_numpy() for task, column in SCALARS.items()}
    values["pitch"] = np.array([pitch[f"{s:.5f}"] for s in words["start"]])
    found = {task: tuple(start[chosen] for chosen in classes(column)) for task, column in values.items()}
    inner = np.flatnonzero(words["sentence"].to_numpy()[1:] == words["sentence"].to_numpy()[:-1]) + 1
    gaps = words["start"].to_numpy()[inner] - words["end"].to_numpy()[inner - 1]
    found["word_gap"] = tuple(start[inner[chosen]] for chosen in classes(gaps, whole_top=True))
    by_column = {
        "face_num": (words["face_num"] > 0, words["face_num"] == 0),
        "word_index": (words["idx_in_sentence"] == 0, words["idx_in_sentence"] == 1),
        "word_head_pos": (words["bin_head"] == 0, words["bin_head"] == 1),
        "word_part_speech": (words["pos"] == "VERB", words["pos"] == "NOUN"),
    }
    found |= {task: (start[one], start[zero]) for task, (one, zero) in by_column.items()}
    found["onset"] = (start[words["is_onset"] == 1], silent["est_idx"].to_numpy())
    found["speech"] = (start, silent["est_idx"].to_numpy())
    return found


def read_out(data: BrainTreebank, subject: int, trial: int) -> dict[str, np.ndarray]:
    """Measure the size of every burst on every planted electrode with the template the card describes."""
    assert data.card is not None
    measured = {}
    entries = [entry for task in data.card["planted"][f"sub_{subject}"].values() for entry in task]
    for entry in entries:
        fields = {name: entry[name] for name in ("latency_s", "duration_s", "evoked_hz", "band_hz")}
        _, burst = Response(**fields).templates()
        recording = data.recording(subject, trial, [entry["electrode"]])
        slots = recording.read(0, recording.n_samples)[0].reshape(-1, len(burst))
        measured[entry["source"]] = slots @ burst / (burst @ burst)
    return {source: (sizes - 40.0) / 10.0 for source, sizes in measured.items()}


def best_scores(data: BrainTreebank, subject: int, trial: int) -> dict[str, float]:
    """Give the AUROC of the read-out that knows what was planted where."""
    measured = read_out(data, subject, trial)
    scores = {}
    for task, (one, zero) in task_starts(data, subject, trial).items():
        slot = np.concatenate([one, zero]) // 1024
        labels = np.repeat([1, 0], [len(one), len(zero)])
        if task in measured:
            evidence = measured[task][slot + (1 if task == "word_gap" else 0)]
        else:
            first, other = measured["first_words"], measured["other_words"]
            evidence = {
                "onset": 0.64 * first[slot] + 0.77 * other[slot + 1],
                "word_index": 0.64 * first[slot] - 0.77 * other[slot],
                "speech": other[slot] + other[slot + 1] + 0.3 * first[slot],
            }[task]
        scores[task] = float(roc_auc_score(labels, evidence))
    return scores


def test_every_word_and_every_silent_window_lies_on_the_grid(long_twin: BrainTreebank) -> None:
    for session in long_twin.sessions:
        words, silent = words_of(long_twin, *session)
        assert len(words) == (long_twin.features(*session)["pos"] != "PART").sum()
        assert (words["est_idx"] % 1024 == 0).all()
        assert (silent["est_idx"] % 1024 == 0).all()
        assert (np.diff(words["est_idx"]) >= 1024).all()
        length = long_twin.recording(*session).n_samples
        assert words["est_idx"].max() + 2048 <= length


def test_suffixes_are_no_words_and_glued_words_are(long_twin: BrainTreebank) -> None:
    features = long_twin.features(1, 1)
    words, _ = words_of(long_twin, 1, 1)
    left_out = features.drop(index=words["original_index"])
    assert len(left_out) > 10
    assert set(left_out["text"]) == {"'s"}
    written = " ".join(features["sentence"])
    assert all(joint in written for joint in ("-", "... ", ", ", "'s"))
    # Words that a hyphen joins to the word before.
    glued = [f"-{text}" in sentence for text, sentence in zip(words["text"], words["sentence"], strict=True)]
    assert sum(glued) > 10


def test_one_session_holds_a_dataset_without_a_label(long_twin: BrainTreebank) -> None:
    extra = {}
    for subject, trial in long_twin.sessions:
        with h5py.File(long_twin.signal_path(subject, trial)) as file:
            extra[trial] = len(file["data"]) - len(long_twin.labels(subject))
    assert extra == {1: 1, 2: 0}


def test_first_words_windows_never_overlap_the_sentence_before(long_twin: BrainTreebank) -> None:
    words, silent = words_of(long_twin, 1, 1)
    opens = words.index[words["is_onset"] == 1][1:]
    waits = words["est_idx"].to_numpy()[opens] - words["est_idx"].to_numpy()[opens - 1]
    assert (waits >= 2048).all()
    spoken = (words["est_idx"].to_numpy()[:, None] // 1024 + [0, 1]).ravel()
    quiet = (silent["est_idx"].to_numpy()[:, None] // 1024 + [0, 1]).ravel()
    assert not set(spoken) & set(quiet)


def test_the_recording_was_paused_within_a_word_and_words_are_right_on_both_sides(
    long_twin: BrainTreebank,
) -> None:
    assert long_twin.card is not None
    entry = long_twin.card["sessions"][0]
    words, _ = words_of(long_twin, 1, 1)
    (paused,) = np.flatnonzero(
        (words["start"] < entry["paused_at_s"]) & (words["end"] > entry["paused_at_s"])
    )
    lasts = words["est_end_idx"] - words["est_idx"] - (words["end"] - words["start"]) * 2048
    assert lasts[paused] == pytest.approx(entry["paused_for_samples"], abs=1)
    assert np.abs(lasts.drop(paused)).max() <= 1
    expected = entry["film_start_sample"] + words["start"] * 2048
    expected += np.where(words["start"] >= entry["paused_at_s"], entry["paused_for_samples"], 0)
    assert entry["paused_for_samples"] > 0
    assert words["start"].min() < entry["paused_at_s"] < words["start"].max()
    assert (words["est_idx"] == expected).all()


def test_eight_minutes_give_two_hundred_items_in_every_task(long_twin: BrainTreebank) -> None:
    assert long_twin.card is not None
    for entry in long_twin.card["sessions"]:
        starts = task_starts(long_twin, entry["subject"], entry["trial"])
        counts = {task: 2 * min(len(one), len(zero)) for task, (one, zero) in starts.items()}
        assert len(counts) == 15
        assert min(counts.values()) >= 200
        assert counts == entry["items"]


def test_the_shortest_twin_still_has_twenty_items_a_class(twin: BrainTreebank) -> None:
    assert twin.card is not None
    assert all(min(entry["items"].values()) >= 40 for entry in twin.card["sessions"])


def test_the_best_read_out_scores_what_the_card_says(long_twin: BrainTreebank) -> None:
    assert long_twin.card is not None
    ideal = long_twin.card["ideal_auroc"]
    scores = [best_scores(long_twin, *session) for session in long_twin.sessions]
    assert ideal["onset"] == ideal["volume"] == 0.8
    assert 0.78 < ideal["speech"] < 0.82
    for task in ideal:
        assert np.mean([score[task] for score in scores]) == pytest.approx(ideal[task], abs=0.03), task


@pytest.mark.parametrize(
    "options", [pytest.param({"ideal": 0.5}, marks=pytest.mark.drill), {"strength": 0.0}]
)
def test_nothing_planted_is_pure_chance(tmp_path: Path, options: dict[str, float]) -> None:
    card = simulate(tmp_path / "twin", subjects=1, sessions=2, electrodes=16, minutes=4.0, seed=5, **options)
    assert set(card["ideal_auroc"].values()) == {0.5}
    data = BrainTreebank(tmp_path / "twin")
    scores = np.array([list(best_scores(data, *session).values()) for session in data.sessions])
    # The standard error of an AUROC with 50 items a class is 0.058; overlapping silences double the variance.
    assert np.abs(scores - 0.5).max() < 0.25
    assert abs(scores.mean() - 0.5) < 0.03


def test_a_stronger_twin_scores_higher_and_says_so(tmp_path: Path) -> None:
    card = simulate(tmp_path / "twin", **SMALL, strength=2.0)
    assert card["ideal_auroc"]["volume"] == pytest.approx(0.9538, abs=1e-3)
    scores = best_scores(BrainTreebank(tmp_path / "twin"), 1, 1)
    assert np.mean(list(scores.values())) > 0.9


def test_no_property_of_words_tells_another_one(long_twin: BrainTreebank) -> None:
    words, _ = words_of(long_twin, 1, 1)
    table = words[[*SCALARS.values(), "bin_head", "face_num", "is_onset"]]
    off = np.abs(np.corrcoef(table.to_numpy(dtype=float).T) - np.eye(table.shape[1]))
    assert off.max() < 4 / np.sqrt(len(words))
    np.testing.assert_allclose(words["end"] - words["start"], words["word_length"], atol=1e-9)


def contents(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_the_same_seed_writes_the_same_bytes_and_another_seed_does_not(tmp_path: Path) -> None:
    for name, seed in (("one", 4), ("two", 4), ("three", 5)):
        simulate(tmp_path / name, **SMALL, seed=seed)
    one, two, three = (contents(tmp_path / name) for name in ("one", "two", "three"))
    assert one == two
    assert one.keys() == three.keys()
    changed = {name for name in one if one[name] != three[name]}
    assert {"sub_1_trial001.h5", "transcripts/the-martian/features.csv", "simulated.json"} <= changed


def test_signals_are_microvolts_of_a_plausible_size_in_one_precision_or_the_other(twin_root: Path) -> None:
    signals = {}
    for trial in (1, 2):
        with h5py.File(twin_root / f"sub_1_trial{trial:03d}.h5") as file:
            signals[trial] = np.stack([file[f"data/electrode_{i}"][:] for i in (0, 1, 3)])
    assert [each.dtype for each in signals.values()] == [np.float64, np.float32]
    signals = signals[1]
    assert np.isfinite(signals).all()
    assert 5 < signals.std() < 50
    assert np.abs(signals).max() < 400


def test_a_twin_with_the_same_options_is_left_untouched(tmp_path: Path) -> None:
    root = tmp_path / "twin"
    first = simulate(root, **SMALL)
    times = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    assert simulate(root, **SMALL) == first
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == times


def test_a_twin_with_other_options_or_a_missing_file_is_written_anew(tmp_path: Path) -> None:
    root = tmp_path / "twin"
    simulate(root, **SMALL)
    (root / "sub_1_trial001.h5").unlink()
    simulate(root, **SMALL)
    assert verify(root) == []
    assert simulate(root, **SMALL, seed=9)["options"]["seed"] == 9
    assert verify(root) == []
    assert [path.name for path in tmp_path.iterdir()] == ["twin"]


@pytest.mark.parametrize(
    "content",
    [None, "{", "[]", json.dumps({"simulated": True}), json.dumps({"simulated": True, "generator": "x"})],
)
def test_a_folder_that_is_not_ours_is_refused_and_kept(tmp_path: Path, content: str | None) -> None:
    root = tmp_path / "mine"
    root.mkdir()
    (root / "thesis.txt").write_text("years of work")
    if content is not None:
        (root / "simulated.json").write_text(content)
    with pytest.raises(InputError, match="is not empty and was not written by the neuroarena"):
        simulate(root, **SMALL)
    assert (root / "thesis.txt").read_text() == "years of work"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subjects": 7}, "subjects must be a whole number from 1 to 6, got 7"),
        ({"subjects": 0}, "subjects"),
        ({"sessions": 3}, "sessions must be a whole number from 1 to 2"),
        ({"electrodes": 15}, "electrodes must be a whole number from 16 to 120"),
        ({"electrodes": 24.5}, "electrodes"),
        ({"minutes": 1.9}, "minutes must be a number from 2 to 240, got 1.9"),
        ({"minutes": float("nan")}, "minutes"),
        ({"seed": -1}, "seed"),
        ({"seed": True}, "seed"),
        ({"ideal": 1.0}, "ideal must be a number from 0.5 to 0.999"),
        ({"ideal": 0.4}, "ideal"),
        ({"strength": -1.0}, "strength"),
    ],
)
def test_options_out_of_range_are_refused_and_nothing_is_written(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        simulate(tmp_path / "twin", **options)
    assert not any(tmp_path.iterdir())


def test_a_writer_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(writer, "_write_signals", fail)
    with pytest.raises(OSError, match="disk full"):
        simulate(tmp_path / "twin", **SMALL)
    assert not any(tmp_path.iterdir())


def test_progress_is_told_for_every_electrode(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    simulate(tmp_path / "twin", **SMALL, progress=lambda *news: told.append(news))
    assert [done for done, _, _ in told] == list(range(1, 21))
    assert {total for _, total, _ in told} == {20}


@pytest.fixture(scope="module")
def six_subjects(tmp_path_factory: pytest.TempPathFactory) -> BrainTreebank:
    root = tmp_path_factory.mktemp("six") / "twin"
    simulate(root, subjects=6, sessions=2, electrodes=16, minutes=2.0)
    return BrainTreebank(root)


def test_all_leaderboard_sessions_can_be_simulated_and_are_good(six_subjects: BrainTreebank) -> None:
    assert six_subjects.sessions == [
        *((1, 1), (1, 2), (2, 0), (2, 4), (3, 0), (3, 1), (4, 0), (4, 1), (7, 0), (7, 1), (10, 0), (10, 1))
    ]
    assert verify(six_subjects.root) == []
    assert all(len(six_subjects.electrodes(subject)) == 16 for subject in (1, 2, 3, 4, 7, 10))


def test_a_film_seen_by_several_people_has_one_transcript(six_subjects: BrainTreebank) -> None:
    assert len(list((six_subjects.root / "transcripts").iterdir())) == 9
    assert six_subjects.features(3, 0).equals(six_subjects.features(10, 0))
    assert not six_subjects.triggers(3, 0).equals(six_subjects.triggers(10, 0))


def test_a_task_is_planted_in_the_same_region_in_everybody(six_subjects: BrainTreebank) -> None:
    assert six_subjects.card is not None
    regions = {}
    for subject, tasks in six_subjects.card["planted"].items():
        table = six_subjects.electrodes(int(subject.removeprefix("sub_"))).set_index("name")
        assert len(tasks) == 15
        for entries in tasks.values():
            for entry in entries:
                assert table.loc[entry["electrode"], "region"] == entry["region"]
                assert (table["region"] == entry["region"]).sum() == 1
                regions.setdefault(entry["source"], set()).add(entry["region"])
    assert all(len(found) == 1 for found in regions.values())


def test_the_labels_are_those_of_the_leaderboard_lists() -> None:
    facts = Path(__file__).resolve().parents[3].parent / "shared/data/neuroprobe/electrodes.json"
    if not facts.exists():
        pytest.skip("the published electrode lists are not beside the project")
    from neuroarena.families.neuroprobe.braintreebank.twin_montage import RUNS, lite_labels

    lists = json.loads(facts.read_text())["lite"]
    assert {str(subject): runs for subject, runs in RUNS.items()} == {str(s): lists[str(s)] for s in RUNS}
    assert {s: len(lite_labels(s)) for s in RUNS} == {1: 120, 2: 119, 3: 109, 4: 120, 7: 119, 10: 120}


def test_writer_and_reader_share_no_code() -> None:
    folder = Path(writer.__file__).parent
    for path in folder.glob("twin*.py"):
        text = path.read_text()
        for name in ("reader", "words", "verify", "facts"):
            assert f"braintreebank.{name}" not in text, path.name
    for name in ("reader", "words", "verify", "facts"):
        assert "twin_" not in (folder / f"{name}.py").read_text()
