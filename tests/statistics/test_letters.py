"""Letters: two teams share one exactly when neither is better."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from inference_golden import golden, needs_golden, negative_nrmse

from neuroarena.errors import InputError
from neuroarena.statistics import (
    insert_and_absorb,
    jackknife,
    judge,
    leave_out_columns,
    letter_groups,
    letters,
    rank_ranges,
    verdicts,
)


def assert_letters_fit(n_teams: int, apart: set[tuple[int, int]]) -> None:
    groups = insert_and_absorb(n_teams, sorted(apart))
    assert groups is not None
    assert groups == sorted(groups)
    for one, other in combinations(range(n_teams), 2):
        share = any(one in group and other in group for group in groups)
        assert share == ((one, other) not in apart)
    for one, other in combinations(map(set, groups), 2):
        assert not one <= other
        assert not other <= one
    assert set().union(*groups) == set(range(n_teams))


def test_all_1024_graphs_of_five_teams() -> None:
    pairs = list(combinations(range(5), 2))
    for chosen in product([False, True], repeat=len(pairs)):
        assert_letters_fit(5, {pair for pair, told in zip(pairs, chosen, strict=True) if told})


def test_random_graphs_of_up_to_twelve_teams() -> None:
    rng = np.random.default_rng(0)
    for _ in range(150):
        n_teams = int(rng.integers(2, 13))
        share = rng.random()
        assert_letters_fit(
            n_teams, {pair for pair in combinations(range(n_teams), 2) if rng.random() < share}
        )


@needs_golden
@pytest.mark.parametrize("at", range(4))
def test_the_golden_groups(at: int) -> None:
    case = golden("letters")[at]
    assert insert_and_absorb(case["n"], case["apart"]) == case["groups"]


@needs_golden
@pytest.mark.parametrize("name", ["board", "clusters"])
def test_the_groups_and_rank_ranges_of_the_golden_boards(name: str) -> None:
    case = golden(name)
    rows = verdicts(pd.DataFrame(case["scores"]), clusters=case.get("cluster"), nu=case.get("nu"))
    assert letter_groups(rows) == case["groups"]
    ranges = rank_ranges(rows)
    assert {team: list(ranges.loc[team]) for team in ranges.index} == case["rank_range"]


@needs_golden
def test_the_groups_and_rank_ranges_of_the_golden_nrmse() -> None:
    case = golden("nrmse")
    shared = {name: case[name] for name in ("n", "sum_y", "sum_y2")}
    columns = {team: {**shared, "sse": sse} for team, sse in case["sse"].items()}
    rows = judge(jackknife(leave_out_columns(columns, negative_nrmse, weight="n")), nu=case["nu"])
    assert letter_groups(rows) == case["groups"]
    ranges = rank_ranges(rows)
    assert {team: list(ranges.loc[team]) for team in ranges.index} == case["rank_range"]


def test_a_team_alone_has_the_first_letter_and_rank_one() -> None:
    rows = verdicts({"only": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]})
    assert len(rows) == 0
    assert letters(rows, ["only"]).to_dict() == {"only": "a"}
    assert rank_ranges(rows, ["only"]).loc["only"].tolist() == [1, 1]


def test_more_than_300_teams_or_52_groups_have_no_letters() -> None:
    rng = np.random.default_rng(0)
    apart = pd.DataFrame(np.arange(53) + rng.normal(0, 1e-3, (12, 53)))
    rows = verdicts(apart)
    assert (rows["verdict"] == "better").all()
    assert letter_groups(rows) is None
    assert set(letters(rows)) == {""}
    assert letter_groups(verdicts(apart.iloc[:, :52])) is not None
    assert letter_groups(verdicts(pd.DataFrame(rng.normal(size=(6, 301))))) is None
    assert rank_ranges(rows)["rank_low"].tolist() == list(range(1, 54))


def test_rows_that_lack_a_pair_are_refused() -> None:
    rows = verdicts(pd.DataFrame(np.random.default_rng(0).normal(size=(8, 4))))
    with pytest.raises(InputError, match="every pair of teams once"):
        letters(rows.iloc[1:])
