"""A participant who spends the whole cap on climbing a ladder wins luck, which is stated before and counted nowhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arena_making import ABOUT, FILE, MANIFEST, Clock, join
from neuroarena.competition.arena import Arena, create_arena, open_arena
from neuroarena.competition.baselines import judge_baselines, submit_baseline
from neuroarena.competition.budget import count_all_attempts, measure_budgets
from neuroarena.competition.configuration import read_competition
from neuroarena.competition.intake import submit
from neuroarena.competition.opening import open_competition
from neuroarena.competition.ready import list_ready
from neuroarena.competition.receipts import read_receipt
from neuroarena.competition.sealing import keep_truth
from neuroarena.competition.worker import work
from neuroarena.scoring import Manifest, write_submission

PHASE = """
[[phases]]
name = "sealed"
title = "Sealed phase"
start = "2026-03-10 00:00 UTC"
end = "2026-03-20 00:00 UTC"
sealed = true
display = "ladder"
STEP
in_total = CAP
"""
HEAD = FILE.partition("[[phases]]")[0].partition("[tracks.sheets")[0]
LABELS = ("left", "right")
GUESSED = MANIFEST.replace(chance=0.5)
MEASURED = Manifest.model_validate(
    {
        **MANIFEST.model_dump(exclude={"metric", "prediction", "classes", "combiner"}),
        "metric": "nrmse",
        "prediction": "number",
        "chance": 1.0,
    }
)


def make_sealed(folder: Path, text: str, truth: pd.DataFrame, manifest: Manifest) -> Arena:
    (folder / "made.toml").write_text(text)
    create_arena(folder / "arena", folder / "made.toml").store.close()
    arena = open_arena(folder / "arena", Clock("2026-03-11 12:00 UTC"))
    keep_truth(arena, "commands", truth, manifest, ABOUT)
    open_competition(arena, accept_one_user=True, without_baselines=True)
    return arena


def make_people(people: int, each: int) -> pd.DataFrame:
    names = [f"p{person:02}" for person in range(people) for _ in range(each)]
    ids = [f"{name}-{number:03}" for number, name in enumerate(names)]
    return pd.DataFrame({"id": ids, "fold": "all", "unit": names, "cluster": names})


def hand_in(arena: Arena, token: str, folder: Path, answers: np.ndarray) -> float | None:
    """Hand in answers, and return what the receipt shows of their score."""
    manifest = arena.manifest("commands")
    (column,) = manifest.prediction_columns
    table = pd.DataFrame({"id": arena.ids("commands")["id"], column: answers})
    write_submission(folder / "a.parquet", table, manifest, model="m", contact="a@example.org")
    submission = submit(arena, token, "commands", folder / "a.parquet")
    work(arena, until_idle=True, duties=False)
    shown: float | None = read_receipt(arena, token, submission)["score"]["shown"]
    return shown


@pytest.mark.drill
def test_a_climber_with_the_cap_of_the_ready_challenge_wins_luck_that_the_final_does_not_count(tmp_path):
    ready = read_competition(list_ready()["challenge2026"])
    cap = count_all_attempts(ready.final_phase)
    assert cap == 165
    assert ready.halves is not None
    text = HEAD + PHASE.replace("STEP\n", "").replace("CAP", str(cap)) + "\n[halves]\n"
    rng = np.random.default_rng(11)
    truth = make_people(20, 100).assign(target=rng.choice(LABELS, 2000))
    arena = make_sealed(tmp_path, text, truth, GUESSED)
    for name in ("constant", "shuffled", "real"):
        right = rng.random(2000) < 0.6
        wrong = np.where(truth["target"] == "left", "right", "left")
        table = pd.DataFrame({"id": truth["id"], "label": np.where(right, truth["target"], wrong)})
        write_submission(tmp_path / "r.parquet", table, GUESSED, model="m", contact="a@example.org")
        file = tmp_path / "r.parquet" if name == "real" else None
        submit_baseline(arena, "commands", "sealed", name, file)  # type: ignore[arg-type]
        work(arena, until_idle=True, duties=False)
    token = join(arena, "reds")
    best, rises = rng.choice(LABELS, 2000), 0
    for attempt in range(cap):
        flipped = rng.random(2000) < (0.2 if attempt else 0.0)
        tried = np.where(flipped, np.where(best == "left", "right", "left"), best)
        if hand_in(arena, token, tmp_path, tried) is not None:
            best, rises = tried, rises + 1
        elif not rises:
            best = rng.choice(LABELS, 2000)
    (budget,) = measure_budgets(arena)
    error = judge_baselines(arena, "commands", "sealed")["real"].standard_error
    shown = truth["unit"].isin(arena.vault.public_units("commands"))
    right = best == truth["target"].to_numpy()
    assert budget.luck is not None
    assert error is not None
    assert 1 < rises <= budget.rises
    # The attack works where it may, as far as `admin check` says, and knows nothing of the people who count.
    assert 0.5 < right[shown].mean() < 0.5 + budget.luck + 3 * error
    assert right[~shown].mean() == pytest.approx(0.5, abs=4 * np.sqrt(0.25 / 1000))
    assert "the final ranking does not count it" in budget.sentence


def descend(folder: Path, manifest: Manifest) -> list[float | None]:
    """Begin with one answer that is far off, come nearer by more than a step each time, and list what is shown."""
    folder.mkdir()
    truth = make_people(8, 5).assign(target=np.random.default_rng(8).normal(size=40))
    text = HEAD + PHASE.replace("STEP", "step = 0.1").replace("CAP", "20")
    arena = make_sealed(folder, text, truth, manifest)
    token, answers = join(arena, "reds"), np.eye(40)
    return [hand_in(arena, token, folder, (1000.0 - 100 * place) * answers[place]) for place in range(2)]


def test_a_ladder_that_begins_at_chance_shows_no_descent_from_a_score_made_bad_on_purpose(tmp_path):
    # Each of these values holds one label: far off, an error grows by the distance, and the distance holds the label.
    assert None not in descend(tmp_path / "bare", MEASURED.replace(chance=None))
    assert descend(tmp_path / "ours", MEASURED) == [None] * 2
