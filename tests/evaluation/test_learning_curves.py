"""Learning curves: shares of the training part, drawn by seed, nested, the same for every decoder."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import neuroarena_in
from neuroarena import Benchmark, Board, evaluate
from neuroarena.board.entries import entries_from_results
from neuroarena.board.learning_curves import draw_curve, learning_curves
from neuroarena.drawing import COLOURS, ENTRY, FLOOR
from neuroarena.errors import InputError
from neuroarena.evaluation import evaluate_all
from neuroarena.evaluation.fractions import check_fractions, choose_rows

N_PEOPLE, N_TRIALS = 8, 40


@pytest.fixture(scope="module")
def eight_people() -> Benchmark:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"subject": np.repeat([f"p{number}" for number in range(N_PEOPLE)], N_TRIALS)})
    table["label"] = np.tile(["a", "a", "a", "b"], N_PEOPLE * N_TRIALS // 4)
    windows = rng.standard_normal((len(table), 6, 40))
    windows[table["label"] == "a", :2] += 0.35
    return Benchmark.from_epochs(
        windows, metadata=table, rate_hz=100.0, target="label", metric="auroc", split="leave-one-subject-out"
    )


@given(
    classes=st.lists(st.integers(0, 3), min_size=1, max_size=60),
    fractions=st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)),
    seed=st.integers(0, 5),
)
def test_a_smaller_share_lies_in_a_larger_one_and_every_class_in_both(classes, fractions, seed):
    ids = [f"e{number}" for number in range(len(classes))]
    small, large = (choose_rows(ids, classes, share, seed) for share in sorted(fractions))
    assert set(small) <= set(large)
    assert {classes[row] for row in small} == set(classes)
    for share, chosen in zip(sorted(fractions), (small, large), strict=True):
        for label in set(classes):
            expected = share * classes.count(label)
            assert abs(sum(classes[row] == label for row in chosen) - expected) <= 1
    order = np.random.default_rng(seed).permutation(len(ids))
    shuffled = choose_rows(
        [ids[at] for at in order], [classes[at] for at in order], sorted(fractions)[0], seed
    )
    assert {order[row] for row in shuffled} == set(small)


class Remembers:
    """A decoder that says which examples it was trained on."""

    from neuroarena.features import FeatureChain

    features = FeatureChain()
    seen: list[set[str]] = []  # noqa: RUF012 - shared on purpose

    def fit(self, train: Any, validation: Any = None, context: Any = None) -> Any:
        type(self).seen.append({each for group in train for each in group.table["id"]})
        return self

    def predict(self, test: Any) -> Any:
        return np.full((sum(len(group) for group in test), 2), 0.5)


def trained_on(benchmark: Benchmark, cache: Path, fraction: float, seed: int = 0) -> set[str]:
    Remembers.seen.clear()
    evaluate(Remembers(), benchmark, cache=cache, train_fraction=fraction, seed=seed)
    return Remembers.seen[0]


def test_a_decoder_gets_the_share_and_another_seed_draws_another(eight_people: Benchmark, tmp_path: Path):
    whole = trained_on(eight_people, tmp_path, 1.0)
    tenth = trained_on(eight_people, tmp_path, 0.1)
    third = trained_on(eight_people, tmp_path, 0.3)
    assert tenth < third < whole
    assert (len(whole), len(tenth)) == (280, 28)
    targets = eight_people.examples.set_index("id")["target"]
    assert targets.loc[sorted(tenth)].value_counts().to_dict() == {"a": 21, "b": 7}
    assert trained_on(eight_people, tmp_path, 0.1, seed=1) != tenth


def test_a_curve_of_two_decoders_is_on_the_board(eight_people: Benchmark, tmp_path: Path):
    told: dict[str, Any] = {"out": tmp_path / "results", "cache": tmp_path / "cache"}
    results = evaluate_all(
        [(None, "linear"), (None, "chance")],
        [eight_people],
        [None],
        repeats=2,
        train_fractions=(0.05, 1.0),
        **told,
    )
    small, large = (each for each in results if each.record.decoder.name == "linear")
    assert small.record.split.name == "leave-one-subject-out-train-0.05"
    assert (small.record.split.train_fraction, small.record.cells[0].n_train) == (0.05, 15)
    # A decoder that draws nothing differs between seeds, because the share does.
    assert small.record.repeats is not None
    assert small.record.repeats.chance
    assert large.score > small.score + 0.05
    # The whole training part is the run that there would be without a curve.
    alone = evaluate("linear", eight_people, cache=tmp_path / "cache", repeats=2)
    assert alone.record.run_key == large.record.run_key
    board = Board(entries_from_results(results))
    (curve,) = learning_curves(board.rankings)
    own = curve.table[curve.table["team"] == "linear"]
    assert own["fraction"].tolist() == [0.05, 1.0]
    assert own["n_train"].tolist() == [15.0, 280.0]
    assert own["ci95_low"].notna().all()
    assert (own["ci95_low"] < own["score"]).all()
    assert curve.teams[0] == "linear"
    errors = pd.DataFrame({"team": ["good", "bad"], "fraction": 1.0, "score": [0.2, 0.5]})
    assert dataclasses.replace(curve, table=errors).teams == ["good", "bad"]
    assert "linear: " in curve.alt_text
    assert "Bars: 95 % interval" in curve.caption
    assert draw_curve(curve).axes[0].get_xlabel() == "training examples per fold"
    html = neuroarena_in(tmp_path, "board", "results", "--export", "html", "board.html")
    assert html.returncode == 0, html.stderr
    page = (tmp_path / "board.html").read_text()
    assert "Learning curves, own@" in page
    # One colour per decoder on the page: the floor is grey in the panels, and so is its curve.
    drawn = {
        name: page[page.index(f'id="{name}-') : page.index("</svg>", page.index(f'id="{name}-'))]
        for name in ("curve0", "suite0")
    }
    colours = {name: {each for each in COLOURS if each.lower() in svg.lower()} for name, svg in drawn.items()}
    assert colours["curve0"] == colours["suite0"] - {"#000000"} == {ENTRY, FLOOR}
    said = json.loads(neuroarena_in(tmp_path, "board", "results", "--json").stdout)
    assert len(said["learning_curves"][0]["points"]) == 4


def test_a_caption_speaks_of_bars_only_where_there_are_some(eight_people: Benchmark, tmp_path: Path):
    def drawn(benchmark: Benchmark, splits: list[str | None]) -> tuple[str, int]:
        results = evaluate_all(
            [(None, "linear")], [benchmark], splits, train_fractions=(0.3, 1.0), cache=tmp_path / "cache"
        )
        (curve,) = learning_curves(Board(entries_from_results(results)).rankings)
        lines = draw_curve(curve).axes[0].collections
        return curve.caption, sum(len(each.get_segments()) for each in lines)

    rows = eight_people.examples["unit"].isin(["p0", "p1"])
    two = dataclasses.replace(eight_people, make_examples=lambda: eight_people.examples[rows])
    said, bars = drawn(two, [None])
    assert (bars, "Bars:" in said) == (0, False)
    assert "No bars: too few independent levels for an interval." in said
    said, bars = drawn(eight_people, [None])
    assert bars == 2
    assert "No bars" not in said


@pytest.mark.parametrize("wrong", [(), (0,), (1.5,), (0.5, -1)])
def test_shares_that_cannot_be_are_refused(wrong: tuple[float, ...]):
    with pytest.raises(InputError, match="above 0 and at most 1"):
        check_fractions(wrong)
