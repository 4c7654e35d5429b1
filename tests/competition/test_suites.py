"""A track of several parts: code answers each of them, one overall is shown, and boards rank every part."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from arena_making import ABOUT, FILE, MANIFEST, join, make_truth
from neuroarena.competition.arena import Arena, create_arena, open_arena
from neuroarena.competition.boards import rank_track
from neuroarena.competition.intake import submit
from neuroarena.competition.opening import open_competition
from neuroarena.competition.queue import claim, hand_on
from neuroarena.competition.receipts import read_receipt
from neuroarena.competition.sealing import Questions, keep_sheet
from neuroarena.competition.tables import ANSWER
from neuroarena.competition.worker import work
from neuroarena.errors import InputError
from neuroarena.scoring import Overall, write_predictions
from sample_submissions import zipped

OVERALLS = {
    "weights": (Overall(kind="weighted", weights={"speed": 0.25, "mood": 0.75}), 0.25 * 0.8 + 0.75 * 0.6),
    "ranks": (Overall(of="ranks", tasks=("speed", "mood")), None),
}


def make_suite(folder: Path, clock, overall: Overall) -> Arena:
    text = FILE.replace('benchmark = "bci/commands"', 'benchmark = "bci"\nkinds = ["code"]')
    (folder / "spring.toml").write_text(text)
    create_arena(folder / "arena", folder / "spring.toml").store.close()
    arena = open_arena(folder / "arena", clock)
    for sheet in arena.competition.sheets():
        parts = {
            part: Questions(
                make_truth(),
                MANIFEST.replace(name=f"bci/{part}"),
                {**ABOUT, "benchmark": f"bci@test/{part}"},
            )
            for part in ("speed", "mood")
        }
        keep_sheet(arena, sheet, parts, overall)
    open_competition(arena, accept_one_user=True, without_baselines=True)
    return arena


def answer(arena: Arena, folder: Path, wrong: dict[str, int]) -> None:
    """Do what a runner does: keep predictions of every part, then hand the run on to the scorer."""
    job = claim(arena.store, "runner", ["cpu"])
    truth, other = make_truth(), {"left": "right", "right": "left"}
    number = truth["id"].str.split("-").str[1].astype(int)
    with arena.store.writing() as connection:
        for part, count in wrong.items():
            label = truth["target"].where(number >= count, truth["target"].map(other))
            place = folder / f"{part}.parquet"
            manifest = arena.manifest("commands", part)
            write_predictions(place, pd.DataFrame({"id": truth["id"], "label": label}), manifest)
            kept = arena.artifacts.keep(place, 1 << 20)
            connection.execute(
                ANSWER.insert().values(run=job.run, part=part, sha256=kept.sha256, bytes=kept.n_bytes)
            )
        hand_on(connection, arena.store.clock(connection), job, "scoring", "scorer")


@pytest.mark.parametrize("kind", OVERALLS)
def test_code_is_scored_part_by_part_and_shown_as_its_overall(tmp_path, clock, kind):
    overall, expected = OVERALLS[kind]
    arena = make_suite(tmp_path, clock, overall)
    token = join(arena, "reds")
    mine = zipped(tmp_path, {"submission.py": "def load_model(meta):\n    return None\n"}, "mine.zip")
    with pytest.raises(InputError, match="--no-external-data"):
        submit(arena, token, "commands", mine)
    submission = submit(arena, token, "commands", mine, external_data=(), model="m")
    assert read_receipt(arena, token, submission)["state"] == "queued"
    answer(arena, tmp_path, {"speed": 2, "mood": 4})
    assert work(arena, until_idle=True, duties=False) == 1
    receipt = read_receipt(arena, token, submission)
    assert [each["state"] for each in receipt["states"]][-3:] == ["running", "scoring", "scored"]
    assert receipt["shown_score"] == (None if expected is None else pytest.approx(expected))
    assert receipt["score"]["parts"] == pytest.approx({"speed": 0.8, "mood": 0.6})
    board = rank_track(arena, "commands", "warm-up")
    scores = {ranking.benchmark: ranking.table["score"][0] for ranking in board.rankings}
    assert scores == {"bci@test/speed": pytest.approx(0.8), "bci@test/mood": pytest.approx(0.6)}
