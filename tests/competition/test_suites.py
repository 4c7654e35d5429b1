"""A track of several parts: code answers each of them, one overall is shown, and boards rank every part."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import func, select

from arena_making import ABOUT, FILE, MANIFEST, join, make_truth
from neuroarena.competition import opening, runner
from neuroarena.competition.answers import clip_answers
from neuroarena.competition.arena import Arena, create_arena, open_arena
from neuroarena.competition.boards import rank_track
from neuroarena.competition.intake import submit
from neuroarena.competition.opening import open_competition
from neuroarena.competition.queue import claim, hand_on
from neuroarena.competition.receipts import read_receipt
from neuroarena.competition.scorer import score_answers
from neuroarena.competition.sealing import Questions, keep_sheet, seal_track
from neuroarena.competition.tables import ANSWER, RUN
from neuroarena.competition.worker import work
from neuroarena.errors import InputError
from neuroarena.evaluation.model_contract import Answered
from neuroarena.scoring import Manifest, Overall, write_predictions
from sample_submissions import zipped
from track_twins import twin

OVERALLS = {
    "weights": (Overall(kind="weighted", weights={"speed": 0.25, "mood": 0.75}), 0.25 * 0.8 + 0.75 * 0.6),
    "ranks": (Overall(of="ranks", tasks=("speed", "mood")), None),
}


def make_suite(
    folder: Path,
    clock,
    overall: Overall,
    manifest: Manifest = MANIFEST,
    more: str = "",
    ladder: bool = False,
) -> Arena:
    text = FILE.replace('benchmark = "bci/commands"', f'benchmark = "bci"\nkinds = ["code"]\n{more}')
    # Without a step of the file's own, only a baseline could set one.
    (folder / "spring.toml").write_text(text.replace("step = 0.02\n", "") if ladder else text)
    create_arena(folder / "arena", folder / "spring.toml").store.close()
    arena = open_arena(folder / "arena", clock)
    for sheet in arena.competition.sheets():
        parts = {
            part: Questions(
                make_truth() if manifest is MANIFEST else make_truth().assign(target=5.0),
                manifest.replace(name=f"bci/{part}"),
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


# Two of the fifteen defects of test_fifteen_defects.py, which need code that answers several parts.
def test_02_a_run_is_not_scoring_before_all_of_its_answers_are_stored(tmp_path, clock, monkeypatch):
    arena = make_suite(tmp_path, clock, OVERALLS["weights"][0])
    mine = zipped(tmp_path, "def load_model(meta):\n    return None\n")
    submit(arena, join(arena, "reds"), "commands", mine, external_data=())
    job = claim(arena.store, "runner", ["cpu"])
    table = pd.DataFrame({"id": make_truth()["id"], "label": "left"})
    answered = Answered({"speed": table, "mood": table}, {"runtime": "x"})
    monkeypatch.setattr(runner, "require_ready_runner", lambda *_: None)
    monkeypatch.setattr(runner, "ask_code", lambda *_, **__: answered)

    def die(*_: object, **__: object) -> None:
        raise OSError("the machine went away")

    with monkeypatch.context() as broken:
        broken.setattr(runner, "hand_on", die)
        with pytest.raises(OSError, match="went away"):
            runner.run_code(arena, job)
    assert read_run(arena, job.run) == ("running", 0)
    runner.run_code(arena, job)
    assert read_run(arena, job.run) == ("scoring", 2)


def test_15_a_submission_with_a_part_that_has_no_answers_is_never_scored(tmp_path, clock):
    arena = make_suite(tmp_path, clock, OVERALLS["weights"][0])
    token = join(arena, "reds")
    mine = zipped(tmp_path, "def load_model(meta):\n    return None\n")
    submission = submit(arena, token, "commands", mine, external_data=())
    answer(arena, tmp_path, {"speed": 0})
    for _ in range(4):
        work(arena, labels=("scorer",), until_idle=True, duties=False)
        clock.pass_s(120)
    receipt = read_receipt(arena, token, submission)
    assert (receipt["state"], receipt["attempt"], receipt["score"]) == ("broken", "refunded", None)


def read_run(arena: Arena, run: str) -> tuple[str, int]:
    """Return the state of a run, and how many answers are stored of it."""
    with arena.store.reading() as connection:
        state = connection.execute(select(RUN.c.state).where(RUN.c.id == run)).scalar_one()
        count = select(func.count()).select_from(ANSWER).where(ANSWER.c.run == run)
        return state, connection.execute(count).scalar_one()


def test_every_part_is_clipped_to_its_own_range_of_labels(tmp_path, clock):
    seconds = MANIFEST.replace(metric="mae", prediction="number", classes=())
    ranges = "label_range = { speed = [0, 10], mood = [-1, 6] }"
    arena = make_suite(tmp_path, clock, OVERALLS["weights"][0], seconds, ranges)
    far = make_truth()[["id"]].assign(number=5.0)
    far.loc[0, "number"] = 1e6
    row = {"track": "commands", "phase": "warm-up", "file": "far.parquet"}
    clipped = {part: clip_answers(arena, row, part, far) for part in ("speed", "mood")}
    found = {part: units.value for part, units in score_answers(arena, row, clipped).items()}
    assert found == pytest.approx({"speed": 5 / 80, "mood": 1 / 80})


def test_a_range_of_a_part_that_is_not_there_is_refused_before_anything_is_sealed(tmp_path):
    ranged = 'benchmark = "bci/commands"\nlabel_range = { speed = [0, 1] }'
    text = FILE.replace('benchmark = "bci/commands"', ranged)
    (tmp_path / "spring.toml").write_text(text)
    arena = create_arena(tmp_path / "arena", tmp_path / "spring.toml")
    with pytest.raises(InputError, match=r'has a label_range for "speed"\. Parts .* numbers: none'):
        seal_track(arena, "commands", str(twin("bci_commands")))
    assert not arena.public_folder("commands").exists()


def test_a_ladder_shows_nothing_of_parts_that_are_joined_by_ranks_and_needs_no_step(
    tmp_path, clock, monkeypatch
):
    overall = OVERALLS["ranks"][0]
    arena = make_suite(tmp_path, clock, overall, ladder=True)
    clock.set("2026-03-11 12:00 UTC")
    token = join(arena, "reds")
    mine = zipped(tmp_path, {"submission.py": "def load_model(meta):\n    return None\n"}, "mine.zip")
    submission = submit(arena, token, "commands", mine, external_data=(), model="m")
    answer(arena, tmp_path, {"speed": 2, "mood": 4})
    assert work(arena, until_idle=True, duties=False) == 1
    receipt = read_receipt(arena, token, submission)
    assert (receipt["state"], receipt["shown_score"], receipt["score"]["parts"]) == ("scored", None, None)
    # With its baselines run, nothing about a step keeps it closed.
    monkeypatch.setattr(opening, "find_baseline_problems", lambda *_: [])
    assert opening.list_baseline_problems(arena) == []
