"""The paired bootstrap against plain loops, the package it mirrors, and its own promises."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from confidence_intervals import get_bootstrap_indices
from hypothesis import given
from hypothesis import strategies as st
from statistics_oracle import INDICES, loop_scores, sorted_ranks

from neuroarena.statistics import bootstrap, compare, rank_stability, ranks
from neuroarena.statistics import resampling as resampling_module
from neuroarena.statistics.resampling import Layout, block_rows, draw_counts

METHODS = ("exact", "fast")


def make_scores(n_units: int, n_teams: int = 5, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {f"team-{at}": rng.normal(at / 10, 1, n_units) for at in range(n_teams)}


def make_clusters(n_units: int, n_clusters: int, seed: int = 0) -> np.ndarray:
    labels = np.random.default_rng(seed).integers(0, n_clusters, n_units)
    return np.unique(labels, return_inverse=True)[1]


def counts_of(
    n_units: int, n_draws: int, method: str, clusters: np.ndarray | None = None, seed: int = 0
) -> np.ndarray:
    layout = None if clusters is None else Layout.of(clusters)
    return draw_counts(0, n_draws, n_units, layout, method, seed)


@pytest.mark.parametrize("n_units", [1, 2, 3, 17, 64, 200])
@pytest.mark.parametrize("n_clusters", [None, 1, 2, 7, 40])
def test_exact_draws_the_units_that_the_mirrored_package_draws(n_units: int, n_clusters: int | None) -> None:
    clusters = None if n_clusters is None else make_clusters(n_units, n_clusters)
    found = counts_of(n_units, 60, "exact", clusters)
    for draw in range(60):
        drawn = get_bootstrap_indices(n_units, conditions=clusters, random_state=draw)
        np.testing.assert_array_equal(found[draw], np.bincount(drawn, minlength=n_units))


@pytest.mark.parametrize("method", METHODS)
@given(n_units=st.integers(1, 40), n_clusters=st.integers(0, 12), seed=st.integers(0, 1000))
def test_both_methods_equal_a_plain_loop_with_the_same_generators(
    method: str, n_units: int, n_clusters: int, seed: int
) -> None:
    clusters = make_clusters(n_units, n_clusters, seed) if n_clusters else None
    scores = make_scores(n_units, 4, seed)
    expected = loop_scores(scores, 12, method, clusters)
    draws = bootstrap(scores, 12, clusters, method)
    np.testing.assert_allclose(draws.scores, expected, rtol=0, atol=1e-12)
    clear = np.diff(np.sort(expected, axis=1), axis=1).min(axis=1) > 1e-9
    np.testing.assert_array_equal(ranks(draws)[clear], sorted_ranks(expected)[clear])


def test_p_values_and_intervals_equal_those_of_a_plain_loop() -> None:
    scores = make_scores(30)
    for clusters in (None, make_clusters(30, 6)):
        expected = loop_scores(scores, 400, "exact", clusters)
        table = compare(
            bootstrap(scores, 400, clusters, "exact"), [("team-4", "team-1"), ("team-0", "team-2")]
        )
        for row, (a, c) in enumerate([(4, 1), (0, 2)]):
            delta = expected[:, a] - expected[:, c]
            low, high = np.percentile(delta, [2.5, 97.5])
            p = min(1.0, 2 * min(np.mean(delta <= 0), np.mean(delta >= 0)))
            found = table.loc[row, ["delta", "ci95_low", "ci95_high", "p_boot"]].astype(float)
            np.testing.assert_allclose(found, [delta.mean(), low, high, p], rtol=0, atol=1e-12)


def test_a_row_of_legacy_words_that_is_too_short_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clusters = make_clusters(60, 9)
    expected = counts_of(60, 50, "exact", clusters)
    monkeypatch.setattr(resampling_module, "_words_needed", lambda bound: bound + bound // 4 + 1)
    np.testing.assert_array_equal(counts_of(60, 50, "exact", clusters), expected)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("clustered", [False, True])
def test_the_size_of_a_block_and_the_number_of_draws_change_no_draw(method: str, clustered: bool) -> None:
    layout = Layout.of(make_clusters(37, 5)) if clustered else None
    whole = draw_counts(0, 50, 37, layout, method, 3)
    for size in (1, 7, 49):
        parts = [draw_counts(at, min(at + size, 50), 37, layout, method, 3) for at in range(0, 50, size)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_the_first_draws_stay_when_more_are_asked_for() -> None:
    scores = make_scores(300)
    few, many = bootstrap(scores, 700), bootstrap(scores, 1500)
    np.testing.assert_array_equal(many.scores[: block_rows(300)], few.scores[: block_rows(300)])
    np.testing.assert_allclose(many.scores[:700], few.scores, rtol=0, atol=1e-14)


def test_a_seed_repeats_itself_and_another_gives_other_draws() -> None:
    scores = make_scores(40)
    one, same, other = (bootstrap(scores, 100, seed=seed).scores for seed in (5, 5, 6))
    np.testing.assert_array_equal(one, same)
    assert np.mean(one != other) > 0.99


@pytest.mark.parametrize("method", METHODS)
def test_plain_counts_have_the_moments_of_a_multinomial(method: str) -> None:
    # Count of a unit: mean 1, variance 1 - 1/n; covariance of two units -1/n; 20,000 draws of 10 units.
    counts = counts_of(10, 20_000, method)
    assert (counts.sum(axis=1) == 10).all()
    covariance = np.cov(counts.T)
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=0.03)
    np.testing.assert_allclose(np.diag(covariance), 0.9, atol=0.05)
    np.testing.assert_allclose(covariance[~np.eye(10, dtype=bool)], -0.1, atol=0.04)


def test_fast_clustered_counts_follow_the_two_level_rule() -> None:
    clusters = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])
    counts = counts_of(9, 30_000, "fast", clusters)
    times = np.column_stack([counts[:, clusters == label].sum(axis=1) for label in range(3)]) / [3, 2, 4]
    assert (times == np.round(times)).all()  # a whole cluster is repeated, never a part of it
    assert (times.sum(axis=1) == 3).all()
    np.testing.assert_allclose(times.mean(axis=0), 1, atol=0.03)
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=0.04)
    for label in range(3):  # one draw inside, repeated: all counts are multiples of the cluster's
        inside, drawn = counts[:, clusters == label], times[:, label].astype(int)
        assert (inside[drawn == 0] == 0).all()
        assert (inside[drawn == 2] % 2 == 0).all()
        assert (inside[drawn == 3] % 3 == 0).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("clustered", [False, True])
def test_duplicate_teams_tie_exactly_in_every_draw(method: str, clustered: bool) -> None:
    rng = np.random.default_rng(3)
    scores: dict[str, np.ndarray] = {f"t{at}": rng.random(83) / 3 for at in range(23)}
    scores |= {"copy": scores["t7"].copy(), "again": scores["t7"].copy()}
    draws = bootstrap(scores, 600, make_clusters(83, 9) if clustered else None, method)
    own = draws.scores[:, draws.position("t7")]
    for name in ("copy", "again"):
        np.testing.assert_array_equal(draws.scores[:, draws.position(name)], own)
    table = ranks(draws)
    np.testing.assert_array_equal(table[:, draws.position("copy")], table[:, draws.position("t7")])
    row = compare(draws, [("t7", "copy")]).iloc[0]
    assert (row["delta"], row["p_boot"], row["indistinguishable"]) == (0.0, 1.0, True)


@pytest.mark.parametrize("method", METHODS)
@given(shuffle=st.randoms(use_true_random=False))
def test_permuted_rows_and_renamed_teams_give_the_same_numbers(method: str, shuffle: object) -> None:
    rng = np.random.default_rng(1)
    rows = [
        {"team": f"t{team}", "unit": f"u{unit:02d}", "score": rng.random(), "cluster": f"s{unit % 5}"}
        for team in range(6)
        for unit in range(24)
    ]
    table = pd.DataFrame(rows)
    order = list(range(len(table)))
    names = list("zyxwvu")
    shuffle.shuffle(order)  # type: ignore[attr-defined]
    shuffle.shuffle(names)  # type: ignore[attr-defined]
    renamed = table.iloc[order].assign(team=lambda frame: frame["team"].map(lambda team: names[int(team[1])]))
    for clusters in (None, "cluster"):
        one = bootstrap(table, 200, clusters, method).to_frame()
        two = bootstrap(renamed, 200, clusters, method).to_frame()
        for team in range(6):
            np.testing.assert_array_equal(one[f"t{team}"], two[names[team]])


def test_all_forms_of_input_agree() -> None:
    scores = make_scores(15, 3)
    units = [f"u{at:02d}" for at in range(15)]
    labels = [f"s{at % 4}" for at in range(15)]
    series = {team: pd.Series(values, index=units)[::-1] for team, values in scores.items()}
    table = pd.concat(
        [pd.DataFrame({"team": t, "unit": units, "score": v, "cluster": labels}) for t, v in scores.items()]
    )
    by_unit = dict(zip(units, labels, strict=True))
    expected = bootstrap(scores, 50, labels).scores
    for given_scores, clusters in (
        (series, labels),
        (series, by_unit),
        (table, "cluster"),
        (table, True),
        (table, pd.Series(by_unit)),
        (table.rename(columns={"cluster": "subject"}), "subject"),
    ):
        np.testing.assert_array_equal(bootstrap(given_scores, 50, clusters).scores, expected)
    np.testing.assert_array_equal(bootstrap(table, 50).scores, bootstrap(scores, 50).scores)


def test_the_recipe_says_how_the_draws_were_made() -> None:
    draws = bootstrap(make_scores(10), 20, make_clusters(10, 3), seed=11)
    assert draws.recipe["generator"].startswith("Philox")
    assert {name: draws.recipe[name] for name in ("method", "n_draws", "seed", "n_units", "n_clusters")} == {
        "method": "fast",
        "n_draws": 20,
        "seed": 11,
        "n_units": 10,
        "n_clusters": 3,
    }
    assert draws.recipe["numpy"] == np.__version__
    assert bootstrap(make_scores(10), 5, method="exact").recipe["seed"] is None


def test_one_unit_and_one_team_are_enough() -> None:
    for method in METHODS:
        draws = bootstrap({"only": [0.25]}, 10, method=method)
        assert (draws.scores == 0.25).all()
        assert rank_stability(draws).loc["only", "top1"] == 1.0
        assert compare(draws).empty


def test_draws_cannot_be_written_to() -> None:
    draws = bootstrap(make_scores(5), 5)
    with pytest.raises(ValueError, match="read-only"):
        draws.scores[0, 0] = 9.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("clustered", [False, True])
def test_combined_scores_equal_a_recomputation_from_the_drawn_examples(method: str, clustered: bool) -> None:
    """nRMSE and corpus CER are recomputed per draw from the raw examples of the drawn units."""
    rng = np.random.default_rng(8)
    n_units, teams = 20, ["a", "b", "c"]
    clusters = make_clusters(n_units, 6) if clustered else None
    truth = [rng.normal(3, 2, rng.integers(4, 9)) for _ in range(n_units)]
    guess = {team: [y + rng.normal(0, 1, len(y)) for y in truth] for team in teams}
    squares = {
        team: {
            "n": [len(y) for y in truth],
            "sse": [np.sum((y - g) ** 2) for y, g in zip(truth, guess[team], strict=True)],
            "y": [y.sum() for y in truth],
            "yy": [(y**2).sum() for y in truth],
        }
        for team in teams
    }
    characters = rng.integers(5, 40, n_units)
    errors = {team: rng.integers(0, 5, n_units) for team in teams}
    letters = {team: {"errors": errors[team], "characters": characters} for team in teams}

    def nrmse(sums: dict[str, np.ndarray]) -> np.ndarray:
        variance = sums["yy"] / sums["n"] - (sums["y"] / sums["n"]) ** 2
        return -np.sqrt(sums["sse"] / sums["n"]) / np.sqrt(variance)

    one = bootstrap(squares, 40, clusters, method, combiner=nrmse)
    two = bootstrap(letters, 40, clusters, method, combiner=lambda sums: -sums["errors"] / sums["characters"])
    for draw in [*range(40), None]:
        drawn = np.arange(n_units) if draw is None else INDICES[method](draw, n_units, clusters)
        y = np.concatenate([truth[unit] for unit in drawn])
        for at, team in enumerate(teams):
            g = np.concatenate([guess[team][unit] for unit in drawn])
            score = -np.sqrt(np.mean((y - g) ** 2)) / np.std(y)
            rate = -errors[team][drawn].sum() / characters[drawn].sum()
            found = (one.point, two.point) if draw is None else (one.scores[draw], two.scores[draw])
            assert found[0][at] == pytest.approx(score, rel=1e-12)
            assert found[1][at] == pytest.approx(rate, abs=1e-14)


def test_a_combiner_that_averages_equals_the_mean_and_sees_the_count() -> None:
    scores = make_scores(12, 3)
    clusters = make_clusters(12, 4)
    table = pd.concat([pd.DataFrame({"team": t, "unit": range(12), "value": v}) for t, v in scores.items()])
    draws = bootstrap(table, 60, clusters, combiner=lambda sums: sums["value"] / sums["count"])
    np.testing.assert_allclose(draws.scores, bootstrap(scores, 60, clusters).scores, rtol=0, atol=1e-14)
    np.testing.assert_allclose(draws.point, bootstrap(scores, 60).point, rtol=0, atol=1e-14)
    alone = bootstrap(scores, 60, clusters, combiner=lambda sums: sums["score"] / sums["count"])
    np.testing.assert_array_equal(alone.scores, draws.scores)


def test_duplicate_teams_tie_exactly_under_a_combiner() -> None:
    rng = np.random.default_rng(0)
    teams = {f"t{at}": {"x": rng.random(31), "y": rng.random(31) + 1} for at in range(11)}
    teams["copy"] = {name: values.copy() for name, values in teams["t3"].items()}
    draws = bootstrap(teams, 300, combiner=lambda sums: np.log(sums["x"]) - np.exp(sums["y"] / sums["count"]))
    np.testing.assert_array_equal(draws.scores[:, 3], draws.scores[:, 11])
    assert draws.point[3] == draws.point[11]


def test_a_combiner_that_rounds_by_place_cannot_part_duplicate_teams() -> None:
    values = np.random.default_rng(0).random(9)
    teams = {name: {"x": values} for name in ("one", "two", "three")}
    draws = bootstrap(teams, 50, combiner=lambda sums: sums["x"] / sums["count"] + np.arange(3) * 2.0**-50)
    assert (draws.scores == draws.scores[:, :1]).all()
    assert (draws.point == draws.point[0]).all()
