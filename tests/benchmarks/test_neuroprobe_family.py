"""Neuroprobe on a BrainTreebank folder: every task, what is planted is found, nothing is left out silently."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from neuroarena import evaluate, load_benchmark, load_dataset
from neuroarena.benchmarks import Suite
from neuroarena.benchmarks.neuroprobe import FAMILY, TASKS
from neuroarena.errors import InputError


@pytest.fixture(scope="module")
def twin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twin") / "twin"
    load_dataset("braintreebank").simulate(folder, electrodes=16, minutes=8, subjects=2, sessions=2)
    return str(folder)


def test_every_manifest_agrees_with_its_task():
    for definition in FAMILY.definitions:
        assert FAMILY.tasks(definition) == tuple(TASKS)
        for name, task in TASKS.items():
            manifest = FAMILY.manifest(name, definition)
            assert (manifest.title, manifest.definition) == (task.title, definition)
            assert len(manifest.classes) == task.n_classes(multiclass=False)
    hashes = {FAMILY.manifest(task, each).hash for each in FAMILY.definitions for task in TASKS}
    assert len(hashes) == 2 * len(TASKS)


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_items_enough_in_every_session(task, twin):
    benchmark = load_benchmark(f"neuroprobe/{task}", data=twin)
    counts = benchmark.examples.groupby(["session", "target"]).size().unstack()
    assert (counts.sum(axis=1) >= 200).all()
    assert (counts[0] == counts[1]).all()
    for split in ("within-session", "cross-session", "cross-subject"):
        truth = benchmark.truth(benchmark.split(split))
        assert truth["id"].is_unique


def test_the_suite_is_all_tasks_in_order(twin):
    suite = load_benchmark("neuroprobe", data=twin)
    assert isinstance(suite, Suite)
    assert [each.manifest.name.partition("/")[2] for each in suite.benchmarks] == list(TASKS)


def test_multiclass_tasks_have_their_classes(twin):
    benchmark = load_benchmark("neuroprobe/volume", data=twin, multiclass=True)
    assert benchmark.manifest.classes == ("0", "1", "2")
    assert set(benchmark.examples["target"]) == {0, 1, 2}
    assert load_benchmark("neuroprobe/onset", data=twin, multiclass=True).manifest.classes == ("0", "1")
    assert benchmark.manifest.hash != load_benchmark("neuroprobe/volume", data=twin).manifest.hash


def test_the_split_hash_does_not_depend_on_row_order(twin):
    benchmark = load_benchmark("neuroprobe/volume", data=twin)
    shuffled = benchmark.examples.sample(frac=1, random_state=3)
    for name, rule in benchmark.split_rules.items():
        assert rule(shuffled).hash == benchmark.split(name).hash


def test_a_locked_hash_that_differs_is_refused(twin):
    benchmark = load_benchmark("neuroprobe/volume", data=twin)
    locked = benchmark.manifest.replace(split_hashes={"cross-session": "0" * 64})
    changed = type(benchmark)(
        locked, benchmark.make_examples, benchmark.split_rules, benchmark.open_recording
    )
    with pytest.raises(InputError, match="the manifest locks 000000000000"):
        changed.split("cross-session")


def test_a_second_pass_over_cross_session_returns_the_same_windows(twin):
    benchmark = load_benchmark("neuroprobe/speech", data=twin)
    recordings = {key: benchmark.recording(key) for key in ("btbank1_1", "btbank1_2")}
    starts = {
        key: benchmark.examples.loc[benchmark.examples["session"] == key, "start"].to_numpy()[:40]
        for key in recordings
    }
    passes = [[recordings[key].windows(starts[key], 2048) for key in recordings] for _ in range(2)]
    for first, second in zip(*passes, strict=True):
        np.testing.assert_array_equal(first, second)


def test_cross_subject_decoding_joins_people_by_region(twin):
    result = evaluate("linear-spectrogram", "neuroprobe/speech", "cross-subject", data=twin)
    assert result.complete
    assert set(result.unit_scores.table["unit"]) == {"btbank1_1", "btbank1_2"}


def test_a_missing_session_of_real_data_is_an_error(twin, tmp_path):
    import shutil

    folder = shutil.copytree(twin, tmp_path / "real", copy_function=shutil.copy2)
    (folder / "simulated.json").unlink()
    with pytest.raises(InputError, match=r"needs the sessions btbank3_0, .*nothing is left out silently"):
        load_benchmark("neuroprobe/onset", data=str(folder))
    chosen = load_benchmark("neuroprobe/onset", data=str(folder), sessions=["1_1", "1_2"])
    assert not chosen.simulated
    with pytest.raises(InputError, match="electrodes of the subset lite are not in this folder"):
        chosen.recording("btbank1_1")


def test_unknown_options_are_refused(twin):
    with pytest.raises(InputError, match='has no option "colour"; it has subset, multiclass, sessions'):
        load_benchmark("neuroprobe/onset", data=twin, colour="red")


def test_a_session_without_a_class_is_named(twin, tmp_path):
    import shutil

    folder = shutil.copytree(twin, tmp_path / "changed", copy_function=shutil.copy2)
    for path in folder.glob("transcripts/*/features.csv"):
        table = pd.read_csv(path, index_col=0)
        table["face_num"] = 0
        table.to_csv(path)
    with pytest.raises(InputError, match="btbank1_1: face_num: class 1 has no example"):
        load_benchmark("neuroprobe/face_num", data=str(folder)).examples  # noqa: B018


@pytest.mark.drill
@pytest.mark.parametrize("seed", range(5))
def test_what_was_planted_is_found_across_sessions(seed, tmp_path):
    load_dataset("braintreebank").simulate(tmp_path / "twin", seed=seed, ideal=0.80)
    for task in ("onset", "speech", "volume"):
        data = str(tmp_path / "twin")
        found = evaluate("linear-laplacian-spectrogram", f"neuroprobe/{task}", "cross-session", data=data)
        assert 0.70 <= found.score <= 0.82, task


@pytest.mark.drill
@pytest.mark.parametrize("seed", range(5))
def test_where_nothing_was_planted_nothing_is_found(seed, tmp_path):
    load_dataset("braintreebank").simulate(tmp_path / "twin", seed=seed, strength=0)
    rng = np.random.default_rng(seed)
    for task in ("onset", "speech", "volume"):
        benchmark = load_benchmark(f"neuroprobe/{task}", data=str(tmp_path / "twin"))
        found = evaluate("linear-laplacian-spectrogram", benchmark, "cross-session")
        truth = benchmark.truth(benchmark.split("cross-session")).merge(found.predictions, on="id")
        permuted = [_permuted_score(truth, rng) for _ in range(4000)]
        low, high = np.quantile(permuted, [0.0005, 0.9995])
        assert low <= found.score <= high, task


def _permuted_score(truth: pd.DataFrame, rng: np.random.Generator) -> float:
    """Mean AUROC over sessions when the targets of each session are shuffled."""
    scores = []
    for _, group in truth.groupby("unit"):
        target = rng.permutation(group["target"].to_numpy()) == 1
        ranks = group["p_1"].rank().to_numpy()
        n = target.sum()
        scores.append((ranks[target].sum() - n * (n + 1) / 2) / (n * (~target).sum()))
    return float(np.mean(scores))
