"""Luck is measured: answers that know nothing are never shown to be better, and no pair of files tells a label."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from arena_making import MANY, join, make_arena, write_answers
from ladder_playing import Ladder
from neuroarena.competition import showing
from neuroarena.competition.intake import submit
from neuroarena.competition.judging import judge
from neuroarena.competition.luck import draw_answers, exchange_units, find_luck, measure_stretch
from neuroarena.competition.queue import claim
from neuroarena.competition.receipts import read_receipt
from neuroarena.competition.scorer import score_run
from neuroarena.competition.views import public_view
from neuroarena.scoring import Aligned, Manifest, align, score_aligned

ATTEMPTS, LABELS = 165, 200


def make_manifest(metric: str, prediction: str, classes: tuple[str, ...] = ()) -> Manifest:
    return Manifest.model_validate(
        {
            "name": "luck/made",
            "definition": "test",
            "title": "Made up",
            "question": "Which?",
            "metric": metric,
            "prediction": prediction,
            "classes": classes,
            "unit": "session",
            "split_rule": "one part",
            "licence": "none",
        }
    )


def make_truth(target: np.ndarray, units: int = 20) -> pd.DataFrame:
    names = [f"u{at * units // len(target):02}" for at in range(len(target))]
    ids = [f"e{at:05}" for at in range(len(target))]
    return pd.DataFrame({"id": ids, "fold": "all", "unit": names, "cluster": names, "target": target})


def test_answers_are_drawn_in_stretches_of_ones_own_or_of_two_submissions():
    rng = np.random.default_rng(0)
    mine, others = np.arange(3000), -np.arange(3000)
    shuffled = draw_answers(mine, None, 6.0, rng)
    assert sorted(shuffled) == sorted(mine)
    # A stretch of mean length 6 ends behind one of six rows.
    assert np.mean(np.diff(shuffled) != 1) == pytest.approx(1 / 6, abs=0.03)
    mixed = draw_answers(mine, others, 6.0, rng)
    assert set(np.abs(mixed)) == set(mine)
    assert np.mean(mixed > 0) == pytest.approx(0.5, abs=0.1)
    assert np.mean(np.diff(np.sign(mixed[1:])) != 0) == pytest.approx(1 / 12, abs=0.03)


def test_stretches_are_twice_as_long_as_labels_stay_the_same_within_a_unit():
    manifest = make_manifest("accuracy", "label", ("a", "b"))
    runs = np.repeat(["a", "b"] * 10, 10)
    for target, units, stretch in ((runs, 1, 20.0), (runs, 40, 10.0), (np.array(["a", "b"] * 100), 1, 2.0)):
        truth = make_truth(target, units)
        aligned = align(pd.DataFrame({"id": truth["id"], "label": "a"}), truth, manifest)
        assert measure_stretch(aligned) == stretch
    truth = make_truth(np.repeat([0.5, 2.5], 100))
    numbers = make_manifest("mae", "number")
    aligned = align(pd.DataFrame({"id": truth["id"], "number": 0.0}), truth, numbers)
    assert measure_stretch(aligned) == 20.0  # twenty units of ten rows each, one number a unit


def test_units_are_exchanged_as_a_whole_and_none_stays_in_its_place():
    rng = np.random.default_rng(0)
    values = np.arange(40)
    for _ in range(20):
        drawn = exchange_units(values, np.arange(0, 40, 10), rng)
        assert sorted(drawn) == list(values)
        units = drawn.reshape(4, 10) // 10
        assert (units == units[:, :1]).all()
        assert (units[:, 0] != np.arange(4)).all()
    assert len({int(exchange_units(values, np.array([0]), rng)[0]) for _ in range(20)}) > 5


def ask_once(truth: pd.DataFrame, manifest: Manifest, answers: np.ndarray, seed: int) -> float | None:
    """Return what a first attempt of 165 is shown, on a ladder whose step hardly counts."""

    def value_of(parts: dict[str, Aligned]) -> float:
        judged = judge(
            {"": score_aligned(parts[""])}, {"": manifest}, None, with_interval=False, with_error=False
        )
        return judged.value or 0.0

    mine = {"": align(pd.DataFrame({"id": truth["id"], "label": answers}), truth, manifest)}
    judged = judge({"": score_aligned(mine[""])}, {"": manifest}, None, with_interval=False, with_error=False)
    luck = find_luck(mine, None, value_of, judged, ATTEMPTS, np.random.default_rng(seed))
    return public_view(judged, "ladder", 0.01, None, luck).shown


def test_a_rise_that_hangs_on_one_answer_of_a_rare_class_is_not_shown():
    # Whoever names a rare class once, in one row after the other, would otherwise find one of its rows for certain.
    rng = np.random.default_rng(0)
    target = rng.choice(["0", "1"], LABELS)
    target[[20, 120]] = "2"
    answers = np.full(LABELS, "0")
    answers[20] = "2"
    truth, manifest = make_truth(target, 1), make_manifest("balanced_accuracy", "label", ("0", "1", "2"))
    assert [ask_once(truth, manifest, answers, seed) for seed in range(2)] == [None] * 2
    assert ask_once(truth, manifest, target, 0) is not None


@pytest.mark.parametrize("design", ["in turn", "same order", "unequal shares"])
def test_answers_that_follow_the_design_of_all_units_are_not_shown_by_luck(design):
    rng, units, each = np.random.default_rng(1), 20, 100 if design == "unequal shares" else 20
    for seed in range(2):
        if design == "in turn":
            right = np.arange(units) < 16  # so many units are begun right once in 170 attempts
            target = (np.arange(each) + rng.integers(0, 2, (units, 1))) % 2
            answers = np.where(right[:, None], target, 1 - target)
        elif design == "same order":
            target = np.tile(rng.integers(0, 2, each), (units, 1))
            answers = np.where(np.arange(each) < 16, target, 1 - target)
        else:
            share = rng.permutation(np.repeat([0.2, 0.8], units // 2))
            target = (rng.random((units, each)) < share[:, None]).astype(int)
            right = np.arange(units)[:, None] < 16
            answers = np.broadcast_to(
                np.where(right, share[:, None] > 0.5, share[:, None] < 0.5), (units, each)
            )
        truth = make_truth(target.ravel().astype(str), units)
        said = answers.astype(int).ravel().astype(str)
        assert ask_once(truth, make_manifest("accuracy", "label", ("0", "1")), said, seed) is None


def draw_kind(kind: str, rng: np.random.Generator) -> tuple[Manifest, pd.DataFrame, np.ndarray, np.ndarray]:
    """Return rules, truth, and two sets of answers that know nothing of it."""
    n = LABELS
    if kind == "numbers":
        return (
            make_manifest("nrmse", "number"),
            make_truth(rng.normal(size=n)),
            *(0.1 * rng.normal(size=(2, n))),
        )
    if kind == "probabilities":
        columns = rng.random((2, n))
        target = rng.choice(["0", "1"], n)
        target[::10], target[5::10] = "0", "1"  # every unit has both classes
        return make_manifest("auroc", "probabilities", ("0", "1")), make_truth(target), *columns
    classes = ("0", "1", "2") if kind == "three classes" else ("0", "1")
    length = 10 if kind == "runs" else 1
    target, first, second = np.repeat(rng.choice(classes, (3, n // length)), length, axis=1)
    metric = "balanced_accuracy" if kind == "three classes" else "accuracy"
    return make_manifest(metric, "label", classes), make_truth(target), first, second


def tabulate(truth: pd.DataFrame, manifest: Manifest, answers: np.ndarray) -> pd.DataFrame:
    columns = manifest.prediction_columns
    values = [1 - answers, answers] if len(columns) == 2 else [answers]
    return pd.DataFrame({"id": truth["id"], **dict(zip(columns, values, strict=True))})


@pytest.mark.drill
@pytest.mark.parametrize("kind", ["two classes", "three classes", "runs", "numbers", "probabilities"])
def test_one_attempt_in_a_hundred_at_most_is_shown_although_it_knows_nothing(kind):
    rng = np.random.default_rng(1)
    shown = {"first": 0, "next": 0}
    for _ in range(120):
        manifest, truth, *answers = draw_kind(kind, rng)
        mine, others = ({"": align(tabulate(truth, manifest, each), truth, manifest)} for each in answers)

        def value_of(parts: dict[str, Aligned], manifest: Manifest = manifest) -> float:
            units = {"": score_aligned(parts[""])}
            return judge(units, {"": manifest}, None, with_interval=False, with_error=False).value or 0.0

        units = {"": score_aligned(mine[""])}
        judged = judge(units, {"": manifest}, None, with_interval=False, with_error=False)
        for name, best in (("first", None), ("next", others)):
            luck = find_luck(mine, best, value_of, judged, 1, rng)
            shown[name] += (
                public_view(judged, "ladder", 1e-6, None if best is None else luck.start, luck).shown
                is not None
            )
    # 1 % of 120 is one, and less with a quarter more asked for; more than 5 come by chance once in a thousand.
    assert max(shown.values()) <= 5, shown


def climb(ladder: Ladder, rng: np.random.Generator, start: np.ndarray) -> np.ndarray:
    """Change a fifth of the answers at a time, and keep what is shown to be better."""
    best = start
    for attempt in range(ladder.attempts):
        tried = np.where(rng.random(len(best)) < (0.2 if attempt else 0.0), 1 - best, best)
        if ladder.ask(tried) is not None:
            best = tried
        elif ladder.best is None:
            best = rng.integers(0, 2, len(best))
    return best


def test_a_climber_reads_one_sentence_whatever_the_labels_are_and_wins_no_label():
    climbed: dict[bool, list[float]] = {False: [], True: []}
    said = set()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        labels, start = rng.integers(0, 2, (2, LABELS))
        for guarded in (False, True):
            ladder = Ladder(labels, ATTEMPTS, guarded=guarded, seed=seed)
            climbed[guarded].append(np.mean(climb(ladder, np.random.default_rng(5), start) == labels))
            said |= set(ladder.said) if guarded else set()
    assert said == {"no better than guessing by the step of 0.036 and by more than luck"}
    # On a bare ladder the same attempts win a tenth of the labels; 4 x 200 guesses are half right within 0.04.
    assert np.mean(climbed[False]) > 0.58
    assert np.mean(climbed[True]) == pytest.approx(0.5, abs=0.04)


def learn_from_refusals(ladder: Ladder, rng: np.random.Generator) -> np.ndarray:
    """Vote over random answers: those that were shown for, and those that were refused against what they say."""
    votes = np.zeros(len(ladder.labels))
    for _ in range(ladder.attempts):
        tried = rng.integers(0, 2, len(votes))
        shown = ladder.ask(tried)
        votes += (2 * tried - 1) * (-1.0 if shown is None else 3.0)
    return (votes > 0).astype(int)


@pytest.mark.drill
def test_refusals_teach_nothing_either():
    found = []
    for seed in range(24):
        labels = np.random.default_rng(seed).integers(0, 2, LABELS)
        ladder = Ladder(labels, ATTEMPTS, guarded=True, seed=seed)
        found.append(np.mean(learn_from_refusals(ladder, np.random.default_rng(7)) == labels))
    assert np.mean(found) == pytest.approx(0.5, abs=0.03)


def walk(ladder: Ladder, rng: np.random.Generator, knowledge: float) -> list[bool]:
    """Go from half of a model's answers to all of them, one answer at a time; was it right where a rise was shown?"""
    n = len(ladder.labels)
    model = np.where(rng.random(n) < knowledge, ladder.labels, 1 - ladder.labels)
    answers = model.copy()
    hidden = rng.permutation(n)[: n // 2]
    answers[hidden] = rng.integers(0, 2, len(hidden))
    ladder.ask(answers)
    found = []
    for place in [at for at in hidden if answers[at] != model[at]][: ladder.attempts - 1]:
        answers[place] = model[place]
        if ladder.ask(answers) is not None:
            found.append(bool(answers[place] == ladder.labels[place]))
    return found


@pytest.mark.drill
def test_the_answer_that_was_changed_last_before_a_rise_is_hardly_surer_than_before():
    knowledge, found = 0.7, {}
    for guarded in (False, True):
        ladders = [
            Ladder(np.random.default_rng(seed).integers(0, 2, 400), ATTEMPTS, guarded=guarded, seed=seed)
            for seed in range(60)
        ]
        walks = [walk(ladder, np.random.default_rng(99 + at), knowledge) for at, ladder in enumerate(ladders)]
        found[guarded] = [right for walked in walks for right in walked]
    # A bare ladder told every one of these labels for certain, several in every phase.
    assert len(found[False]) > 120
    assert all(found[False])
    assert len(found[True]) > 40
    assert np.mean(found[True]) < knowledge + 0.15


def test_luck_is_measured_again_when_another_run_was_shown_meanwhile(tmp_path, clock, monkeypatch):
    arena = make_arena(tmp_path, clock, per_unit=MANY)
    token = join(arena, "reds")
    clock.set("2026-03-10 12:00 UTC")
    files = [write_answers(tmp_path / f"{wrong}.parquet", wrong=wrong, per_unit=MANY) for wrong in (3, 1)]
    submissions = [submit(arena, token, "commands", file) for file in files]
    jobs = [claim(arena.store, f"w{at}", ["scorer"]) for at in range(2)]
    second = next(job for job in jobs if job.submission == submissions[1])
    first = next(job for job in jobs if job.submission == submissions[0])
    measure, asked = showing.measure_luck, []

    def measure_while_the_other_is_shown(*given):
        asked.append(given[-1])
        if len(asked) == 1:
            score_run(arena, first)
        return measure(*given)

    monkeypatch.setattr(showing, "measure_luck", measure_while_the_other_is_shown)
    score_run(arena, second)
    assert [None if best is None else best.value for best in asked] == [None, None, pytest.approx(0.7)]
    assert asked[-1].submission == submissions[0]
    assert read_receipt(arena, token, submissions[1])["score"]["shown"] == pytest.approx(0.9)
