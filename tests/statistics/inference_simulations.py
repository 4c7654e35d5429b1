"""Simulated boards whose truth is known, judged through the public functions.

Many repetitions at once: a table whose columns are independent repetitions of one team is a board like any
other, and `score_intervals` returns one interval for each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd

from neuroarena.statistics import (
    LeftOut,
    add_seeds,
    bootstrap,
    cells_of_arrays,
    cells_of_table,
    compare,
    correlation_cells,
    crossed,
    draw_crossed_medians,
    draw_median_correlations,
    draw_medians,
    fix_tasks,
    jackknife,
    judge,
    leave_out,
    leave_out_columns,
    left_out_rank_correlations,
    moments_of_crossed_draws,
    moments_of_draws,
    pseudovalues,
    score_intervals,
)

Sampler = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]

# Each with mean 0, which is the truth that an interval should cover.
DISTRIBUTIONS: dict[str, Sampler] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape) - 1,
    "lognormal": lambda rng, shape: rng.lognormal(size=shape) - np.exp(0.5),
    "t3": lambda rng, shape: rng.standard_t(3, size=shape),
    "near the ceiling": lambda rng, shape: rng.beta(18, 2, size=shape) - 0.9,
    "difference there": lambda rng, shape: rng.beta(18, 2, size=shape) - rng.beta(18, 2, size=shape),
    "60 % ties": lambda rng, shape: rng.choice([-1.0, 0.0, 1.0], p=[0.2, 0.6, 0.2], size=shape),
}


def covers(intervals: pd.DataFrame, truth: float = 0.0) -> float:
    """Return the share of intervals that hold the truth."""
    return float(((intervals["low"] <= truth) & (truth <= intervals["high"])).mean())


def rejects(moments_of: Callable[[np.random.Generator], object], repetitions: int, seed: int) -> float:
    """Return the share of repetitions whose first pair has p at most 0.05."""
    rng = np.random.default_rng(seed)
    p_values = [judge(moments_of(rng))["p"].iloc[0] for _ in range(repetitions)]
    return float(np.mean(np.array(p_values) <= 0.05))


# ---------------------------------------------------------------- one factor


def coverage_of_means(distribution: str, n_units: int, repetitions: int = 20_000) -> float:
    """Return how often the guarded interval of a mean covers it."""
    rng = np.random.default_rng([n_units, len(distribution)])
    return covers(score_intervals(leave_out(DISTRIBUTIONS[distribution](rng, (n_units, repetitions)))))


def coverage_of_percentiles(distribution: str, n_units: int, repetitions: int = 4_000) -> float:
    """Return how often the percentile interval of the seed's rule covers a mean."""
    rng = np.random.default_rng([n_units, len(distribution)])
    scores = DISTRIBUTIONS[distribution](rng, (repetitions, n_units))
    return covers(bootstrap(dict(enumerate(scores)), 2_000).interval())


def clustered_scores(
    sizes: np.ndarray, icc: float, distribution: str, repetitions: int, rng: np.random.Generator
) -> tuple[np.ndarray, list[int]]:
    """Return unit scores (units, repetitions) that share a part within each person, and the persons."""
    people = np.repeat(np.arange(len(sizes)), sizes)
    sample = DISTRIBUTIONS[distribution]
    shared = sample(rng, (len(sizes), repetitions))[people]
    own = sample(rng, (len(people), repetitions))
    return np.sqrt(icc) * shared + np.sqrt(1 - icc) * own, people.tolist()


def coverage_of_clusters(n_people: int, between: tuple[int, int], icc: float, distribution: str) -> float:
    """Return how often the interval covers where people have between so many units each."""
    rng = np.random.default_rng([n_people, *between, int(10 * icc), len(distribution)])
    found = []
    for _ in range(16):  # sizes differ from board to board
        sizes = rng.integers(between[0], between[1] + 1, n_people)
        scores, people = clustered_scores(sizes, icc, distribution, 500, rng)
        found.append(covers(score_intervals(leave_out(scores, people))))
    return float(np.mean(found))


def coverage_with_one_large_level(n_people: int, icc: float) -> float:
    """Return how often the interval covers where one person has half of all units."""
    rng = np.random.default_rng([n_people, int(10 * icc)])
    sizes = np.full(n_people, 6)
    sizes[0] = 6 * (n_people - 1)
    scores, people = clustered_scores(sizes, icc, "normal", 5_000, rng)
    return covers(score_intervals(leave_out(scores, people)))


def coverage_of_units_as_if_independent(icc: float) -> float:
    """Return how often the seed's rule covers with 12 people of 10 units when it is not told of people."""
    rng = np.random.default_rng(int(10 * icc))
    scores, _ = clustered_scores(np.full(12, 10), icc, "normal", 4_000, rng)
    return covers(bootstrap(dict(enumerate(scores.T)), 2_000).interval())


def ratio_left_out(metric: str, n_people: int, repetitions: int, seed: int) -> tuple[LeftOut, LeftOut, float]:
    """Return two teams on the same pooled data, many times over, and the true score of both."""
    rng = np.random.default_rng([n_people, seed])
    n = rng.integers(30, 80, n_people)
    shape = (repetitions, n_people)
    hardness = rng.gamma(10, 0.1, shape)
    if metric == "nrmse":
        mean = rng.normal(0, 0.3, shape)
        sum_y = n * mean + np.sqrt(n) * rng.normal(size=shape)
        sum_y2 = rng.chisquare(n - 1, shape) + sum_y**2 / n
        shared = {"sum_y": sum_y, "sum_y2": sum_y2}
        own = [
            {"sse": 0.5 * hardness * rng.gamma(10, 0.1, shape) * rng.chisquare(n, shape)} for _ in range(2)
        ]
        truth = -np.sqrt(0.5 / 1.09)

        def combine(sums: dict[str, np.ndarray]) -> np.ndarray:
            return -np.sqrt(sums["sse"] / (sums["sum_y2"] - sums["sum_y"] ** 2 / sums["n"]))
    else:
        shared = {}
        own = [{"errors": rng.poisson(0.2 * n * hardness * rng.gamma(10, 0.1, shape))} for _ in range(2)]
        truth = -0.2

        def combine(sums: dict[str, np.ndarray]) -> np.ndarray:
            return -sums["errors"] / sums["n"]

    def left_out(columns: dict[str, np.ndarray]) -> LeftOut:
        whole = {**shared, **columns, "n": np.broadcast_to(n, shape)}
        teams = {at: {name: values[at] for name, values in whole.items()} for at in range(repetitions)}
        return leave_out_columns(teams, combine, weight="n")

    return left_out(own[0]), left_out(own[1]), truth


def coverage_of_ratios(metric: str, n_people: int, repetitions: int = 1_500) -> tuple[float, float]:
    """Return how often the intervals of a pooled score and of a difference of two cover the truth."""
    one, other, truth = ratio_left_out(metric, n_people, repetitions, len(metric))
    difference = LeftOut(one.teams, one.point - other.point, one.scores - other.scores, one.weights)
    return covers(score_intervals(one), truth), covers(score_intervals(difference))


def size_of_medians(distribution: str, n_units: int, repetitions: int = 400) -> float:
    """Return how often medians of two equal teams are called different."""

    def moments_of(rng: np.random.Generator) -> object:
        hardness = rng.normal(0, 1, (n_units, 1))
        table = pd.DataFrame(hardness + DISTRIBUTIONS[distribution](rng, (n_units, 2)), columns=["a", "c"])
        return moments_of_draws(draw_medians(table, rng=rng))

    return rejects(moments_of, repetitions, n_units)


# ---------------------------------------------------------------- families


def false_alarms(n_teams: int, n_units: int, distribution: str = "normal", boards: int = 400) -> float:
    """Return the share of boards of equal teams on which any verdict is `better`."""
    rng = np.random.default_rng([n_teams, n_units, len(distribution)])
    found = []
    for _ in range(boards):
        scores = rng.normal(0, 1, (n_units, 1)) + DISTRIBUTIONS[distribution](rng, (n_units, n_teams))
        found.append((judge(jackknife(leave_out(scores), audit=False))["verdict"] == "better").any())
    return float(np.mean(found))


def false_alarms_of_the_seed(n_teams: int, n_units: int, boards: int = 400) -> float:
    """Return the share of boards of equal teams on which someone is "significantly behind" the leader."""
    rng = np.random.default_rng([n_teams, n_units])
    found = []
    for board in range(boards):
        scores = rng.normal(0, 1, (n_teams, n_units))
        draws = bootstrap(dict(enumerate(scores)), 4_000, seed=board)
        found.append(compare(draws, "leader")["significant_after_holm"].any())
    return float(np.mean(found))


# ---------------------------------------------------------------- several factors


def size_of_two_factors(
    sizes: tuple[int, int], spreads: tuple[float, float, float], kept: float = 1.0, repetitions: int = 500
) -> float:
    """Return how often equal teams are called different; spreads of rows, columns and cells."""
    labels = np.divmod(np.arange(sizes[0] * sizes[1]), sizes[1])

    def moments_of(rng: np.random.Generator) -> object:
        difference = (
            spreads[0] * rng.normal(size=(sizes[0], 1))
            + spreads[1] * rng.normal(size=(1, sizes[1]))
            + spreads[2] * rng.normal(size=sizes)
        )
        if kept == 1.0:
            cells = cells_of_arrays({"a": difference, "c": np.zeros(sizes)}, ("tasks", "people"))
        else:
            there = np.flatnonzero(rng.random(difference.size) < kept)
            table = pd.DataFrame({"a": difference.ravel()[there], "c": 0.0})
            first, second = (label[there].tolist() for label in labels)
            cells = cells_of_table(table, first, second, ("tasks", "people"))
        return crossed(cells)

    return rejects(moments_of, repetitions, sizes[0] * sizes[1])


def ridge_predictions(features: np.ndarray, responses: np.ndarray, folds: int = 5) -> np.ndarray:
    """Return held-out predictions of a ridge regression, each fold predicted from the others."""
    predicted = np.empty_like(responses)
    gram, product = features.T @ features, features.T @ responses
    for start, stop in pairwise(np.linspace(0, len(features), folds + 1).astype(int)):
        x, y = features[start:stop], responses[start:stop]
        penalised = gram - x.T @ x + np.eye(features.shape[1])
        predicted[start:stop] = x @ np.linalg.solve(penalised, product - x.T @ y)
    return predicted


def exchangeable_models(
    n_images: int, n_neuroids: int, rng: np.random.Generator, n_features: int = 40
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return held-out predictions of two models that are equally good by symmetry, and the responses.

    Each model sees 40 of 80 hidden features. A neuroid weighs both halves alike: half of its weights are
    those of all neuroids (so that an image helps one model everywhere), half are its own.
    """
    hidden = rng.normal(size=(2, n_images, n_features))
    common = rng.normal(size=(2, n_features, 1))
    common /= np.linalg.norm(common, axis=1, keepdims=True)
    own = rng.normal(size=(2, n_features, n_neuroids)) / np.sqrt(n_features)
    weights = np.sqrt(0.5) * (common + own)
    responses = (hidden @ weights).sum(axis=0) / np.sqrt(2) + rng.normal(size=(n_images, n_neuroids))
    return {team: ridge_predictions(hidden[at], responses) for at, team in enumerate("ac")}, responses


def exchangeable_called_different(n_images: int, n_neuroids: int, repetitions: int) -> tuple[float, float]:
    """Return how often such models are called different by neuroids alone, and by images and neuroids."""
    rng = np.random.default_rng([n_images, n_neuroids])
    rejected = np.zeros(2)
    for _ in range(repetitions):
        predicted, responses = exchangeable_models(n_images, n_neuroids, rng)
        found = {team: correlation_cells(values, responses) for team, values in predicted.items()}
        cells = {team: values for team, (values, _) in found.items()}
        points = {team: score for team, (_, score) in found.items()}
        alone = leave_out({team: values.mean(axis=0) for team, values in cells.items()})
        both = crossed(cells_of_arrays(cells, ("images", "neuroids"), points), n_images / 40)
        p_values = [judge(moments)["p"].iloc[0] for moments in (jackknife(alone, audit=False), both)]
        rejected += np.array(p_values) <= 0.05
    return float(rejected[0] / repetitions), float(rejected[1] / repetitions)


def called_different_by_medians(
    n_images: int, n_neuroids: int, repetitions: int, n_features: int = 40
) -> tuple[float, float]:
    """Return how often exchangeable models are called different by medians over neuroids.

    First by correlations computed anew in every draw of images, then as boards do it: from what each image adds to
    a correlation, which is all that a result keeps.
    """
    rng = np.random.default_rng([n_images, n_neuroids, 1])
    rejected = np.zeros(2)
    images_per_feature = np.full(2, n_images / n_features)
    for _ in range(repetitions):
        predicted, responses = exchangeable_models(n_images, n_neuroids, rng, n_features)
        whole = draw_median_correlations(predicted, responses)
        cells = {team: correlation_cells(values, responses)[0] for team, values in predicted.items()}
        points = dict(zip(whole.teams, whole.point, strict=True))
        kept = draw_crossed_medians(cells, lambda medians, _: medians, points)
        for at, draws in enumerate((whole, kept)):
            draws = replace(draws, images_per_feature=images_per_feature)
            rejected[at] += judge(moments_of_crossed_draws(draws))["p"].iloc[0] <= 0.05
    return float(rejected[0] / repetitions), float(rejected[1] / repetitions)


def rsa_called_different(
    n_images: int, n_subjects: int, shape: int, repetitions: int = 600
) -> tuple[float, float]:
    """Return how often two RDMs that explain subjects equally well are called different, by Spearman's correlation.

    First by subjects alone, then by images and subjects. Each subject weighs the two models by gamma weights of mean 1
    and this shape: of 4 they differ by half of the mean, of 16 by a quarter.
    """
    rng = np.random.default_rng([n_images, n_subjects])
    rejected = np.zeros(2)

    def distances(points: np.ndarray) -> np.ndarray:
        gram = points @ points.swapaxes(-1, -2)
        own = np.diagonal(gram, axis1=-2, axis2=-1)
        return own[..., :, None] + own[..., None, :] - 2 * gram

    for _ in range(repetitions):
        models = distances(rng.normal(size=(2, n_images, 5)))
        weights = rng.gamma(shape, 1 / shape, (n_subjects, 2))
        noise = distances(rng.normal(size=(n_subjects, n_images, 5)))
        subjects = np.einsum("sm,mij->sij", weights, models) + noise
        found = {team: left_out_rank_correlations(model, subjects) for team, model in enumerate(models)}
        cells = {team: pseudovalues(*both) for team, both in found.items()}
        points = {team: float(score.mean()) for team, (score, _) in found.items()}
        alone = jackknife(leave_out({team: score for team, (score, _) in found.items()}), audit=False)
        both = crossed(cells_of_arrays(cells, ("images", "subjects"), points))
        rejected += [judge(moments)["p"].iloc[0] <= 0.05 for moments in (alone, both)]
    return float(rejected[0] / repetitions), float(rejected[1] / repetitions)


def size_of_task_samples(n_tasks: int, between: float, repetitions: int = 10_000) -> float:
    """Return how often equal teams are called different across tasks that differ; errors within are 1."""
    rng = np.random.default_rng([n_tasks, int(10 * between)])
    differences = between * rng.normal(size=(n_tasks, repetitions)) + rng.normal(size=(n_tasks, repetitions))
    return 1 - covers(score_intervals(leave_out(differences)))


def size_of_these_tasks(between: float, repetitions: int = 200) -> float:
    """Return how often equal teams are called different when 6 tasks that differ are taken as fixed."""

    def moments_of(rng: np.random.Generator) -> object:
        tasks = {}
        for task in range(6):
            units = between * rng.normal() + np.sqrt(20) * rng.normal(size=20)
            tasks[task] = jackknife(leave_out({"a": units, "c": np.zeros(20)}), audit=False)
        return fix_tasks(tasks)

    return rejects(moments_of, repetitions, int(10 * between))


def size_of_seeds(n_seeds: int, n_units: int, noise: float = 0.5, repetitions: int = 500) -> float:
    """Return how often equal models are called different when each was trained with several seeds."""

    def moments_of(rng: np.random.Generator) -> object:
        hardness = rng.normal(size=n_units)
        trained = {
            team: hardness + noise * rng.normal(size=(n_seeds, 1)) + rng.normal(size=(n_seeds, n_units))
            + 0.5 * rng.normal(size=n_units)
            for team in "ac"
        }  # fmt: skip
        means = {team: scores.mean(axis=0) for team, scores in trained.items()}
        return add_seeds(jackknife(leave_out(means), audit=False), trained)

    return rejects(moments_of, repetitions, n_seeds * n_units)
