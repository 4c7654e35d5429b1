"""A participant who uses every attempt, and tries to compute labels from everything that is visible."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from arena_making import ABOUT, FILE, MANIFEST, join, make_truth
from ladder_playing import Ladder
from neuroarena.competition.arena import create_arena, open_arena
from neuroarena.competition.boards import list_shown
from neuroarena.competition.intake import submit
from neuroarena.competition.judging import judge
from neuroarena.competition.opening import open_competition
from neuroarena.competition.receipts import list_submissions, read_receipt
from neuroarena.competition.sealing import keep_truth
from neuroarena.competition.snapshots import make_board
from neuroarena.competition.views import public_view
from neuroarena.competition.worker import work
from neuroarena.scoring import score, write_submission

ATTEMPTS, LABELS = 155, 200
CLASSES = ("left", "right")


def guess_from_answers(shown: list[float | None], guesses: np.ndarray) -> np.ndarray:
    """Vote over random guesses, each weighted by how much better than the others it was shown to be."""
    known = [value if value is not None else np.nan for value in shown]
    # A value that is not shown is no better than the best that was: the attacker takes what is known of it.
    filled = pd.Series(known).ffill().fillna(0.5).to_numpy()
    weights = np.where(np.isnan(known), 0.0, filled - np.nanmean(known))
    votes = (np.where(guesses == CLASSES[1], 1.0, -1.0) * weights[:, None]).sum(axis=0)
    return np.where(votes > 0, CLASSES[1], CLASSES[0])


def attack(display: str, seed: int) -> float:
    """Return the accuracy that an attacker reaches on the labels whose scores were shown."""
    rng = np.random.default_rng(seed)
    truth = pd.DataFrame({"id": [f"e{n}" for n in range(LABELS)], "fold": "all"})
    truth["unit"] = truth["cluster"] = [f"u{n // 10}" for n in range(LABELS)]
    truth["target"] = rng.choice(CLASSES, LABELS)
    manifest = MANIFEST.replace(metric="accuracy")
    guesses = rng.choice(CLASSES, (ATTEMPTS, LABELS))
    if display == "ladder":
        ladder = Ladder(
            (truth["target"] == CLASSES[1]).to_numpy(dtype=int), ATTEMPTS, guarded=True, seed=seed
        )
        values = [ladder.ask((guess == CLASSES[1]).astype(int)) for guess in guesses]
        return float((guess_from_answers(values, guesses) == truth["target"]).mean())
    shown: list[float | None] = []
    for guess in guesses:
        units = score(pd.DataFrame({"id": truth["id"], "label": guess}), truth, manifest)
        judged = judge({"": units}, {"": manifest}, None, with_interval=False, with_error=False)
        shown.append(public_view(judged, "full", None, None).shown)
    return float((guess_from_answers(shown, guesses) == truth["target"]).mean())


@pytest.mark.drill
def test_a_ladder_teaches_an_attacker_nothing_and_full_scores_teach_much():
    full = np.mean([attack("full", seed) for seed in range(3)])
    ladder = np.mean([attack("ladder", seed) for seed in range(3)])
    assert full > 0.7  # the attack works where it may
    assert ladder == pytest.approx(0.5, abs=0.06)


CAPPED = FILE.replace("per_day = 2", "per_day = 25") + "\n[limits]\nunfinished = 100\n"
# What differs between any two submissions and says nothing about labels.
PLAIN = (
    "id",
    "sha256",
    "file",
    "received_utc",
    "received_aoe",
    "used",
    "states",
    "event_hash",
    "replay",
    "bytes",
)


def test_nothing_visible_tells_a_right_flip_from_a_wrong_one(tmp_path, clock):
    (tmp_path / "spring.toml").write_text(CAPPED)
    create_arena(tmp_path / "arena", tmp_path / "spring.toml").store.close()
    arena = open_arena(tmp_path / "arena", clock)
    truth = make_truth()
    truth["target"] = np.random.default_rng(5).choice(CLASSES, len(truth))
    for sheet in arena.competition.sheets():
        keep_truth(arena, sheet, truth, MANIFEST, ABOUT)
    open_competition(arena, accept_one_user=True, without_baselines=True)
    clock.set("2026-03-10 12:00 UTC")
    token = join(arena, "reds")
    seen: dict[str, set[str]] = {name: set() for name in CLASSES}
    label = np.full(len(truth), "left", dtype=object)
    for flipped in range(-1, 23):
        chosen = label.copy()
        if flipped >= 0:
            chosen[flipped] = "right"
        table = pd.DataFrame({"id": truth["id"], "label": chosen})
        write_submission(tmp_path / "a.parquet", table, MANIFEST, model="m", contact="a@example.org")
        submission = submit(arena, token, "commands", tmp_path / "a.parquet")
        work(arena, until_idle=True, duties=False)
        if flipped >= 0:
            seen[truth["target"][flipped]].add(look_at_everything(arena, token, submission, clock))
    assert len(seen["left"] | seen["right"]) == 1
    assert min(len(each) for each in seen.values()) == 1


def look_at_everything(arena, token, submission, clock) -> str:
    """What a team can see after a submission: receipt, list, public board; without what differs in any case."""
    receipt = {
        name: value for name, value in read_receipt(arena, token, submission).items() if name not in PLAIN
    }
    receipt["score"] = {name: value for name, value in receipt["score"].items() if name != "at"}
    (mine,) = [row for row in list_submissions(arena, token) if row["id"] == submission]
    listed = {name: value for name, value in mine.items() if name not in PLAIN}
    board = [{**row, "scored": 0} for row in list_shown(arena, "commands", "sealed")]
    public = [{**row, "scored": 0} for row in make_board(arena, "commands", "sealed", clock.now)["rows"]]
    return repr((receipt, listed, board, public))
