"""Sealed truth: halves, steps, baselines, clipping, and commitments that anyone can recompute."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arena_making import ABOUT, FILE, MANIFEST, MANY, join, make_arena, make_truth, write_answers
from command_line import neuroarena_in
from neuroarena.competition import open_arena
from neuroarena.competition.arena import create_arena
from neuroarena.competition.baselines import judge_baselines, submit_baseline
from neuroarena.competition.budget import measure_budgets
from neuroarena.competition.final import rank_finally
from neuroarena.competition.halves import split_people
from neuroarena.competition.intake import submit
from neuroarena.competition.judging import judge
from neuroarena.competition.opening import list_missing, open_competition
from neuroarena.competition.orders import derive_seed
from neuroarena.competition.receipts import read_receipt
from neuroarena.competition.reveal import reveal, verify_commitments
from neuroarena.competition.sealing import keep_truth
from neuroarena.competition.snapshots import make_board
from neuroarena.competition.tables import METADATA
from neuroarena.competition.views import Luck, choose_step, public_view
from neuroarena.competition.worker import work
from neuroarena.errors import InputError
from neuroarena.scoring import Manifest, score, write_submission

NO_STEP = FILE.replace("step = 0.02\n", "")
HALVES = FILE + "\n[halves]\npublic_share = 0.5\n"


def unopened(folder: Path, clock, text: str):
    """A competition whose truth is sealed and that is not open yet."""
    (folder / "spring.toml").write_text(text)
    create_arena(folder / "arena", folder / "spring.toml").store.close()
    made = open_arena(folder / "arena", clock)
    public = make_truth()
    public["target"] = public["target"].to_numpy()[::-1]
    for sheet, truth in (("commands", public), ("commands@sealed", make_truth())):
        keep_truth(made, sheet, truth, MANIFEST.replace(chance=0.5), ABOUT)
    return made


def write_scattered(path: Path, seed: int, share: float) -> Path:
    """Write answers of which a share is right, scattered over units."""
    truth = make_truth()
    right = np.random.default_rng(seed).random(len(truth)) < share
    other = truth["target"].map({"left": "right", "right": "left"})
    table = pd.DataFrame({"id": truth["id"], "label": truth["target"].where(right, other)})
    write_submission(path, table, MANIFEST.replace(chance=0.5), model="scattered", contact="a@example.org")
    return path


def test_a_sealed_phase_opens_only_after_three_baselines_went_the_same_way(tmp_path, clock):
    arena = unopened(tmp_path, clock, NO_STEP)
    assert [
        "no scored constant and no shuffled and no real baseline" in each for each in list_missing(arena)
    ] == [True]
    with pytest.raises(InputError, match="cannot open yet"):
        open_competition(arena, accept_one_user=True)
    assert "known once a baseline ran" in measure_budgets(arena)[0].sentence
    for name in ("constant", "shuffled"):
        submit_baseline(arena, "commands", "sealed", name)
    worker = f"neuroarena worker --arena {arena.folder} --until-idle"
    absent, waiting = list_missing(arena)
    assert absent.startswith('"commands" in "sealed" has no scored real baseline: neuroarena admin baseline')
    assert (
        waiting
        == f'"commands" in "sealed": the constant and the shuffled baselines wait for a worker: {worker}'
    )
    submit_baseline(arena, "commands", "sealed", "real", write_scattered(tmp_path / "real.parquet", 0, 0.8))
    (waiting,) = list_missing(arena)  # nothing is handed in again
    assert waiting.endswith(
        f"the constant and the shuffled and the real baselines wait for a worker: {worker}"
    )
    work(arena, until_idle=True)
    assert list_missing(arena) == []
    judged = judge_baselines(arena, "commands", "sealed")
    assert judged["constant"].value == 0.5
    (budget,) = measure_budgets(arena)
    assert budget.step == choose_step(judged["real"].standard_error)
    assert budget.rises == min(20, int(np.ceil(0.5 / budget.step)) + 1)
    # Left and right take turns in every unit here: there is one bit to know, and no score is told from luck.
    assert budget.first > 1
    assert (
        "from no score on, because its labels are too few or too regular to tell one from luck"
        in budget.sentence
    )
    assert "luck shows a value to at most 1% of teams that know nothing and spend 20" in budget.sentence
    open_competition(arena, accept_one_user=True)


def test_a_baseline_that_knows_nothing_and_beats_chance_keeps_the_phase_closed(tmp_path, clock):
    arena = unopened(tmp_path, clock, NO_STEP)
    cheat = write_scattered(tmp_path / "cheat.parquet", 1, 0.95)
    submit_baseline(arena, "commands", "sealed", "constant")
    submit_baseline(arena, "commands", "sealed", "shuffled", cheat)
    submit_baseline(arena, "commands", "sealed", "real", cheat)
    work(arena, until_idle=True)
    assert ["the shuffled baseline is better than chance" in each for each in list_missing(arena)] == [True]


def test_halves_of_few_people_are_judged_with_the_error_of_all(tmp_path, clock):
    arena = unopened(
        tmp_path, clock, NO_STEP + "\n[halves]\n"
    )  # four people in each half: too few for an error
    for name, share in (("constant", 0.5), ("shuffled", 0.56), ("real", 0.8)):
        file = write_scattered(tmp_path / f"{name}.parquet", 4, share)
        submit_baseline(arena, "commands", "sealed", name, file)
    work(arena, until_idle=True)
    shown = judge_baselines(arena, "commands", "sealed")["real"].standard_error
    whole = judge_baselines(arena, "commands", "sealed", half=None)["real"].standard_error
    assert shown == pytest.approx(whole * np.sqrt(2))
    # The shuffled baseline is above chance, by luck that these people allow, and the ladder has a step.
    assert judge_baselines(arena, "commands", "sealed", half=None)["shuffled"].value > 0.5
    assert list_missing(arena) == []
    (budget,) = measure_budgets(arena)
    assert budget.step == choose_step(shown)


def test_a_sealed_phase_does_not_open_on_answers_that_an_open_one_shows(tmp_path, clock):
    arena = make_arena(tmp_path, clock)  # a rehearsal: both phases have the same truth
    assert (
        '"commands@sealed" has the answers of "commands", whose scores are shown; seal it from data of its own'
        in list_missing(arena)
    )


def test_a_person_is_in_one_half_and_both_halves_are_alike():
    rng = np.random.default_rng(3)
    people = np.repeat(np.arange(40), 5)
    truth = pd.DataFrame({"unit": [f"u{i}" for i in range(200)], "cluster": [f"p{p}" for p in people]})
    truth["target"] = people + rng.random(200)
    halves = split_people(truth, 0.5, rng)
    assert halves.groupby(truth["cluster"]).nunique().max() == 1
    assert halves.value_counts().to_dict() == {"public": 100, "final": 100}
    means = truth["target"].groupby(halves).mean()
    assert (
        abs(means["public"] - means["final"]) < 1.5
    )  # lined up by target; at random the gap is 3.6 in the mean
    with pytest.raises(ValueError, match="one half would be empty"):
        split_people(truth.head(5), 0.5, rng)


def test_the_board_shows_one_half_and_the_final_counts_the_other(tmp_path, clock):
    arena = make_arena(tmp_path, clock, HALVES, per_unit=MANY)
    halves = {half: arena.vault.public_units("commands@sealed", half=half) for half in ("public", "final")}
    assert len(halves["public"]) == len(halves["final"]) == 4
    assert arena.vault.public_units("commands") is None
    clock.set("2026-03-10 12:00 UTC")
    truth = make_truth(per_unit=MANY)
    for team, good in (("reds", "public"), ("blues", "final")):
        right = truth["unit"].isin(halves[good])
        label = truth["target"].where(right, truth["target"].map({"left": "right", "right": "left"}))
        table = pd.DataFrame({"id": truth["id"], "label": label})
        write_submission(tmp_path / "mine.parquet", table, MANIFEST, model=team, contact="a@example.org")
        token = join(arena, team)
        submission = submit(arena, token, "commands", tmp_path / "mine.parquet")
        work(arena, until_idle=True)
        receipt = read_receipt(arena, token, submission)
        assert receipt["shown_score"] == (1.0 if team == "reds" else None)
        assert receipt["score"]["n_units"] == 4
    (ranking,) = rank_finally(arena, "commands").board.rankings
    assert list(ranking.table["team"]) == ["blues", "reds"]
    assert list(ranking.table["score"]) == [1.0, 0.0]
    assert receipt["revealed"] is None
    clock.set("2026-04-01 00:00 UTC")
    assert "board" not in make_board(arena, "commands", "sealed", clock.now)
    reveal(arena)
    assert read_receipt(arena, token, submission)["revealed"]["scores"] == {"public": 0.0, "final": 1.0}
    assert "board" in make_board(arena, "commands", "sealed", clock.now)


def test_numbers_are_clipped_to_the_range_of_labels_before_they_are_scored(tmp_path, clock):
    ranged = FILE.replace('benchmark = "bci/commands"', 'benchmark = "bci/commands"\nlabel_range = [0, 10]')
    (tmp_path / "spring.toml").write_text(ranged)
    create_arena(tmp_path / "arena", tmp_path / "spring.toml").store.close()
    arena = open_arena(tmp_path / "arena", clock)
    manifest = Manifest(
        name="bci/commands",
        definition="test",
        title="Seconds",
        question="When?",
        metric="mae",
        prediction="number",
        unit="session",
        split_rule="one part",
        licence="none",
    )
    truth = make_truth().assign(target=5.0)
    for sheet in arena.competition.sheets():
        keep_truth(arena, sheet, truth, manifest, ABOUT)
    open_competition(arena, accept_one_user=True, without_baselines=True)
    outlier = pd.DataFrame({"id": truth["id"], "number": [1e6] + [5.0] * (len(truth) - 1)})
    write_submission(tmp_path / "a.parquet", outlier, manifest, model="m", contact="a@example.org")
    token = join(arena, "reds")
    submission = submit(arena, token, "commands", tmp_path / "a.parquet")
    work(arena, until_idle=True)
    assert read_receipt(arena, token, submission)["shown_score"] == pytest.approx(5 / 80)


def test_what_is_shown_of_a_score_by_display():
    units = score(
        pd.DataFrame({"id": make_truth()["id"], "label": "left"}), make_truth(), MANIFEST, source="x"
    )
    judged = judge({"": units}, {"": MANIFEST}, None)
    assert public_view(judged, "blind", None, None).shown is None
    assert public_view(judged, "full", None, None).shown == 0.5
    assert public_view(judged, "ladder", 0.2, None).shown == 0.4
    assert public_view(judged, "ladder", 0.2, 0.4).shown is None
    assert public_view(judged, "ladder", 0.2, 0.4).sentence == "no better than 0.4 by the step of 0.2"
    assert public_view(dataclasses.replace(judged, chance=0.5), "ladder", 0.2, None).shown == 0.4
    worse = public_view(dataclasses.replace(judged, chance=0.51), "ladder", 0.2, None)
    assert worse.sentence == "no better than guessing by the step of 0.2"
    # With luck in the way, the same sentence stands for a step that is missed and for luck that is not exceeded.
    for luck in (Luck(0.5, 0.0, 1.0), Luck(0.3, 0.21, 1.0), Luck(0.3, 0.11, 2.0)):
        refused = public_view(judged, "ladder", 0.2, None, luck)
        assert refused.shown is None
        assert refused.sentence == "no better than guessing by the step of 0.2 and by more than luck"
    assert public_view(judged, "ladder", 0.1, 0.2, Luck(0.21, 0.28, 1.03)).shown == 0.5
    assert public_view(judged, "ladder", 0.1, 0.2, Luck(0.21, 0.28, 1.04)).shown is None
    with pytest.raises(ValueError, match="a ladder has a step"):
        public_view(judged, "ladder", None, None)


def test_order_and_truth_are_recomputed_from_published_files_without_our_code(arena, clock, tmp_path):
    with pytest.raises(InputError, match="has not ended"):
        reveal(arena)
    clock.set("2026-04-01 00:00 UTC")
    public = arena.folder / "public"
    before = json.loads((public / "commands@sealed" / "track.json").read_text())
    reveal(arena)
    key = bytes.fromhex((public / "reveal" / "key.hex").read_text())
    assert hashlib.sha256(key).hexdigest() == before["key_commitment"]
    salt = bytes.fromhex((public / "reveal" / "commands@sealed.salt.hex").read_text())
    truth = (public / "reveal" / "commands@sealed.parquet").read_bytes()
    assert hashlib.sha256(salt + truth).hexdigest() == before["truth_commitment"][""]
    seed = hmac.new(key, b"s1|ab|order", "sha256").hexdigest()
    assert derive_seed(key, "s1", "ab", "order") == seed
    assert int(seed, 16) == arena.orders.seed("s1", "ab", "order")
    assert neuroarena_in(tmp_path, "audit", "commitment", str(public)).returncode == 0
    (public / "reveal" / "commands.parquet").write_bytes(truth + b"x")
    said = neuroarena_in(tmp_path, "audit", "commitment", str(arena.folder))
    assert said.returncode == 1
    assert "BROKEN  truth of commands " in said.stdout
    assert [row["holds"] for row in verify_commitments(public)].count(False) == 1


def test_nothing_is_taken_once_the_truth_is_revealed(arena, token, tmp_path):
    answers = write_answers(tmp_path / "late.parquet")
    reveal(arena, early=True)
    with pytest.raises(InputError, match=r"closed|not open"):
        submit(arena, token, "commands", answers)
    with pytest.raises(InputError, match="cannot open again: its truth was revealed"):
        open_competition(arena, accept_one_user=True, without_baselines=True)


def test_no_column_outside_the_vault_can_hold_sums_or_unit_scores(arena, token, tmp_path):
    submit(arena, token, "commands", write_answers(tmp_path / "mine.parquet"))
    work(arena, until_idle=True)
    columns = {column.name for table in METADATA.tables.values() for column in table.columns}
    assert not columns & {"sum_y", "sse", "unit", "target", "parquet", "n"}
    outside = [
        path
        for path in arena.folder.rglob("*")
        if path.is_file() and not {"vault", "artifacts"} & set(path.parts)
    ]
    assert all(b"unit_scores" not in path.read_bytes() for path in outside)
