"""Track 1: its rules, its split, its traps, and what is found in twins of known strength."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.benchmarks import Benchmark, Split, load_benchmark
from neuroarena.board import Board, Rules, entries_from_results
from neuroarena.decoders import Chance, Context, Dummy, Group, Part, n_examples
from neuroarena.decoders.embedding_ridge import EmbeddingRidge
from neuroarena.errors import InputError
from neuroarena.evaluation import evaluate
from neuroarena.families.img import FAMILY, unseen_images
from neuroarena.families.img.things_eeg2 import simulate
from neuroarena.features import FeatureChain
from neuroarena.scoring import check_submission, score, write_submission

SMALL: dict[str, Any] = {
    "subjects": 2,
    "training_images": 200,
    "test_images": 60,
    "training_repetitions": 2,
    "test_repetitions": 2,
    "length": 48,
    "seed": 1,
    "ideal": 0.97,
}


def twin(place: Path, **changes: Any) -> Benchmark:
    simulate(place, **{**SMALL, **changes})
    return FAMILY.load("things-eeg2", "2026", str(place))


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return twin(tmp_path_factory.mktemp("img") / "clean")


@pytest.fixture(scope="module")
def split(benchmark: Benchmark) -> Split:
    return benchmark.split("unseen-images")


def measured(decoder: Any, benchmark: Benchmark) -> dict[str, float]:
    return evaluate(decoder, benchmark, "unseen-images").unit_scores.values()


# Rules


def test_the_rules_are_those_of_the_seed() -> None:
    manifest = FAMILY.manifest("things-eeg2", "2026")
    assert (manifest.metric, manifest.tie_break, manifest.direction) == ("top5", "top1", "higher")
    assert manifest.prediction_columns == ("embedding",)
    assert manifest.caps["vector_length"] == 1536
    assert manifest.unit.startswith("subject x image query block")
    assert manifest.state == "stateless"
    assert manifest.cluster is None
    assert manifest.chance == 5 / 200
    assert FAMILY.splits("things-eeg2", "2026") == ("unseen-images",)


def test_the_size_of_the_test_set_meets_the_half_width_that_is_aimed_at() -> None:
    manifest = FAMILY.manifest("things-eeg2", "2026")
    assert manifest.sigma is not None
    assert manifest.nu is not None
    assert 1.96 * manifest.sigma / np.sqrt(10 * 200) <= manifest.nu


def test_a_unit_is_one_person_and_one_image(benchmark: Benchmark, split: Split) -> None:
    truth = benchmark.truth(split)
    assert truth["unit"].nunique() == 2 * 60
    assert (truth.groupby("unit").size() == 2).all()
    assert all(truth.groupby("unit")["id"].apply(lambda ids: ids.str[:18].nunique() == 1))
    assert (truth["cluster"] == truth["unit"].str.partition("/")[0]).all()


def test_people_of_results_without_clusters_are_read_off_the_names_of_units(benchmark: Benchmark) -> None:
    results = [evaluate(Dummy(), benchmark, name=name) for name in ("new", "old")]
    new, old = entries_from_results(results)
    assert old.unit_scores is not None
    before = replace(old, unit_scores=old.unit_scores.assign(cluster=""))
    [ranking] = Board([new, before], Rules(n_draws=20)).rankings
    assert ranking.table["team"].tolist() == ["new", "old"]
    assert set(ranking.clusters) == {"sub-01", "sub-02"}


def test_other_embeddings_or_candidates_are_another_task(benchmark: Benchmark, tmp_path: Path) -> None:
    published = FAMILY.manifest("things-eeg2", "2026")
    assert benchmark.manifest.hash != published.hash
    assert benchmark.manifest.caps["vector_length"] == 48
    assert benchmark.manifest.chance == 5 / 60
    assert any("48 numbers" in note for note in benchmark.notes)
    as_published = twin(
        tmp_path / "t", subjects=1, training_images=20, test_images=200, test_repetitions=1, length=1536
    )
    assert as_published.manifest == published
    assert as_published.simulated


def test_people_can_be_chosen_and_unknown_ones_are_refused(benchmark: Benchmark, tmp_path: Path) -> None:
    place = str(tmp_path / "t")
    simulate(place, **{**SMALL, "training_images": 20})
    one = load_benchmark("img/things-eeg2", place, subjects=["02"])
    assert [fold.name for fold in one.split("unseen-images").folds] == ["sub-02"]
    with pytest.raises(InputError, match="but sub-09 was requested"):
        load_benchmark("img/things-eeg2", place, subjects=["sub-09"])


# The split


def test_no_judged_image_and_no_look_alike_is_trained_on(benchmark: Benchmark, split: Split) -> None:
    examples = benchmark.examples.set_index("id")
    for fold in split.folds:
        parts = {
            name: examples.loc[list(ids)]
            for name, ids in (("train", fold.train), ("validation", fold.validation), ("test", fold.test))
        }
        assert all(set(part["subject"]) == {fold.name} for part in parts.values())
        for one, other in (("train", "test"), ("validation", "test"), ("train", "validation")):
            assert not set(parts[one]["target"]) & set(parts[other]["target"])
            assert not set(parts[one]["concept"]) & set(parts[other]["concept"])
        assert len(parts["test"]) == 60 * 2
        assert parts["validation"]["target"].nunique() == 20


@given(st.integers(0, 2**32 - 1))
def test_the_split_does_not_change_with_the_order_of_rows(
    benchmark: Benchmark, split: Split, seed: int
) -> None:
    mixed = benchmark.examples.sample(frac=1, random_state=np.random.default_rng(seed))
    assert unseen_images(mixed).hash == split.hash


def test_a_missing_person_changes_nobody_elses_fold(benchmark: Benchmark, split: Split) -> None:
    without = unseen_images(benchmark.examples[benchmark.examples["subject"] != "sub-01"])
    assert [fold.hash for fold in without.folds] == [split.fold("sub-02").hash]


def test_an_image_on_both_sides_is_refused(benchmark: Benchmark) -> None:
    examples = benchmark.examples.copy()
    seen = examples.loc[examples["part"] == "training", "target"].iloc[0]
    examples.loc[examples["id"] == "sub-02_test_00001_01", "target"] = seen
    with pytest.raises(InputError, match="is judged, but was shown in training"):
        unseen_images(examples)


def test_a_missing_recording_is_an_error_and_never_another_split(tmp_path: Path) -> None:
    place = tmp_path / "t"
    loaded = twin(place, training_images=20)
    (place / "preprocessed_data" / "sub-02" / "preprocessed_eeg_test.npy").unlink()
    with pytest.raises(InputError, match="this file does not exist"):
        loaded.split("unseen-images")


# What is decoded


def test_a_ridge_regression_finds_the_planted_response_and_floors_find_nothing(benchmark: Benchmark) -> None:
    ridge = measured(EmbeddingRidge(), benchmark)
    assert 0.35 < ridge["top5"] < 0.97
    assert ridge["top1"] > 2 / 60
    dummy = measured(Dummy(), benchmark)
    assert dummy["top5"] == pytest.approx(5 / 60, abs=1e-12)
    assert dummy["mean_inverse_normalised_rank"] == pytest.approx(0.5, abs=1e-9)
    assert measured(Chance(), benchmark)["top5"] == pytest.approx(5 / 60, abs=0.05)


def test_nothing_is_found_where_nothing_is_planted(tmp_path: Path) -> None:
    empty = twin(tmp_path / "t", strength=0.0)
    assert measured(EmbeddingRidge(), empty)["mean_inverse_normalised_rank"] == pytest.approx(0.5, abs=0.06)


def test_candidates_are_all_test_images_and_not_those_of_a_batch(benchmark: Benchmark, split: Split) -> None:
    truth = benchmark.truth(split)
    rng = np.random.default_rng(0)
    predictions = pd.DataFrame({"id": truth["id"], "embedding": list(rng.standard_normal((len(truth), 48)))})
    scores = score(predictions, truth, benchmark.manifest)
    vectors = np.stack(truth["target"])
    hits = []
    for fold in ("sub-01", "sub-02"):
        rows = (truth["fold"] == fold).to_numpy()
        candidates = np.unique(vectors[rows], axis=0)
        assert len(candidates) == 60
        unit = candidates / np.linalg.norm(candidates, axis=1, keepdims=True)
        said = np.stack(predictions["embedding"])[rows] @ unit.T
        own = [int(np.flatnonzero((candidates == vector).all(axis=1))[0]) for vector in vectors[rows]]
        hits.append((said > said[np.arange(len(own)), own][:, None]).sum(axis=1) < 5)
    assert scores.value == pytest.approx(np.mean(hits), abs=1e-12)


# Traps


@dataclass
class ByOrder:
    """Predicts from the place of a row among the others; looks at nothing else."""

    features: FeatureChain = field(default_factory=FeatureChain)

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> ByOrder:
        targets = np.concatenate([np.asarray(group.targets) for group in train])
        half = len(targets) // 2
        self.halves_ = np.stack([targets[:half].mean(axis=0), targets[half:].mean(axis=0)])
        return self

    def predict(self, test: Part) -> np.ndarray:
        n = n_examples(test)
        return self.halves_[(np.arange(n) >= n / 2).astype(int)]


@dataclass
class ById(ByOrder):
    """Predicts from the order of the ids."""

    def predict(self, test: Part) -> np.ndarray:
        ids = np.concatenate([group.table["id"].to_numpy() for group in test])
        place = np.argsort(np.argsort(ids))
        return self.halves_[(place >= len(ids) / 2).astype(int)]


@dataclass
class ByCalls(ByOrder):
    """Predicts from how often it was asked."""

    calls: int = 0

    def predict(self, test: Part) -> np.ndarray:
        self.calls += 1
        return self.halves_[np.full(n_examples(test), min(self.calls - 1, 1))]


@pytest.fixture(scope="module")
def ordered(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return twin(tmp_path_factory.mktemp("img") / "order", plant_leak="order", test_images=100)


def test_the_order_of_a_leaking_file_tells_the_image_to_one_who_sees_it(ordered: Benchmark) -> None:
    split = ordered.split("unseen-images")
    truth = ordered.truth(split)
    fold = truth[truth["fold"] == "sub-01"].reset_index(drop=True)
    vectors = np.stack(ordered.codebook.vectors(ordered.examples["target"]))
    by_id = dict(zip(ordered.examples["id"], vectors, strict=True))
    train = [
        Group(np.zeros((1, 1, 0)), None, 1.0, None, np.stack([by_id[i] for i in split.fold("sub-01").train]))
    ]
    said = ByOrder().fit(train).halves_[(np.arange(len(fold)) >= len(fold) / 2).astype(int)]
    predictions = pd.DataFrame({"id": fold["id"], "embedding": list(said)})
    found = score(predictions, fold, ordered.manifest).values()
    assert found["mean_inverse_normalised_rank"] > 0.7


@pytest.mark.parametrize("decoder", [ByOrder(), ById(), ByCalls()], ids=lambda each: type(each).__name__)
def test_neither_order_nor_ids_nor_calls_tell_anything_when_it_counts(
    decoder: Any, ordered: Benchmark
) -> None:
    found = measured(decoder, ordered)
    assert found["mean_inverse_normalised_rank"] == pytest.approx(0.5, abs=0.08)
    assert found["top5"] < 0.12


def test_a_label_that_rides_on_a_channel_is_plain_to_see(tmp_path: Path) -> None:
    leaking = twin(tmp_path / "t", plant_leak="channel", strength=0.0)
    names = leaking.recording("sub-01/test").channels["name"].tolist()
    assert names[-1] == "Cz"
    # Nothing is planted in the response, and yet nearly everything is found: that is how a leak looks.
    assert measured(EmbeddingRidge(), leaking)["top5"] > 0.9


def test_a_channel_that_is_no_electrode_is_never_an_input(tmp_path: Path) -> None:
    place = tmp_path / "t"
    loaded = twin(place, training_images=20)
    path = place / "preprocessed_data" / "sub-01" / "preprocessed_eeg_test.npy"
    said = np.load(path, allow_pickle=True).item()
    shape = said["preprocessed_eeg_data"].shape
    label = np.broadcast_to(np.arange(shape[0])[:, None, None, None], (*shape[:2], 1, shape[3]))
    said["preprocessed_eeg_data"] = np.concatenate([said["preprocessed_eeg_data"], label], axis=2)
    said["ch_names"] = [*said["ch_names"], "stim"]
    np.save(path, said, allow_pickle=True)
    recording = loaded.recording("sub-01/test")
    assert recording.channels["name"].tolist() == said["ch_names"][:-1]


def test_decoders_get_neither_image_nor_concept(benchmark: Benchmark) -> None:
    seen: list[set[str]] = []

    @dataclass
    class Looks(ByOrder):
        def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> Looks:
            super().fit(train, validation, context)
            seen.extend(set(group.table.columns) for group in train)
            return self

    evaluate(Looks(), benchmark, "unseen-images")
    assert seen
    assert all(columns == {"id", "subject", "session"} for columns in seen)


# Files


def test_a_submission_is_written_checked_and_scored_as_the_run_was(
    benchmark: Benchmark, split: Split, tmp_path: Path
) -> None:
    truth = benchmark.truth(split)
    result = evaluate(EmbeddingRidge(), benchmark, "unseen-images")
    path = tmp_path / "submission.parquet"
    write_submission(path, result.predictions, benchmark.manifest, model="ridge", contact="a@b.org")
    accepted = check_submission(path, benchmark.manifest, truth[["id"]])
    assert score(accepted.table, truth, benchmark.manifest).values() == result.unit_scores.values()


def test_the_folder_of_embeddings_may_be_elsewhere(tmp_path: Path) -> None:
    place = tmp_path / "t"
    twin(place, training_images=20)
    moved = shutil.move(place / "image_embeddings" / "dinov2-giant.npy", tmp_path / "mine.npy")
    with pytest.raises(InputError, match="expected one file of embeddings"):
        FAMILY.load("things-eeg2", "2026", str(place))
    loaded = load_benchmark("img/things-eeg2", str(place), embeddings=str(moved))
    assert loaded.codebook is not None
    assert loaded.codebook.length == 48


def test_the_variant_without_a_baseline_says_so(tmp_path: Path) -> None:
    loaded = twin(tmp_path / "t", variant="nice", training_images=20, test_images=11, subjects=1)
    assert any("Epochs begin 0 s from the onset" in note for note in loaded.notes)
