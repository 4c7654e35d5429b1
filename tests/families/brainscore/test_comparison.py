"""Comparisons as results: what each kind of Score is made of, what is kept, and what is said where nothing is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tiny_recordings import PixelModel, pixels, recordings, stimuli

from neuroarena.board import Board, Rules, entries_from_results
from neuroarena.errors import InputError
from neuroarena.evaluation import evaluate, load_result
from neuroarena.families.brainscore import (
    NeuralBenchmark,
    RSABenchmark,
    TrainTestNeuralBenchmark,
    load_metric,
)
from neuroarena.families.brainscore.comparison import NeuralComparison
from toy import toy_benchmark


def parts(array, at=40):
    """Training and test assemblies of other stimuli."""
    return array.isel(presentation=slice(0, at)), array.isel(presentation=slice(at, None))


def rsa():
    return RSABenchmark(
        "Tiny.IT-rsa", recordings(neuroids=40, noise=1.0), visual_degrees=8, number_of_trials=1
    )


def train_test(**options):
    first, second = parts(recordings(noise=0.2))
    return TrainTestNeuralBenchmark(
        "Tiny.IT-split", first, second, load_metric("ridge_split"), 8, 1, ceiling_func=lambda: 0.9, **options
    )


def test_rsa_is_ranked_over_subjects_and_keeps_the_rows_of_the_models_dissimilarities(tmp_path):
    result = evaluate(PixelModel(), NeuralComparison(rsa()), out=tmp_path)
    assert result.unit_scores.table["unit"].tolist() == ["monkey0", "monkey1"]
    assert result.unit_scores.value == pytest.approx(result.score, abs=1e-12)
    assert result.manifest.unit == "subject"
    kept = load_result(result.folder).predictions
    expected = 1 - np.corrcoef(pixels(stimuli()))
    np.testing.assert_allclose(np.stack(kept["values"]), expected, atol=1e-6)
    assert kept["id"].tolist() == list(stimuli().ids)
    ranking = Board(entries_from_results([result]), Rules(n_draws=100)).rankings[0]
    assert ranking.table["score"].tolist() == pytest.approx([result.score], abs=1e-12)


@pytest.mark.parametrize("options", [{}, {"alpha_coord": "subject"}], ids=["all", "by subject"])
def test_a_fixed_test_part_keeps_its_predictions_and_its_units_make_the_score(options):
    result = evaluate(PixelModel(), NeuralComparison(train_test(**options)))
    assert result.unit_scores.value == pytest.approx(result.score, abs=1e-12)
    assert set(result.predictions["id"]) == set(list(stimuli().ids)[40:])
    assert result.manifest.unit == ("subject" if options else "neuroid")


def test_a_metric_that_aggregates_in_its_own_way_is_kept_and_says_why_it_cannot_rank():
    class Best(type(load_metric("ridge"))):
        def aggregate(self, scores):
            return scores.max("neuroid")

    benchmark = NeuralBenchmark("Tiny.IT-best", recordings(), Best("ridge"), 8, 1, ceiling_func=lambda: 0.9)
    result = evaluate(PixelModel(), NeuralComparison(benchmark))
    assert result.score is not None
    assert result.unit_scores is None
    assert "aggregates its neuroids in a way of its own" in result.record.left_out["unit_scores"]
    (reason,) = Board(entries_from_results([result])).rankings[0].unranked["reason"]
    assert "in a way of its own" in reason


def test_the_interval_of_a_median_is_that_of_drawing_neuroids_and_taking_their_median_again():
    benchmark = NeuralBenchmark(
        "Tiny.IT-ridge", recordings(neuroids=7), load_metric("ridge"), 8, 1, ceiling_func=lambda: 0.9
    )
    result = evaluate(PixelModel(), NeuralComparison(benchmark))
    wide = result.unit_scores.table.pivot(index="fold", columns="unit", values="raw").to_numpy()
    clusters = result.unit_scores.by_unit()["cluster"].to_numpy()
    rng, scores = np.random.default_rng(0), []
    for _ in range(4000):
        # The rule of boards: a subject that is drawn twice brings the same neuroids twice.
        owned = {owner: np.flatnonzero(clusters == owner) for owner in ("monkey0", "monkey1")}
        inside = {owner: rng.choice(own, len(own)).tolist() for owner, own in owned.items()}
        drawn = [at for owner in rng.choice(["monkey0", "monkey1"], 2) for at in inside[owner]]
        r = np.median(wide[:, drawn], axis=1).mean()
        scores.append(np.sign(r) * r**2 / 0.9)
    row = Board(entries_from_results([result]), Rules(inference="seed")).rankings[0].table.iloc[0]
    assert [row["ci95_low"], row["ci95_high"]] == pytest.approx(np.percentile(scores, [2.5, 97.5]), abs=0.03)


def test_models_and_decoders_are_not_asked_together_and_a_split_is_known_by_name():
    from neuroarena.evaluation import evaluate_all

    with pytest.raises(InputError, match="judges models"):
        evaluate_all([(None, PixelModel())], [NeuralComparison(rsa()), toy_benchmark()], [None])
    with pytest.raises(InputError, match='No split "within"'):
        evaluate(PixelModel(), NeuralComparison(rsa()), "within")


class Noise(PixelModel):
    """Sees noise beside the pixels, and so predicts less."""

    identifier = "noise"

    def look_at(self, stimuli_shown, number_of_trials=1):
        seen = super().look_at(stimuli_shown, number_of_trials)
        return seen + np.random.default_rng(1).normal(0, 3, seen.shape)


@pytest.fixture(scope="module")
def two_models():
    benchmark = NeuralBenchmark(
        "Tiny.IT-ridge", recordings(neuroids=7), load_metric("ridge"), 8, 1, ceiling_func=lambda: 0.9
    )
    return [evaluate(model, NeuralComparison(benchmark)) for model in (PixelModel(), Noise())]


def test_models_are_judged_over_images_and_neuroids(two_models):
    ranking = Board(entries_from_results(two_models), Rules(n_draws=100)).rankings[0]
    n_images = two_models[0].predictions["id"].nunique()
    (row,) = ranking.verdicts.itertuples()
    few = "fewer than 5 images per fitted feature"  # 60 images and 48 pixels
    assert row.scope == f"random: {n_images} images x 7 neuroids; {few}; for these 2 subjects"
    assert row.n_levels == 7
    assert row.delta == pytest.approx(abs(two_models[0].score - two_models[1].score))
    assert (ranking.table["ci95_low"] < ranking.table["score"]).all()
    assert (ranking.table["score"] < ranking.table["ci95_high"]).all()


def test_what_an_image_adds_is_the_change_of_the_correlation_without_it(two_models):
    kept = two_models[0].predictions
    own = kept[kept["split"] == "000"]
    array = recordings(neuroids=7).squeeze()
    rows = {str(name): at for at, name in enumerate(array["stimulus_id"].values)}
    target = array.transpose("presentation", "neuroid").values[[rows[name] for name in own["id"]]]
    predicted, added = (np.stack(own[name].tolist()) for name in ("values", "contributions"))
    n = len(own)

    def correlation(neuroid, left):
        return np.corrcoef(predicted[left, neuroid], target[left, neuroid])[0, 1]

    for image in range(n):
        others = np.arange(n) != image
        for neuroid in range(7):
            whole = correlation(neuroid, np.ones(n, dtype=bool))
            expected = n * whole - (n - 1) * correlation(neuroid, others)
            assert added[image, neuroid] == pytest.approx(expected, abs=1e-3)


def test_models_without_the_contributions_of_images_have_no_verdict(two_models):
    old = [replace(one, predictions=one.predictions.drop(columns="contributions")) for one in two_models]
    ranking = Board(entries_from_results(old), Rules(n_draws=100)).rankings[0]
    assert ranking.verdicts["verdict"].tolist() == ["none"]
    assert ranking.table["ci95_low"].isna().all()
    assert any("what each image adds" in warning for warning in ranking.warnings)


def of_enough_images(result, features):
    """The same result, had it been fitted with other numbers of features."""
    reported = {**result.record.reported, "fitted_features": features}
    return replace(result, record=result.record.model_copy(update={"reported": reported}))


def test_noise_of_cells_is_subtracted_only_with_five_images_per_fitted_feature(two_models):
    assert [one.record.reported["fitted_images"] for one in two_models] == [60, 60]
    assert [one.record.reported["fitted_features"] for one in two_models] == [48, 48]
    boards = {
        features: Board(
            entries_from_results(
                [of_enough_images(one, own) for one, own in zip(two_models, features, strict=True)]
            ),
            Rules(n_draws=100),
        )
        for features in ((12, 12), (12, 13), (48, 48))
    }
    (enough,), (one_of_two,), (few,) = (board.rankings[0].verdicts.itertuples() for board in boards.values())
    assert "per fitted feature" not in enough.scope
    assert "fewer than 5 images per fitted feature" in one_of_two.scope
    assert enough.se < one_of_two.se == few.se


def rsa_of_people(people, **options):
    """Representational similarity with several people, who see the images through noise of their own."""
    array = recordings(neuroids=20 * people, noise=1.0)
    names = np.repeat([f"person{number:02d}" for number in range(people)], 20)
    return RSABenchmark(
        "Tiny.IT-rsa",
        array.assign_coords(subject=("neuroid", names)),
        visual_degrees=8,
        number_of_trials=1,
        **options,
    )


@pytest.fixture(scope="module")
def rsa_results(tmp_path_factory):
    """Two models against eight people, written and read again."""
    comparison = NeuralComparison(rsa_of_people(8))
    folder = tmp_path_factory.mktemp("rsa")
    return [load_result(evaluate(model, comparison, out=folder).folder) for model in (PixelModel(), Noise())]


def test_what_an_image_adds_to_rsa_is_the_change_without_its_row_and_column(rsa_results):
    from scipy.stats import spearmanr

    kept = rsa_results[0].predictions
    model, added = (np.stack(kept[name].tolist()) for name in ("values", "contributions"))
    array = rsa_of_people(8).assembly
    assert rsa_results[0].record.reported["contributors"] == [f"person{number:02d}" for number in range(8)]
    for at in (0, 7):
        own = array.isel(neuroid=slice(20 * at, 20 * at + 20))
        person = 1 - np.corrcoef(own.transpose("presentation", "neuroid").values)

        def correlation(images, person=person):
            inner = np.ix_(images, images)
            upper = np.triu_indices(len(images), 1)
            return spearmanr(model[inner][upper], person[inner][upper]).statistic

        for image in (0, 31, 59):
            others = np.delete(np.arange(60), image)
            expected = 60 * correlation(np.arange(60)) - 59 * correlation(others)
            assert added[image, at] == pytest.approx(expected, abs=1e-3)


def test_rsa_is_judged_over_images_and_subjects(rsa_results):
    ranking = Board(entries_from_results(rsa_results), Rules(n_draws=100)).rankings[0]
    (row,) = ranking.verdicts.itertuples()
    assert row.scope == "random: 60 images x 8 subjects"
    assert (row.a, row.verdict, row.n_levels) == ("tiny-pixels", "better", 8)
    assert row.delta == pytest.approx(rsa_results[0].score - rsa_results[1].score)
    ceiling = rsa_results[0].record.reported["ceiling"]
    cells = [np.stack(one.predictions["contributions"].tolist()).astype(float) for one in rsa_results]
    difference = (cells[0] - cells[1]) / ceiling
    by_image, by_person, mean = difference.mean(axis=1), difference.mean(axis=0), difference.mean()
    rest = difference - by_image[:, None] - by_person + mean
    variances = [by_image.var(ddof=1) / 60, by_person.var(ddof=1) / 8, (rest**2).sum() / (60 * 8 * 59 * 7)]
    expected = max(variances[0] + variances[1] - variances[2], *variances[:2])
    assert row.se == pytest.approx(np.sqrt(expected), rel=1e-6)
    table = ranking.table
    assert ((table["ci95_low"] < table["score"]) & (table["score"] < table["ci95_high"])).all()
    assert table["p_top1"].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("people", [2, 5])
def test_few_subjects_are_fixed_and_named(people):
    comparison = NeuralComparison(rsa_of_people(people))
    results = [evaluate(model, comparison) for model in (PixelModel(), Noise())]
    ranking = Board(entries_from_results(results), Rules(n_draws=100)).rankings[0]
    (row,) = ranking.verdicts.itertuples()
    assert row.scope == f"random: 60 images; for these {people} subjects"
    assert (row.n_levels, row.verdict) == (60, "better")


def test_a_score_that_boards_cannot_split_by_image_has_no_verdict():
    comparison = NeuralComparison(rsa_of_people(8, similarity_metric="rdm_cv"))
    results = [evaluate(model, comparison) for model in (PixelModel(), Noise())]
    ranking = Board(entries_from_results(results), Rules(n_draws=100)).rankings[0]
    assert ranking.verdicts["verdict"].tolist() == ["none"]


def test_two_comparisons_on_the_same_images_share_what_these_do_to_the_scores(rsa_results):
    six_of_them = rsa_of_people(8).assembly.isel(neuroid=slice(0, 120))
    again = NeuralComparison(RSABenchmark("Tiny.V4-rsa", six_of_them, visual_degrees=8, number_of_trials=1))
    others = [evaluate(model, again) for model in (PixelModel(), Noise())]
    first, second = (
        Board(entries_from_results(results), Rules(n_draws=100)).rankings[0].shared
        for results in (rsa_results, others)
    )
    assert first.key == second.key
    # The same images are drawn, so that scores on both go up and down together.
    assert np.corrcoef(first.scores[:, 0], second.scores[:, 0])[0, 1] > 0.5
    assert (first.se > 0).all()
