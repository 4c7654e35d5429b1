"""A participant who spends the whole cap on climbing a ladder, or begins far below it, is told one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arena_making import ABOUT, FILE, MANIFEST, Clock, join
from neuroarena.competition.arena import Arena, create_arena, open_arena
from neuroarena.competition.baselines import submit_baseline
from neuroarena.competition.budget import measure_budgets
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


def hand_in(arena: Arena, token: str, folder: Path, answers: np.ndarray) -> dict[str, Any]:
    """Hand in answers, and return what the receipt tells of their score."""
    manifest = arena.manifest("commands")
    (column,) = manifest.prediction_columns
    table = pd.DataFrame({"id": arena.ids("commands")["id"], column: answers})
    write_submission(folder / "a.parquet", table, manifest, model="m", contact="a@example.org")
    submission = submit(arena, token, "commands", folder / "a.parquet")
    work(arena, until_idle=True, duties=False)
    told: dict[str, Any] = read_receipt(arena, token, submission)["score"]
    return told


@pytest.mark.drill
def test_a_climber_with_the_cap_of_the_ready_challenge_is_told_one_sentence(tmp_path):
    ready = read_competition(list_ready()["challenge2026"])
    cap = ready.final_phase.all_attempts
    assert cap == 165
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
    best, said = rng.choice(LABELS, 2000), set()
    for attempt in range(cap):
        flipped = rng.random(2000) < (0.2 if attempt else 0.0)
        tried = np.where(flipped, np.where(best == "left", "right", "left"), best)
        score = hand_in(arena, token, tmp_path, tried)
        said.add(score["sentence"])
        best = tried if score["shown"] is not None else rng.choice(LABELS, 2000)
    (budget,) = measure_budgets(arena)
    assert budget.step is not None
    assert said == {f"no better than guessing by the step of {budget.step:g} and by more than luck"}
    # Somebody who knows something is shown it, from where the budget says.
    assert f"from about {budget.first:.3g}" in budget.sentence
    assert budget.first == pytest.approx(0.5 + 1.25 * 4.3 * np.sqrt(0.25 / 1000), abs=0.04)
    right = rng.random(2000) < 0.8
    other = np.where(truth["target"] == "left", "right", "left")
    score = hand_in(arena, join(arena, "blues"), tmp_path, np.where(right, truth["target"], other))
    assert score["shown"] == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize("chance", [1.0, None])
def test_a_ladder_shows_no_descent_from_a_score_made_bad_on_purpose(tmp_path, chance):
    # Each of these values would hold one label: far off, an error grows by the distance, and that holds the label.
    truth = make_people(8, 5).assign(target=np.random.default_rng(8).normal(size=40))
    text = HEAD + PHASE.replace("STEP", "step = 0.1").replace("CAP", "20")
    arena = make_sealed(tmp_path, text, truth, MEASURED.replace(chance=chance))
    token, far = join(arena, "reds"), np.eye(40)
    for place in range(2):
        told = hand_in(arena, token, tmp_path, (1000.0 - 100 * place) * far[place])
        assert told["shown"] is None
        assert told["sentence"] == "no better than guessing by the step of 0.1 and by more than luck"
