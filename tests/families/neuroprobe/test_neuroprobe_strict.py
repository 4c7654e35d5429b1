"""Folds that share nothing, and the measurement that shows what the published ones share."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from neuroarena.benchmarks import Fold, Split
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe import describe_leakage, examples, leakage
from neuroarena.families.neuroprobe.folds import cross_session, cross_subject, within_session
from neuroarena.families.neuroprobe.leakage import fold_leakage
from shared_data import SHARED
from toy import toy_benchmark

FOLDER = SHARED / "data" / "neuroprobe"
needs_shared = pytest.mark.skipif(
    not FOLDER.exists(), reason="the shared Neuroprobe tables are not beside the project"
)
WINDOW = 2048


def table_of(starts: np.ndarray, targets: np.ndarray, session: str, length: int = WINDOW) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": [f"{session}-{item:05d}" for item in range(len(starts))],
            "recording": session,
            "start": starts,
            "stop": starts + length,
            "target": targets,
            "session": session,
            "subject": session.removeprefix("btbank").partition("_")[0],
        }
    )


def interleaved(starts: np.ndarray, targets: np.ndarray, session: str, length: int = WINDOW) -> pd.DataFrame:
    """Items as published: the classes take turns, each in time order, as many of one as of the other."""
    by_class = [np.sort(starts[targets == label]) for label in (1, 0)]
    n = min(map(len, by_class))
    turns = np.stack([own[:n] for own in by_class], axis=1).reshape(-1)
    return table_of(turns, np.tile([1, 0], n), session, length)


@st.composite
def sessions(draw) -> pd.DataFrame:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(30, 120))
    spread = draw(st.sampled_from([700, 2048, 9000]))
    length = draw(st.sampled_from([512, 2048, 4096]))
    starts = rng.integers(0, n * spread, n)
    # The later it is, the rarer class 1: the classes have different medians.
    targets = (rng.random(n) > 0.8 * starts / starts.max()).astype(int)
    parts = [
        interleaved(starts + shift, targets, name, length)
        for shift, name in ((0, "btbank2_4"), (5, "btbank2_0"), (9, "btbank1_1"), (11, "btbank1_2"))
    ]
    return pd.concat(parts, ignore_index=True)


def gaps_between(table: pd.DataFrame, first: tuple[str, ...], second: tuple[str, ...]) -> np.ndarray:
    """Samples between every two windows of one recording, negative where they overlap; by brute force."""
    a, b = (table.set_index("id").loc[list(ids)] for ids in (first, second))
    columns = ("start", "stop", "recording")
    (start_a, stop_a, in_a), (start_b, stop_b, in_b) = (
        [part[name].to_numpy()[shape] for name in columns]
        for part, shape in ((a, np.s_[:, None]), (b, np.s_[None]))
    )
    gaps = np.maximum(start_a - stop_b, start_b - stop_a)
    return gaps[in_a == in_b]


def make_splits(table: pd.DataFrame, n_folds: int) -> Iterator[Split]:
    """Yield the splits in time of a table, but for those that are refused because a part has not every class."""
    session = table[table["session"] == "btbank2_4"]
    for make in (
        lambda: within_session(session, n_folds=n_folds, in_time=True),
        lambda: cross_session(table, in_time=True, judged=["btbank1_1"]),
        lambda: cross_subject(table, in_time=True, judged=["btbank1_2"]),
    ):
        try:
            yield make()
        except InputError as error:
            if "every class" not in str(error) and "no example of class" not in str(error):
                raise


@given(table=sessions(), n_folds=st.sampled_from([2, 5]))
def test_no_two_parts_share_a_sample_and_a_window_lies_between_them(table, n_folds):
    length = int((table["stop"] - table["start"]).iloc[0])
    splits = list(make_splits(table, n_folds))
    assume(splits)
    for split in splits:
        for fold in split.folds:
            for first, second in (
                (fold.train, fold.validation),
                (fold.train, fold.test),
                (fold.validation, fold.test),
            ):
                gaps = gaps_between(table, first, second)
                assert not len(gaps) or gaps.min() >= max(length, WINDOW)
        measured = fold_leakage(table, split, 2048)
        assert (measured[["test_shares_train", "test_shares_validation", "test_in_embargo"]] == 0).all(
            axis=None
        )
        assert (measured["class_cuts_differ_s"] == 0).all()


@given(table=sessions(), validation=st.booleans())
def test_the_measurement_equals_one_by_brute_force(table, validation):
    table = table[table["session"] == "btbank1_1"]
    assume(len(table) >= 8)
    length = int((table["stop"] - table["start"]).iloc[0])
    split = within_session(table, validation=validation)
    measured = fold_leakage(table, split, 2048).set_index("fold")
    for fold in split.folds:
        nearest = gaps_between(table, fold.test, fold.train).reshape(len(fold.test), -1).min(axis=1)
        row = measured.loc[fold.name]
        assert row["test_shares_train"] == (nearest < 0).sum()
        assert row["test_in_embargo"] == (nearest < length).sum()
        assert (row["n_train"], row["n_validation"], row["n_test"]) == (
            len(fold.train),
            len(fold.validation),
            len(fold.test),
        )


def test_a_hand_worked_session_is_cut_once_for_both_classes():
    # One item every three seconds, class 1 in the first and last thirds: forty items, cut after twenty.
    starts = np.arange(40) * 3 * WINDOW
    targets = np.r_[np.tile([1, 0], 10), np.tile([0, 1], 10)]
    (first, second) = within_session(table_of(starts, targets, "btbank1_1"), in_time=True).folds
    number = lambda ids: [int(each[-5:]) for each in ids]  # noqa: E731
    assert number(first.validation) == list(range(10))
    assert number(first.test) == list(range(10, 20))
    assert number(first.train) == list(range(20, 40))
    assert number(second.train) == list(range(20))
    # A second apart instead of three, one item on the training side of each cut is too near.
    near = within_session(table_of(starts // 3, targets, "btbank1_1"), in_time=True).folds[0]
    assert number(near.train) == list(range(21, 40))
    assert number(near.validation) == list(range(9))


def test_bins_of_a_time_course_have_the_folds_of_the_whole_second():
    rng = np.random.default_rng(3)
    starts, targets = rng.integers(0, 300 * WINDOW, 200), rng.integers(0, 2, 200)
    whole, early, late = (
        within_session(table_of(starts + shift, targets, "btbank1_1", length), in_time=True).hash
        for shift, length in ((0, WINDOW), (-1024, 512), (1000, 1000))
    )
    assert whole == early == late
    wider = within_session(table_of(starts, targets, "btbank1_1", 2 * WINDOW), in_time=True)
    assert wider.hash != whole


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (np.r_[np.zeros(20), np.tile([1, 0], 10)], "fold 0: .* held-out part has no example of class 1"),
        (
            np.r_[np.ones(1), np.zeros(38), np.ones(1)],
            "fold 0: no cut in time leaves examples of every class",
        ),
        (np.r_[np.tile([1, 0], 10), np.zeros(20)], "fold 0: .* training part has no example of class 1"),
    ],
)
def test_a_class_confined_to_one_stretch_is_refused_by_name(targets, message):
    table = table_of(np.arange(40) * 3 * WINDOW, targets.astype(int), "btbank1_1")
    with pytest.raises(InputError, match=message):
        within_session(table, in_time=True)


def test_classes_cut_apart_are_measured_in_seconds():
    # Class 1 is cut between 10 and 11 s, class 0 between 40 and 50 s: 29 s lie between the two cuts.
    starts = np.array([9, 10, 11, 12, 30, 40, 50, 60]) * WINDOW
    table = table_of(starts, np.array([1, 1, 1, 1, 0, 0, 0, 0]), "btbank1_1")
    ids = table["id"].tolist()
    first, second = [*ids[:2], *ids[4:6]], [*ids[2:4], *ids[6:]]
    split = Split("halves", (Fold("a", tuple(first), tuple(second)), Fold("b", tuple(second), tuple(first))))
    assert fold_leakage(table, split, 2048)["class_cuts_differ_s"].tolist() == [29.0, 29.0]
    other = Split("elsewhere", (Fold("c", ("x",), tuple(ids)),))
    elsewhere = pd.concat([table, table_of(starts[:1], np.ones(1), "btbank1_2").assign(id="x")])
    assert np.isnan(fold_leakage(elsewhere, other, 2048)["class_cuts_differ_s"]).all()


def test_a_film_in_training_and_in_another_judged_session_is_named():
    starts, targets = np.arange(10) * 3 * WINDOW, np.tile([1, 0], 5)
    table = pd.concat([table_of(starts, targets, name) for name in ("btbank3_0", "btbank3_1", "btbank7_0")])
    ids = {name: tuple(group["id"]) for name, group in table.groupby("session")}
    pooled = Fold("pooled", (*ids["btbank3_0"], *ids["btbank3_1"]), ids["btbank7_0"])
    within = Fold("within", ids["btbank3_0"][:5], ids["btbank3_0"][5:])
    measured = fold_leakage(table, Split("s", (pooled, within)), 2048)
    assert measured["films_in_both"].tolist() == ["cars-2", ""]


def test_any_benchmark_can_be_measured():
    benchmark = toy_benchmark()
    table = leakage(benchmark, "within")
    assert table["fold"].tolist() == [
        f"{session}/{half}" for session in ("1_0", "1_1", "2_0", "2_1") for half in (0, 1)
    ]
    assert (table["test_shares_train"] == 0).all()
    # Windows of half a second start 0.8 s apart: at the one cut the gap is 0.3 s, less than a window.
    assert (table["test_in_embargo"] == 1).all()
    assert (leakage(benchmark, "within", embargo_s=0.3)["test_in_embargo"] == 0).all()
    assert describe_leakage(table).endswith("all classes are cut at once.")


@needs_shared
@pytest.mark.parametrize(
    ("session", "task", "shared", "apart_s"),
    [("2_0", "pitch", (60, 71), 539), ("4_0", "pitch", (22, 19), 296), ("4_1", "speech", (0, 0), 723)],
)
def test_the_leak_of_the_published_folds_on_real_annotations(session, task, shared, apart_s):
    subject, trial = session.split("_")
    tables = [
        pd.read_csv(FOLDER / "annotations" / f"subject{subject}_trial{trial}_{kind}_df.csv")
        for kind in ("words", "nonverbal")
    ]
    movie = {"2_0": "venom", "4_0": "shrek-the-third", "4_1": "megamind"}[session]
    pitch = json.loads((FOLDER / "pitch" / f"{movie}_pitch_volume_features.json").read_text())
    items = examples(task, *tables, pitch=pitch)
    table = table_of(items["start"].to_numpy(), items["label"].to_numpy(), f"btbank{session}")
    published = fold_leakage(table, within_session(table, validation=False), 2048)
    assert tuple(published["test_shares_train"]) == shared
    assert published["class_cuts_differ_s"].round().tolist() == [apart_s] * 2
    for n_folds in (2, 5):
        strict = fold_leakage(table, within_session(table, n_folds=n_folds, in_time=True), 2048)
        assert (strict[["test_shares_train", "test_in_embargo", "class_cuts_differ_s"]] == 0).all(axis=None)
        # What the embargo costs: a handful of training items a cut.
        assert strict["n_train"].min() >= len(table) * (n_folds - 1) / n_folds - 8
