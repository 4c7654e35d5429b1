"""Neuroprobe's items: equal to the published ones, item by item; bad tables are refused by name."""

from __future__ import annotations

import functools
import hashlib
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe import TASKS, examples, time_bins
from neuroarena.families.neuroprobe.folds import within_session
from neuroarena.families.neuroprobe.sessions import FULL, LITE, NANO, parse_session, subset_electrodes
from neuroarena.families.neuroprobe.submission_checks import ITEM_COUNTS
from neuroarena.families.neuroprobe.tasks import gaps_of
from shared_data import SHARED

FOLDER = SHARED / "data" / "neuroprobe"
needs_shared = pytest.mark.skipif(
    not FOLDER.exists(), reason="the shared Neuroprobe tables are not beside the project"
)
MOVIES = {"2_0": "venom", "4_0": "shrek-the-third", "4_1": "megamind"}


@pytest.fixture(scope="module")
def synthetic() -> dict:
    folder = FOLDER / "golden" / "synthetic"
    return {
        "words": pd.read_csv(folder / "words_df.csv"),
        "nonverbal": pd.read_csv(folder / "nonverbal_df.csv"),
        "features": pd.read_csv(folder / "features.csv"),
        "pitch": json.loads((folder / "pitch_volume_features.json").read_text()),
    }


@functools.cache
def golden(path: str) -> dict:
    file = FOLDER / "golden" / path
    return json.loads(file.read_text()) if file.exists() else {}


def annotations(session: str) -> list[pd.DataFrame]:
    subject, trial = session.split("_")
    folder = FOLDER / "annotations"
    return [
        pd.read_csv(folder / f"subject{subject}_trial{trial}_{kind}_df.csv")
        for kind in ("words", "nonverbal")
    ]


@needs_shared
@pytest.mark.parametrize("key", golden("synthetic/expected.json"))
def test_the_items_equal_the_published_package_on_a_synthetic_session(key, synthetic):
    task, form, subset = key.split("/")
    expected = golden("synthetic/expected.json")[key]
    items = examples(task, **synthetic, multiclass=form == "multiclass", subset=subset)
    assert len(items) == expected["N"]
    assert items.to_numpy().tolist() == expected["items"]


@needs_shared
@pytest.mark.parametrize("key", golden("real_annotations.json"))
def test_the_items_equal_the_published_package_on_real_annotations(key):
    session, task, form = key.split("/")
    tables = annotations(session.removeprefix("btbank"))
    movie = MOVIES.get(session.removeprefix("btbank"))
    pitch = (
        json.loads((FOLDER / "pitch" / f"{movie}_pitch_volume_features.json").read_text()) if movie else None
    )
    items = examples(task, *tables, pitch=pitch, multiclass=form == "multiclass")
    expected = golden("real_annotations.json")[key]
    lines = "".join(f"{start},{stop},{label}\n" for start, stop, label in items.to_numpy())
    assert hashlib.sha256(lines.encode()).hexdigest() == expected["sha256"]
    ids = pd.DataFrame({"id": [f"{session}-{item:05d}" for item in range(len(items))], "session": session})
    folds = within_session(ids).folds
    sizes = [[len(fold.train), len(fold.validation), len(fold.test)] for fold in folds]
    assert sizes == expected["within_folds"]


@needs_shared
def test_features_may_be_read_with_or_without_their_index(synthetic):
    indexed = {**synthetic, "features": synthetic["features"].set_index("Unnamed: 0")}
    pd.testing.assert_frame_equal(examples("volume", **synthetic), examples("volume", **indexed))


@needs_shared
def test_the_definition_of_september_leaves_the_third_quartile_out(synthetic):
    now = examples("word_gap", **synthetic, subset="full")
    then = examples("word_gap", **synthetic, subset="full", definition="2025.09")
    assert len(then) <= len(now)


@needs_shared
@pytest.mark.parametrize("key", golden("synthetic/expected.json"))
def test_strict_has_the_items_of_2025_10(key, synthetic):
    task, form, subset = key.split("/")
    options = {"multiclass": form == "multiclass", "subset": subset}
    strict = examples(task, **synthetic, definition="strict", **options)
    pd.testing.assert_frame_equal(strict, examples(task, **synthetic, **options))


@needs_shared
@pytest.mark.parametrize("task", TASKS)
def test_nano_draws_at_most_a_thousand_and_the_cap_is_honoured(task, synthetic):
    for multiclass in (False, True):
        rule = TASKS[task].n_classes(multiclass)
        full = examples(task, **synthetic, multiclass=multiclass, subset="full")
        nano = examples(task, **synthetic, multiclass=multiclass, subset="nano")
        assert len(nano) == min(len(full), rule * (1000 // rule))


@needs_shared
@pytest.mark.parametrize("task", TASKS)
def test_max_samples_keeps_the_earliest_of_each_class(task, synthetic):
    for multiclass in (False, True):
        classes = TASKS[task].n_classes(multiclass)
        everything = examples(task, **synthetic, multiclass=multiclass)
        few = examples(task, **synthetic, multiclass=multiclass, max_samples=100)
        assert (few["label"].value_counts() == 100 // classes).all()
        for label, group in everything.groupby("label"):
            kept = few.loc[few["label"] == label, "start"].tolist()
            assert kept == group["start"].tolist()[: 100 // classes]


@needs_shared
@pytest.mark.parametrize("session", ["1_1", "2_0", "3_0", "4_0", "4_1", "10_0"])
def test_the_published_number_of_items_on_real_annotations(session):
    at = LITE.index(parse_session(session))
    tables = annotations(session)
    assert len(examples("speech", *tables)) == ITEM_COUNTS["speech"][at] == 3500
    if session in MOVIES:
        pitch = json.loads((FOLDER / "pitch" / f"{MOVIES[session]}_pitch_volume_features.json").read_text())
        assert len(examples("pitch", *tables, pitch=pitch)) == ITEM_COUNTS["pitch"][at]
        assert len(examples("pitch", *tables, pitch=pitch, multiclass=True)) == 3498
        # Any ranking of the words without ties gives as many items: here their start times.
        words = tables[0].assign(rms=tables[0]["start"])
        assert len(examples("volume", words, tables[1])) == ITEM_COUNTS["volume"][at]


@needs_shared
def test_columns_may_be_asked_by_their_own_names(synthetic):
    for task, column in (
        ("volume", "rms"),
        ("pitch", "enhanced_pitch"),
        ("global_flow", "max_global_magnitude"),
    ):
        pd.testing.assert_frame_equal(examples(column, **synthetic), examples(task, **synthetic))
    values = [0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6]
    pitch = {f"{row}.0": {"raw_volume": value} for row, value in enumerate(values)}
    asked = examples("raw_volume", **small_session(), pitch=pitch)
    pd.testing.assert_frame_equal(asked, examples("volume", **small_session()))


@given(
    sentences=st.lists(st.sampled_from("abc"), min_size=2, max_size=40),
    seed=st.integers(0, 2**16),
)
def test_gaps_equal_those_of_a_walk_from_word_to_word(sentences, seed):
    rng = np.random.default_rng(seed)
    start = np.cumsum(rng.uniform(0, 2, len(sentences)))
    end = start + rng.uniform(0, 2, len(sentences))
    words = pd.DataFrame(
        {"start": start, "end": end, "sentence": sentences, "original_index": range(len(start))}
    )
    walked = [
        (row, start[row] - end[row - 1])
        for row in range(1, len(sentences))
        if sentences[row] == sentences[row - 1]
    ]
    if not walked:
        with pytest.raises(InputError, match="no two consecutive words"):
            gaps_of(words, TASKS["word_gap"])
        return
    rows, gaps = gaps_of(words, TASKS["word_gap"])
    assert list(zip(rows, gaps, strict=True)) == walked


def test_fourteen_time_bins_of_a_quarter_second():
    bins = time_bins()
    assert len(bins) == 14
    assert bins[:2] == ((-0.5, -0.25), (-0.375, -0.125))
    assert bins[-1] == (1.125, 1.375)
    assert time_bins(0.0, 1.0, window_s=0.5, stride_s=0.25) == ((0.0, 0.5), (0.25, 0.75))
    assert time_bins(0.0, 0.2) == ()
    with pytest.raises(InputError, match="a stride above 0 s"):
        time_bins(stride_s=0.0)


@pytest.mark.parametrize(
    ("offset_s", "begin", "length"), [((-0.5, 1.5), -1024, 4096), ((0.1, 0.2), 205, 205)]
)
def test_windows_move_with_the_offset_spoken_or_not(offset_s, begin, length):
    plain, moved = (examples("onset", **small_session(), offset_s=each) for each in ((0.0, 1.0), offset_s))
    assert (moved["start"] - plain["start"] == begin).all()
    assert (moved["stop"] - moved["start"] == length).all()
    assert moved["label"].equals(plain["label"])


def small_session() -> dict:
    words = pd.DataFrame(
        {
            "original_index": range(8),
            "est_idx": [2048.0 * item for item in range(8)],
            "est_end_idx": [2048.0 * item + 500 for item in range(8)],
            "start": [float(item) for item in range(8)],
            "end": [item + 0.25 for item in range(8)],
        }
    )
    nonverbal = pd.DataFrame({"est_idx": [30_000, 31_024], "est_end_idx": [32_048, 33_072]})
    features = pd.DataFrame(
        {
            "rms": [0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6],
            "is_onset": [1, 0, 0, 0, 1, 0, 0, 0],
            "pos": ["VERB", "NOUN"] * 4,
            "sentence": ["a"] * 8,
        }
    )
    return {"words": words, "nonverbal": nonverbal, "features": features}


def test_a_hand_worked_session():
    # Ranks of rms: 0.1 -> 0/8, 0.2 -> 1/8, ... 0.9 -> 7/8. Low: below 2/8, rows 0 and 2. Top: above 6/8, row 1 only.
    # So one item a class: the word at row 1 (label 1) comes first, then one of rows 0 and 2 (label 0).
    items = examples("volume", **small_session())
    assert items["label"].tolist() == [1, 0]
    assert items["start"].iloc[0] == 2048
    assert items["start"].iloc[1] in (0, 4096)
    assert (items["stop"] - items["start"] == 2048).all()
    onset = examples("onset", **small_session())
    assert onset[["start", "label"]].to_numpy().tolist() == [[0, 1], [30_000, 0], [8192, 1], [31_024, 0]]


def without(column: str) -> dict:
    session = small_session()
    return {**session, "features": session["features"].drop(columns=column)}


def with_value(column: str, value: object) -> dict:
    session = small_session()
    features = session["features"].astype({column: object})
    features.loc[3, column] = value
    return {**session, "features": features}


@pytest.mark.parametrize(
    ("task", "session", "message"),
    [
        ("volum", small_session(), 'Did you mean "volume"'),
        ("volume", without("rms"), 'lack the column "rms"'),
        ("volume", with_value("rms", None), r'1 words have no "rms", the first is row 3 of the word table'),
        ("volume", with_value("rms", "loud"), r'"rms" of row 3 .* not a finite number'),
        ("volume", with_value("rms", float("inf")), "not a finite number"),
        ("volume", {**small_session(), "features": None}, 'needs the column "rms" of features.csv'),
        ("pitch", small_session(), "needs the movie's pitch and volume table"),
        ("pitch", {**small_session(), "pitch": {"0.0": {}}}, r'no "enhanced_pitch" for the word at 0.00000 s'),
        ("word_part_speech", with_value("pos", None), 'have no "pos"'),
        ("word_gap", {**small_session(), "features": small_session()["features"].assign(sentence=list("abcdefgh"))},
         "no two consecutive words"),
        ("onset", {**small_session(), "nonverbal": small_session()["nonverbal"][:0]}, "class 0 has no example"),
        ("volume", {**small_session(), "words": small_session()["words"][:0]}, "the word table is empty"),
        ("volume", {**small_session(), "words": small_session()["words"][["end"]]}, "lacks the columns original_index"),
        ("volume", {**small_session(), "definition": "1999"}, 'no definition "1999"'),
        ("volume", {**small_session(), "subset": "huge"}, "expected lite, nano or full"),
        ("volume", {**small_session(), "max_samples": 1}, "max_samples is 1; volume has 2 classes"),
        ("volume", {**small_session(), "offset_s": (1.0, 1.0)}, "the first at least a sample below the second"),
        ("volume", {**small_session(), "offset_s": (0.0, float("nan"))}, "expected two finite numbers"),
        ("volume", {**small_session(), "offset_s": (0.0,)}, "expected two numbers, seconds from the onset"),
        ("speech", {**small_session(), "words": small_session()["words"].assign(est_idx=float("nan"))},
         r'word table: "est_idx" of row \d is not a finite number but'),
        ("speech", {**small_session(), "nonverbal": small_session()["nonverbal"][["est_end_idx"]]},
         'non-verbal table lacks the column "est_idx"'),
        ("word_gap", {**small_session(), "words": small_session()["words"].assign(end=None)}, 'words have no "end"'),
        ("volume", {**small_session(), "words": small_session()["words"].assign(original_index=range(90, 98))},
         '8 words have no "rms"'),
        ("volume", {**small_session(), "features": small_session()["features"].set_axis([0] * 8)},
         "two rows with the index 0"),
        ("pos", small_session(), 'No Neuroprobe task "pos"'),
        ("bin_head", small_session(), 'No Neuroprobe task "bin_head"'),
    ],
)  # fmt: skip
def test_bad_tables_are_refused_by_name(task, session, message):
    with pytest.raises(InputError, match=message):
        examples(task, **session)


def test_the_tables_of_sessions_and_electrodes():
    assert (len(LITE), len(NANO), len(FULL)) == (12, 6, 26)
    assert set(NANO) < set(LITE) < set(FULL)
    lite = [len(subset_electrodes("lite", subject)) for subject in range(1, 11)]
    nano = [len(subset_electrodes("nano", subject)) for subject in range(1, 11)]
    assert lite == [120, 119, 109, 120, 120, 120, 119, 120, 93, 120]
    assert nano == [30, 29, 30, 30, 30, 30, 30, 30, 30, 30]
    assert subset_electrodes("full", 1) is None
    assert subset_electrodes("lite", 10)[28:31] == ("F10Fa14", "F10Fa15", "F10Fa16")
    assert len(TASKS) == 15
