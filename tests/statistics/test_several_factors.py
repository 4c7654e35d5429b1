"""Two crossed factors, missing cells, fixed factors, tasks and training seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from inference_golden import golden, needs_golden
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr

from neuroarena.errors import InputError
from neuroarena.statistics import (
    Cells,
    Moments,
    add_seeds,
    average_ranks,
    caution,
    cells_of_arrays,
    cells_of_table,
    correlation_cells,
    count_tracks,
    crossed,
    factor_variances,
    fix_tasks,
    jackknife,
    judge,
    leave_out,
    left_out_correlations,
    left_out_rank_correlations,
    left_out_rdm_correlations,
    seed_variances,
    signed_square,
    verdicts,
)
from neuroarena.statistics import differences as differences_module

NOUNS = ("tasks", "people")


def pair(moments: Moments, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = judge(moments, **options).iloc[0].to_dict()
    return found


@needs_golden
def test_tasks_and_sessions_of_the_golden_file() -> None:
    case = golden("two_factor")
    difference = np.array(case["difference"])
    base = np.random.default_rng(0).normal(size=difference.shape)
    cells = cells_of_arrays({"a": base + difference, "c": base}, NOUNS)
    for variance, name in zip(factor_variances(cells), ("v_first", "v_second", "v_cells"), strict=True):
        np.testing.assert_allclose(variance, case[name], rtol=1e-8)
    row = pair(crossed(cells))
    for field in ("delta", "se", "df", "p", "ci95"):
        np.testing.assert_allclose(row[field], case[field], rtol=1e-8)
    assert row["skew"] == 0
    assert row["n_levels"] == 6
    assert row["scope"] == "random: 7 tasks x 6 people"


@needs_golden
def test_held_out_predictions_of_the_golden_file() -> None:
    case = golden("crossed")
    cells, points = {}, {}
    for team in ("a", "c"):
        predicted = np.array(case[f"predicted_{team}"])
        correlations, _ = left_out_correlations(predicted, np.array(case["neurons"]))
        np.testing.assert_allclose(correlations, case[f"r_{team}"], rtol=1e-8)
        cells[team], points[team] = correlation_cells(predicted, np.array(case["neurons"]), signed_square)
    whole = cells_of_arrays(cells, ("images", "neuroids"), points)
    for variance, name in zip(factor_variances(whole), ("v_first", "v_second", "v_cells"), strict=True):
        np.testing.assert_allclose(variance, case[name], rtol=1e-8)
    row = pair(crossed(whole))
    for field in ("delta", "se", "df", "p", "ci95"):
        np.testing.assert_allclose(row[field], case[field], rtol=1e-8)


@needs_golden
def test_training_seeds_of_the_golden_file() -> None:
    case = golden("seeds")
    trained = {team: np.array(case[team]) for team in ("a", "c")}
    for team in trained:
        np.testing.assert_allclose(seed_variances(trained[team]), case[f"v_seeds_{team}"], rtol=1e-8)
    moments = jackknife(leave_out({team: scores.mean(axis=0) for team, scores in trained.items()}))
    np.testing.assert_allclose(moments.se**2, case["v_units"], rtol=1e-8)
    row = pair(add_seeds(moments, trained))
    for field in ("delta", "se", "df", "p", "ci95"):
        np.testing.assert_allclose(row[field], case[field], rtol=1e-8)
    assert row["scope"] == "random: 8 units; 3 and 4 training seeds"


def test_left_out_correlations_equal_numpy_without_each_image() -> None:
    rng = np.random.default_rng(0)
    observed = 1e6 + rng.normal(size=(15, 4))
    predicted = observed + rng.normal(size=(15, 4))
    score, left_out = left_out_correlations(predicted, observed)
    for neuroid in range(4):
        assert score[neuroid] == pytest.approx(np.corrcoef(predicted[:, neuroid], observed[:, neuroid])[0, 1])
        for image in range(15):
            kept = np.arange(15) != image
            expected = np.corrcoef(predicted[kept, neuroid], observed[kept, neuroid])[0, 1]
            assert left_out[image, neuroid] == pytest.approx(expected, rel=1e-7)


def test_left_out_rdm_correlations_drop_the_row_and_column_of_an_image() -> None:
    rng = np.random.default_rng(1)
    model, *subjects = (pdist(rng.normal(size=(9, 4))) for _ in range(4))
    rdms = np.stack([squareform(subject) for subject in subjects])
    score, left_out = left_out_rdm_correlations(squareform(model), rdms)
    np.testing.assert_allclose(score, [np.corrcoef(model, subject)[0, 1] for subject in subjects])
    for image in range(9):
        kept = np.delete(np.arange(9), image)
        inner = np.ix_(kept, kept)
        expected = [
            np.corrcoef(squareform(squareform(model)[inner]), squareform(rdm[inner]))[0, 1] for rdm in rdms
        ]
        np.testing.assert_allclose(left_out[image], expected)


def test_rank_correlations_of_rdms_are_ranked_anew_without_each_image() -> None:
    rng = np.random.default_rng(1)
    # Rounded, so that dissimilarities tie.
    model, *subjects = (pdist(rng.normal(size=(9, 4))).round(1) for _ in range(4))
    rdms = np.stack([squareform(subject) for subject in subjects])
    score, left_out = left_out_rank_correlations(squareform(model), rdms)
    np.testing.assert_allclose(score, [spearmanr(model, subject).statistic for subject in subjects])
    for image in range(9):
        kept = np.delete(np.arange(9), image)
        inner = np.ix_(kept, kept)
        expected = [
            spearmanr(squareform(squareform(model)[inner]), squareform(rdm[inner])).statistic for rdm in rdms
        ]
        np.testing.assert_allclose(left_out[image], expected)


def brute_force(frame: pd.DataFrame, equal_rows: bool) -> tuple[float, float, float]:
    """Leave out every row, column and cell of the long table (first, second, d) and return the variances."""

    def score(part: pd.DataFrame) -> float:
        return float(part.groupby("first")["d"].mean().mean() if equal_rows else part["d"].mean())

    whole = score(frame)
    found = []
    for factor in ("first", "second", None):
        labels = frame.index if factor is None else frame[factor]
        scores = np.array([score(frame[np.asarray(labels != label)]) for label in labels.unique()])
        found.append((len(scores) - 1) / len(scores) * ((scores - whole) ** 2).sum())
    return found[0], found[1], found[2]


@pytest.mark.parametrize("equal_rows", [False, True])
def test_missing_cells_equal_leaving_out_rows_columns_and_cells_by_hand(equal_rows: bool) -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        [(i, j) for i in range(8) for j in range(7) if (i, j) in {(0, 0), (7, 6)} or rng.random() < 0.6],
        columns=["first", "second"],
    )
    frame = frame[(frame["first"] != 3) | (frame["second"] == frame.loc[frame["first"] == 3, "second"].min())]
    frame = frame.reset_index(drop=True)  # level 3 of the first factor has one cell, and vanishes with it
    table = pd.DataFrame({"a": rng.normal(0.5, 1, len(frame)), "c": rng.normal(0, 1, len(frame))})
    frame["d"] = table["a"] - table["c"]
    cells = cells_of_table(table, frame["first"].tolist(), frame["second"].tolist(), NOUNS, equal_rows)
    moments = crossed(cells)
    v_first, v_second, v_cells = brute_force(frame, equal_rows)
    expected = max(v_first + v_second - v_cells, v_first, v_second)
    assert moments.se[0] ** 2 == pytest.approx(expected, rel=1e-9)
    weights = [np.ones(8) if equal_rows else frame["first"].value_counts(), frame["second"].value_counts()]
    effective = [np.sum(weight) ** 2 / np.sum(np.square(weight)) for weight in weights]
    df = expected**2 / (v_first**2 / (effective[0] - 1) + v_second**2 / (effective[1] - 1))
    assert moments.df[0] == pytest.approx(df, rel=1e-9)
    if equal_rows:
        means = frame.groupby("first")["d"].mean().mean()
        assert abs(moments.delta[0]) == pytest.approx(abs(means), rel=1e-9)


@pytest.mark.parametrize("direct_rows", [0, 256, 10**6])
def test_the_gram_matrix_gives_the_variances_of_the_differences(
    direct_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(differences_module, "DIRECT_ROWS", direct_rows)
    rng = np.random.default_rng(5)
    shared = rng.normal(size=(40, 30))
    arrays = {f"t{at}": shared + 10.0 ** -(3 * at) * rng.normal(size=(40, 30)) for at in range(4)}
    moments = crossed(cells_of_arrays(arrays, ("images", "neuroids")))
    for row in judge(moments).to_dict("records"):
        d = arrays[row["a"]] - arrays[row["c"]]
        rows, columns, mean = d.mean(axis=1), d.mean(axis=0), d.mean()
        residual = d - rows[:, None] - columns + mean
        v_first, v_second = rows.var(ddof=1) / 40, columns.var(ddof=1) / 30
        v_cells = (residual**2).sum() / (40 * 30 * 39 * 29)
        expected = max(v_first + v_second - v_cells, v_first, v_second)
        assert row["se"] ** 2 == pytest.approx(expected, rel=1e-8)


def test_few_images_for_each_fitted_feature_subtract_nothing() -> None:
    rng = np.random.default_rng(6)
    cells = cells_of_arrays({team: rng.normal(size=(20, 15)) for team in "ac"}, ("images", "neuroids"))
    plain, enough, few = (crossed(cells, images_per_feature=ratio) for ratio in (None, 5.0, 4.9))
    assert plain.se[0] == enough.se[0] < few.se[0]


def test_a_factor_with_few_levels_is_fixed_and_named() -> None:
    rng = np.random.default_rng(7)
    arrays = {team: rng.normal(size=(2, 9)) for team in "ac"}
    row = pair(crossed(cells_of_arrays(arrays, ("animals", "images"))))
    expected = pair(jackknife(leave_out({team: array.mean(axis=0) for team, array in arrays.items()})))
    for field in ("a", "delta", "se", "df", "skew", "p", "n_levels"):
        assert row[field] == pytest.approx(expected[field])
    assert row["scope"] == "random: 9 images; for these 2 animals"
    turned = pair(
        crossed(cells_of_arrays({team: array.T for team, array in arrays.items()}, ("images", "animals")))
    )
    assert turned["p"] == pytest.approx(row["p"])
    assert turned["scope"] == row["scope"]


def test_two_factors_with_few_levels_make_no_verdict() -> None:
    rows = judge(
        crossed(cells_of_arrays({"a": np.ones((2, 5)), "c": np.zeros((2, 5))}, ("animals", "images")))
    )
    assert rows["verdict"].tolist() == ["none"]
    assert caution(rows) == ("For these 2 animals and 5 images: no verdict, 6 needed.",)


def test_a_constant_difference_in_all_cells_is_as_likely_as_equal_signs_of_the_smaller_factor() -> None:
    base = np.random.default_rng(8).normal(size=(7, 9))
    row = pair(crossed(cells_of_arrays({"a": base + 1, "c": base}, NOUNS)))
    assert (row["p"], row["verdict"]) == (2.0**-6, "better")
    twins = pair(crossed(cells_of_arrays({"a": base, "c": base}, NOUNS)))
    assert (twins["p"], twins["judged"], twins["verdict"]) == (1.0, (0.0, 0.0), "equivalent")


def test_the_order_of_cells_levels_and_teams_is_irrelevant() -> None:
    rng = np.random.default_rng(9)
    table = pd.DataFrame(rng.normal(size=(60, 3)) + [0, 1, 2], columns=list("abc"))  # noqa: RUF005
    labels = pd.DataFrame({"task": np.repeat(np.arange(10), 6), "person": np.tile(np.arange(6), 10)})
    for kept in (np.arange(60), np.flatnonzero(rng.random(60) < 0.8)):
        order = rng.permutation(kept)
        one, other = (
            judge(
                crossed(
                    cells_of_table(
                        table.loc[rows, teams], labels["task"][rows].map(rename).tolist(),
                        labels["person"][rows].tolist(), NOUNS,
                    )
                )
            )
            for rows, teams, rename in ((kept, list("abc"), str), (order, list("cab"), lambda at: f"{9 - at}"))
        )  # fmt: skip
        numbers = ["delta", "se", "df", "p", "p_holm", "level"]
        assert one[["a", "c", "verdict"]].equals(other[["a", "c", "verdict"]])
        np.testing.assert_allclose(one[numbers], other[numbers], rtol=1e-9)


def test_these_tasks_add_their_variances() -> None:
    rng = np.random.default_rng(10)
    tables = {n: pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc")) for n in (8, 20, 12)}
    tasks = {n: jackknife(leave_out(table)) for n, table in tables.items()}
    rows = judge(fix_tasks(tasks, weights={8: 1, 20: 2, 12: 1}))
    weights = {8: 0.25, 20: 0.5, 12: 0.25}
    for row in rows.to_dict("records"):
        d = {n: table[row["a"]] - table[row["c"]] for n, table in tables.items()}
        parts = {n: weights[n] ** 2 * each.var(ddof=1) / n for n, each in d.items()}
        assert row["delta"] == pytest.approx(sum(weights[n] * each.mean() for n, each in d.items()))
        assert row["se"] ** 2 == pytest.approx(sum(parts.values()))
        df = sum(parts.values()) ** 2 / sum(part**2 / (n - 1) for n, part in parts.items())
        assert row["df"] == pytest.approx(df)
    assert set(rows["n_levels"]) == {8}
    assert caution(judge(fix_tasks({0: jackknife(leave_out({"a": [1, 2, 3], "c": [0, 0, 1]}))}))) == (
        "3 independent levels or more in each task: no verdict, 6 needed.",
    )


def test_a_mean_rank_is_judged_on_differences_of_ranks() -> None:
    table = pd.DataFrame(np.random.default_rng(11).normal(size=(14, 4)) + np.arange(4), columns=list("abcd"))
    rows = verdicts(-average_ranks(table))
    assert rows["a"].iloc[0] == "d"
    expected = table.rank(axis=1, ascending=False).mean()
    assert rows["delta"].iloc[2] == pytest.approx(expected["a"] - expected["d"])


def test_a_team_with_one_seed_says_that_training_noise_was_not_measured() -> None:
    rng = np.random.default_rng(12)
    trained = {
        "a": rng.normal(1, 1, (3, 12)),
        "b": rng.normal(0, 1, (1, 12)),
        "c": rng.normal(-1, 1, (1, 12)),
    }
    moments = jackknife(leave_out({team: scores.mean(axis=0) for team, scores in trained.items()}))
    rows = judge(add_seeds(moments, trained))
    assert caution(rows) == ("Training noise not measured: verdicts hold for these trained models.",)
    pd.testing.assert_frame_equal(
        rows.loc[[2]].drop(columns=["scope", "p_holm", "level", "judged"]),
        judge(moments).loc[[2]].drop(columns=["scope", "p_holm", "level", "judged"]),
    )
    measured = add_seeds(moments, {team: rng.normal(size=(3, 12)) for team in "abc"})
    assert caution(judge(measured)) == ()


def test_twins_stay_equivalent_however_noisily_they_were_trained() -> None:
    scores = np.random.default_rng(13).normal(size=(3, 8))
    moments = jackknife(leave_out({team: scores.mean(axis=0) for team in "ab"}))
    assert pair(add_seeds(moments, {"a": scores, "b": scores}))["verdict"] == "equivalent"


def test_tracks_are_counted_instead_of_judged() -> None:
    rng = np.random.default_rng(14)
    tracks = {
        name: verdicts(pd.DataFrame(rng.normal(size=(20, 2)) + np.array(shift), columns=["x", "y"]))
        for name, shift in {"img": [5, 0], "bci": [0, 5], "emg": [5, 0], "sleep": [0, 0]}.items()
    }
    assert count_tracks(tracks, "x", "y") == (2, 1, 4)
    assert count_tracks(tracks, "y", "x") == (1, 2, 4)
    assert count_tracks(tracks, "x", "z") == (0, 0, 0)


SCORES = {"a": np.arange(6.0), "c": np.ones(6)}


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: cells_of_arrays({"a": np.ones((3, 2)), "c": np.ones((2, 3))}, NOUNS), ["same two factors", '"c"']),
        (lambda: cells_of_arrays({"a": np.array([[1.0, np.nan]])}, NOUNS), ['"a"', "tasks 0", "people 1", "nan"]),
        (lambda: cells_of_table({"a": [1.0, 2.0]}, [1, 1], [2, 2], NOUNS), ["more than once"]),
        (lambda: cells_of_table({"a": [1.0, 2.0]}, [1], [2, 2], NOUNS), ["one label for each of 2"]),
        (lambda: Cells(("a",), np.ones((2, 2)), np.arange(2), np.arange(2), NOUNS), ["1 teams"]),
        (
            lambda: Cells(("a",), np.ones((2, 1)), np.arange(2), np.arange(2), NOUNS, point=np.ones(2)),
            ["as many scores"],
        ),
        (lambda: left_out_correlations(np.ones((5, 2)), np.ones((5, 2))), ["Neuroid 0", "on all images"]),
        (
            lambda: left_out_correlations(np.array([[1.0], [0], [0], [0]]), np.arange(4.0)[:, None]),
            ["Neuroid 0", "without image 0"],
        ),
        (lambda: left_out_correlations(np.ones((5, 2)), np.ones((4, 2))), ["(5, 2) and (4, 2)"]),
        (lambda: left_out_correlations(np.full((5, 1), np.nan), np.ones((5, 1))), ["Image 0, neuroid 0"]),
        (lambda: left_out_rdm_correlations(np.ones((3, 3)), np.ones((2, 3, 3))), ["at least four images"]),
        (lambda: left_out_rdm_correlations(np.ones((5, 5)), np.ones((2, 5, 5))), ["Subject 0", "on all images"]),
        (lambda: left_out_rdm_correlations(np.full((5, 5), np.nan), np.ones((2, 5, 5))), ["finite"]),
        (lambda: left_out_rank_correlations(np.ones((3, 3)), np.ones((2, 3, 3))), ["at least four images"]),
        (lambda: left_out_rank_correlations(np.ones((5, 5)), np.ones((2, 5, 5))), ["Subject 0", "on all images"]),
        (lambda: fix_tasks({}), ["at least one task"]),
        (
            lambda: fix_tasks({"x": jackknife(leave_out(SCORES)), "y": jackknife(leave_out({"a": SCORES["a"]}))}),
            ['"y"', "different teams"],
        ),
        (lambda: fix_tasks({"x": jackknife(leave_out(SCORES))}, weights={}), ['"x" has no weight']),
        (lambda: fix_tasks({"x": jackknife(leave_out(SCORES))}, weights={"x": 0.0}), ["not all of them 0"]),
        (lambda: add_seeds(jackknife(leave_out(SCORES)), {"z": np.ones((2, 6))}), ['"z"']),
        (lambda: seed_variances(np.ones((3, 1))), ["two units"]),
        (lambda: seed_variances(np.full((3, 3), np.nan)), ["finite"]),
    ],
)  # fmt: skip
def test_what_is_refused_and_what_the_refusal_says(act: Any, words: list[str]) -> None:
    with pytest.raises(InputError) as refusal:
        act()
    for word in words:
        assert word in str(refusal.value)
