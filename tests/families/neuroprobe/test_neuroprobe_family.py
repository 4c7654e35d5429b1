"""Neuroprobe on a BrainTreebank folder: every task, what is planted is found, nothing is left out silently."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from twin_copies import copy_twin

import track_twins
from neuroarena import evaluate, load_benchmark, load_dataset
from neuroarena.benchmarks import Suite
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe import FAMILY, TASKS, describe_leakage, leakage, tasks_of

PUBLISHED = {"2025.10": "2c0a6e3381e2", "2025.09": "222d70f80831"}


@pytest.fixture(scope="module")
def twin():
    return str(track_twins.twin("braintreebank", minutes=8))


def test_every_manifest_agrees_with_its_task():
    assert FAMILY.definitions == ("2025.10", "2025.09", "2025.07", "strict")
    hashes = set()
    for definition in FAMILY.definitions:
        assert FAMILY.tasks(definition) == tuple(tasks_of(definition))
        for name, task in tasks_of(definition).items():
            manifest = FAMILY.manifest(name, definition)
            assert (manifest.title, manifest.definition) == (task.title, definition)
            assert len(manifest.classes) == task.n_classes(multiclass=False)
            assert manifest.caps == {"items_lite": 3500, "items_nano": 1000}
            hashes.add(manifest.hash)
    assert len(hashes) == 3 * 15 + 19


def test_published_manifests_do_not_change():
    # A changed hash means a changed question: that is a new definition, never an edit of an old one.
    hashes = {each: FAMILY.manifest("onset", each).hash[:12] for each in ("2025.10", "2025.09")}
    assert hashes == PUBLISHED


# The newest definition is quick, and a task of each rule of the strict one; the others are built by the same code.
QUICK = {("2025.10", task) for task in FAMILY.tasks("2025.10")}
QUICK |= {
    ("strict", task) for task in {each.rule: name for name, each in tasks_of("strict").items()}.values()
}
EVERY_TASK = [
    pytest.param(definition, task, marks=() if (definition, task) in QUICK else pytest.mark.drill)
    for definition in FAMILY.definitions
    for task in FAMILY.tasks(definition)
]


@pytest.mark.parametrize(("definition", "task"), EVERY_TASK)
def test_every_task_has_items_enough_in_every_session(definition, task, twin):
    benchmark = load_benchmark(f"neuroprobe@{definition}/{task}", data=twin)
    counts = benchmark.examples.groupby(["session", "target"]).size().unstack()
    assert (counts.sum(axis=1) >= 200).all()
    ranked = tasks_of(definition)[task].rule in ("scalar", "gap")
    # What 2025.07 ranks is not balanced: the low class holds the first quartile, the high one a word less.
    assert ((counts[0] - counts[1]).abs() <= (2 if definition == "2025.07" and ranked else 0)).all()
    for name in ("within-session", "cross-session", "cross-subject"):
        split = benchmark.split(name)
        assert benchmark.truth(split)["id"].is_unique
        assert all(bool(fold.validation) == (definition in ("2025.10", "strict")) for fold in split.folds)


@pytest.mark.parametrize(
    "task",
    [
        "volume",
        *(pytest.param(task, marks=pytest.mark.drill) for task in ("onset", "word_length", "face_num")),
    ],
)
def test_what_the_published_folds_share_and_the_strict_ones_do_not(task, twin):
    shared = {
        definition: leakage(load_benchmark(f"neuroprobe@{definition}/{task}", data=twin), "within-session")
        for definition in ("2025.10", "2025.09", "strict")
    }
    assert shared["2025.10"]["test_shares_train"].sum() > 0
    assert shared["2025.09"]["class_cuts_differ_s"].max() > 1
    assert (shared["strict"][["test_shares_train", "test_in_embargo", "class_cuts_differ_s"]] == 0).all(
        axis=None
    )
    assert describe_leakage(shared["strict"]).startswith("Of ")


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
    folder = copy_twin(twin, tmp_path / "real")
    (folder / "simulated.json").unlink()
    with pytest.raises(InputError, match=r"needs the sessions btbank3_0, .*nothing is left out silently"):
        load_benchmark("neuroprobe/onset", data=str(folder))
    chosen = load_benchmark("neuroprobe/onset", data=str(folder), sessions=["1_1", "1_2"])
    assert not chosen.simulated
    with pytest.raises(InputError, match="electrodes of the subset lite are not in this folder"):
        chosen.recording("btbank1_1")


def test_unknown_options_are_refused(twin):
    with pytest.raises(
        InputError, match=r'No neuroprobe option "colour"\. See: neuroarena list options neuroprobe'
    ):
        load_benchmark("neuroprobe/onset", data=twin, colour="red")


def test_a_session_without_a_class_is_named(twin, tmp_path):
    folder = copy_twin(twin, tmp_path / "changed")
    for path in folder.glob("transcripts/*/features.csv"):
        table = pd.read_csv(path, index_col=0)
        table["face_num"] = 0
        table.to_csv(path)
    with pytest.raises(InputError, match="btbank1_1: face_num: class 1 has no example"):
        load_benchmark("neuroprobe/face_num", data=str(folder)).examples  # noqa: B018


def test_without_the_pitch_table_the_column_stands_in_and_the_result_says_so(twin, tmp_path):
    folder = copy_twin(twin, tmp_path / "without")
    for path in folder.glob("transcripts/*/*_pitch_volume_features.json"):
        path.unlink()
    published, own = (load_benchmark("neuroprobe/pitch", data=str(data)) for data in (twin, folder))
    assert "was ranked instead" in own.notes[0]
    assert own.manifest.hash != published.manifest.hash
    features = pd.read_csv(next(folder.glob("transcripts/the-martian/features.csv")), index_col=0)
    assert len(own.examples[own.examples["session"] == "btbank1_1"]) >= 200
    assert features["pitch"].notna().all()
    (folder / "simulated.json").unlink()
    assert not [
        problem for problem in load_dataset("braintreebank").verify(folder) if "pitch" in problem.what
    ]
