"""Clauses of the two Neuroprobe papers: each row of the page is tested, and thin gaps are held here."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

import track_twins
from neuroarena import evaluate, load_benchmark, load_dataset
from neuroarena.decoders import load_decoder
from neuroarena.decoders.grid import decoder_grid, parse_grid
from neuroarena.families.neuroprobe import TASKS, examples, time_bins
from neuroarena.families.neuroprobe.braintreebank.facts import MOVIES, UNLOCATED
from neuroarena.families.neuroprobe.folds import cross_session, cross_subject, within_session
from neuroarena.families.neuroprobe.sessions import FULL, LITE, session_key, subset_electrodes
from neuroarena.families.neuroprobe.tasks import class_rows
from neuroarena.features import Laplacian, Notch, Spectrogram

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "neuroprobe-clauses.md"
CITED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
MARKS = ("held", "differs (", "not held yet (")


# --- the page --------------------------------------------------------------------------------------


@cache
def rows() -> tuple[tuple[str, ...], ...]:
    """Cells of every clause on the page: clause, how it is honoured, tests, mark."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in lines]
    return tuple(row for row in cells if row[0] != "clause")


@cache
def functions(path: str) -> frozenset[str]:
    text = (ROOT / path).read_text(encoding="utf-8")
    return frozenset(re.findall(r"^\s*def (test_\w+)\(", text, re.M))


def test_every_test_the_page_names_exists():
    cited = CITED.findall(PAGE.read_text(encoding="utf-8"))
    assert len(cited) > 80
    missing = [f"{path}::{name}" for path, name in cited if name not in functions(path)]
    assert missing == []


def test_every_clause_has_a_paper_and_a_mark_and_a_test_unless_it_is_not_held():
    assert len(rows()) > 80
    for row in rows():
        assert len(row) == 4, row
        clause, _, tests, mark = row
        assert re.search(r"\(P1|\(P2", clause), clause
        assert mark == "held" or mark.startswith(MARKS[1:]), row
        assert bool(CITED.search(tests)) != mark.startswith("not held"), clause


def test_the_page_counts_its_marks():
    counts = [sum(row[3].startswith(mark) for row in rows()) for mark in MARKS]
    text = PAGE.read_text(encoding="utf-8")
    assert "{} held, {} differ, {} not held yet".format(*counts) in text


# --- data and sessions -----------------------------------------------------------------------------


def test_ten_people_saw_twenty_six_films_of_which_twenty_one_are_different():
    assert set(MOVIES) == set(FULL)
    assert (len({subject for subject, _ in FULL}), len(FULL), len(set(MOVIES.values()))) == (10, 26, 21)
    # The second paper names another film for the session that trains across subjects; its words say this one.
    assert MOVIES[2, 4] == "avengers-infinity-war"
    assert load_dataset("braintreebank").licence == "CC BY 4.0"


def test_the_lite_sessions_are_two_of_each_of_six_people():
    listed = {1: (1, 2), 2: (0, 4), 3: (0, 1), 4: (0, 1), 7: (0, 1), 10: (0, 1)}
    assert tuple((subject, trial) for subject, trials in listed.items() for trial in trials) == LITE


def test_lite_electrodes_number_at_most_120_and_all_have_a_place():
    for subject in range(1, 11):
        names = subset_electrodes("lite", subject)
        assert len(names) == len(set(names)) <= 120
        assert not set(names) & set(UNLOCATED.get(subject, ()))
        assert len(subset_electrodes("lite", subject, "2025.07")) <= 120


# --- classes and sampling --------------------------------------------------------------------------

CLASSES = [
    ("face_num", "face_num", [0, 1, 2, 5], ([0], [1, 2, 3]), ([0], [1], [2, 3])),
    ("word_index", "idx_in_sentence", [0, 1, 2, 3], ([1], [0]), ([0], [1], [2, 3])),
    ("word_head_pos", "bin_head", [0, 1, 1, 0], ([1, 2], [0, 3]), ([1, 2], [0, 3])),
    (
        "word_part_speech",
        "pos",
        ["ADV", "NOUN", "VERB", "PRON", "DET", "ADJ", "X"],
        ([1], [2]),
        ([1], [2], [3], [4], [5], [0]),
    ),
]


@pytest.mark.parametrize(("task", "column", "values", "binary", "multiclass"), CLASSES)
def test_words_fall_into_the_classes_of_the_fifteen_tasks(task, column, values, binary, multiclass):
    words = pd.DataFrame({"original_index": range(len(values)), column: values})
    for form, expected in ((False, binary), (True, multiclass)):
        found = class_rows(TASKS[task], words, 0, form, strict_gap=False)
        assert [rows.tolist() for rows in found] == [list(each) for each in expected]


SCALARS = [name for name, task in TASKS.items() if task.rule == "scalar"]


def long_session(n: int = 8000) -> dict:
    """n words a second apart; every number is a shuffled ranking without ties."""
    ranking = np.random.default_rng(0).permutation(n)
    words = pd.DataFrame(
        {
            "original_index": range(n),
            "est_idx": 2048.0 * np.arange(n),
            "est_end_idx": 2048.0 * np.arange(n) + 500,
            "start": np.arange(n) * 1.0,
            "end": np.arange(n) + 0.25,
        }
    )
    features = pd.DataFrame({TASKS[name].column: ranking for name in SCALARS if name != "pitch"})
    features["pos"] = np.resize(["NOUN", "VERB", "PRON", "DET", "ADJ", "ADV"], n)
    pitch = {f"{row}.0": {"enhanced_pitch": float(value)} for row, value in enumerate(ranking)}
    nonverbal = pd.DataFrame({"est_idx": [0], "est_end_idx": [2048]})
    return {"words": words, "nonverbal": nonverbal, "features": features, "pitch": pitch}


@pytest.mark.parametrize("task", SCALARS)
def test_ranked_tasks_take_the_outer_quarters_and_the_middle_quarter_of_a_session(task):
    tables = long_session()
    share = tables["features"]["rms"].to_numpy() / 8000
    bands = {False: [(0, 0.25), (0.75, 1)], True: [(0, 0.25), (0.375, 0.625), (0.75, 1)]}
    for multiclass, expected in bands.items():
        items = examples(task, **tables, multiclass=multiclass, subset="full")
        for label, (low, high) in enumerate(expected):
            inside = share[items.loc[items["label"] == label, "start"] // 2048]
            assert len(inside) in (1999, 2000)
            assert ((inside >= low) & (inside < high)).all()


@pytest.mark.parametrize(
    ("task", "multiclass", "each", "classes"),
    [("volume", False, 1750, 2), ("volume", True, 1166, 3), ("word_part_speech", True, 583, 6)],
)
def test_lite_takes_at_most_3500_items_equally_many_of_each_class(task, multiclass, each, classes):
    items = examples(task, **long_session(), multiclass=multiclass)
    assert items["label"].value_counts().to_dict() == dict.fromkeys(range(classes), each)
    # Drawn from the whole session, not the first of it: the package does so, the text says otherwise.
    assert items["start"].max() > 0.95 * 8000 * 2048


# --- folds -----------------------------------------------------------------------------------------


def items_of(sessions: list[str], n: int = 40) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "id": f"{key}-{item:05d}",
                "session": key,
                "subject": key[6:].partition("_")[0],
                "target": item % 2,
            }
            for key in sessions
            for item in range(n)
        ]
    )


LITE_ITEMS = items_of([session_key(session) for session in LITE])


def test_without_a_validation_part_half_is_trained_on_and_half_is_judged():
    folds = within_session(items_of(["btbank1_1"], 3134), validation=False).folds
    assert [(len(fold.train), len(fold.test)) for fold in folds] == [(1567, 1567)] * 2
    five = within_session(items_of(["btbank1_1"], 100), n_folds=5, validation=False).folds
    assert [(len(fold.train), len(fold.test)) for fold in five] == [(80, 20)] * 5


def test_within_a_session_what_is_held_out_is_one_block_of_the_list():
    for n_folds in (2, 5):
        for fold in within_session(items_of(["btbank1_1"], 101), n_folds=n_folds).folds:
            numbers = [int(each.rpartition("-")[2]) for each in (*fold.validation, *fold.test)]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_across_sessions_each_lite_session_is_judged_by_its_sibling():
    split = cross_session(LITE_ITEMS)
    assert len(split.folds) == 12
    pairs = {(fold.name, each.partition("-")[0]) for fold in split.folds for each in fold.train}
    assert len(pairs) == 12
    for judged, trained in pairs:
        assert judged != trained
        assert judged.partition("_")[0] == trained.partition("_")[0]


def test_across_subjects_ten_lite_sessions_are_judged_after_training_on_subject_2():
    split = cross_subject(LITE_ITEMS)
    assert {fold.name for fold in split.folds} == {session_key(each) for each in LITE if each[0] != 2}
    assert {each.partition("-")[0] for fold in split.folds for each in fold.train} == {"btbank2_4"}


# --- features and decoders -------------------------------------------------------------------------


def test_the_linear_decoders_have_as_many_weights_as_the_papers_say():
    sizes = {
        name: int(np.prod(load_decoder(name).features.output_shape(120, 2048, 2048.0)))
        for name in ("linear", "linear-spectrogram", "linear-laplacian-spectrogram")
    }
    assert sizes == {
        "linear": 120 * 2048,
        "linear-spectrogram": 77_520,
        "linear-laplacian-spectrogram": 77_520,
    }
    assert load_decoder("linear-laplacian-spectrogram").features.steps == (Laplacian(), Spectrogram())
    settings = Spectrogram(window_samples=512, overlap=0.75, min_hz=0.0, max_hz=150.0, window="hann")
    assert load_decoder("linear-spectrogram").features.steps == (settings,)


def test_all_frames_of_brainbert_are_three_million_features():
    pytest.importorskip("safetensors")
    decoder = load_decoder("brainbert-linear", frames="all", reference="none")
    _, frames, _ = decoder.features.output_shape(120, 2048, 2048.0)
    assert 120 * frames * 768 == 3_133_440


@pytest.mark.parametrize("name", ["linear-stft", "linear-spectrogram"])
def test_the_short_frames_of_the_first_paper_are_one_grid_away(name):
    grid = parse_grid(
        ["features.nperseg=256", "features.overlap=0.0", "features.window=boxcar", "features.max_hz=1024.0"]
    )
    ((_, decoder),) = decoder_grid(name, load_decoder(name), grid)
    (step,) = decoder.features.steps
    assert (step.window_samples, step.overlap, step.window) == (256, 0.0, "boxcar")
    assert step.output == ("complex-parts" if name == "linear-stft" else "magnitude")
    shape = decoder.features.output_shape(120, 2048, 2048.0)
    assert shape == ((120, 9, 129, 2) if name == "linear-stft" else (120, 9, 129))


def test_popt_trains_its_body_ten_times_slower_and_takes_a_thousand_steps_on_request():
    pytest.importorskip("safetensors")
    schedule = load_decoder("popt-finetuned", size="tiny", steps=1000).schedule
    assert schedule.steps == 1000
    assert schedule.head_rate == pytest.approx(10 * schedule.body_rate)


def test_line_noise_is_notched_at_60_hz_and_four_harmonics():
    assert tuple(Notch().frequencies_hz) == (60, 120, 180, 240, 300)


def test_time_bins_may_be_125_ms_wide():
    bins = time_bins(window_s=0.125, stride_s=0.125)
    assert bins[0] == (-0.5, -0.375)
    assert all(stop - start == 0.125 for start, stop in bins)
    assert (0.125, 0.25) in bins


def test_the_graph_network_has_normalised_temporal_layers_two_graph_layers_and_a_mean_over_electrodes():
    torch = pytest.importorskip("torch")
    inputs = np.random.default_rng(0).standard_normal((20, 12, 17, 38)).astype(np.float32)
    decoder = load_decoder("stgcn-no-attention")
    module = decoder.build(inputs, 2).eval()
    kinds = [type(layer).__name__ for layer in module.temporal]
    assert kinds == ["Conv1d", "BatchNorm1d", "ReLU"] * 2
    assert len(module.graph) == 2
    seen: list[torch.Tensor] = []
    module.graph[1].register_forward_hook(lambda *call: seen.append(call[2]))
    said = module(torch.from_numpy(inputs))
    torch.testing.assert_close(said, module.classify(seen[0].mean(dim=1)))
    assert (decoder.neighbours, decoder.dropout, decoder.batch_size) == (8, 0.4, 64)


@pytest.fixture(scope="module")
def twin() -> str:
    return str(track_twins.twin("braintreebank", minutes=2, subjects=1))


@pytest.mark.parametrize("task", ["onset", "volume"])
def test_the_linear_baseline_equals_scikit_learn_on_laplacian_spectrograms_of_a_twin(task, twin):
    benchmark = load_benchmark(f"neuroprobe/{task}", data=twin)
    result = evaluate("linear-laplacian-spectrogram", benchmark, "cross-session")
    found = result.unit_scores.table.set_index("unit")["score"]
    chain = (Laplacian(), Spectrogram())
    table = benchmark.examples.set_index("id")

    def features(ids: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
        (session,) = table.loc[list(ids), "session"].unique()
        recording = benchmark.recording(session)
        assert recording.rate_hz == 2048
        values = recording.windows(table.loc[list(ids), "start"].to_numpy(), 2048)
        channels = recording.channels
        for step in chain:
            values, channels = step(values, channels, recording.rate_hz)
        return values.reshape(len(ids), -1), table.loc[list(ids), "target"].to_numpy()

    folds = benchmark.split("cross-session").folds
    assert sorted(found.index) == [fold.name for fold in folds] == ["btbank1_1", "btbank1_2"]
    for fold in folds:
        (train, train_y), (test, test_y) = features(fold.train), features(fold.test)
        assert train.shape[1] == 16 * 17 * 38
        scaler = StandardScaler().fit(train)
        model = LogisticRegression(C=1, tol=1e-3, max_iter=10_000).fit(scaler.transform(train), train_y)
        expected = roc_auc_score(test_y, model.predict_proba(scaler.transform(test))[:, 1])
        assert found[fold.name] == pytest.approx(expected, abs=1e-6)


def test_a_run_without_a_split_takes_the_first_and_says_so(twin):
    benchmark = load_benchmark("neuroprobe/onset", data=twin)
    result = evaluate("chance", benchmark)
    assert result.record.split.name == benchmark.splits[0] == "within-session"


def test_single_electrodes_may_be_asked_of_the_full_subset(twin):
    options = {"data": twin, "subset": "full", "level": "electrode"}
    benchmark = load_benchmark("neuroprobe/onset", **options)
    electrodes = benchmark.examples["unit"].nunique()
    assert electrodes >= 2 * 16
    assert len(benchmark.split("within-session").folds) == 2 * electrodes
