"""Decisions of the organisers: boards follow them, times and scores survive, and everything can be undone."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from arena_making import join, write_answers
from command_line import neuroarena_in
from neuroarena.competition import rejudging, scorer
from neuroarena.competition.boards import list_shown, rank_track
from neuroarena.competition.decisions import delete, disqualify, rerun, undo, withdraw_for_team
from neuroarena.competition.events import verify_events
from neuroarena.competition.intake import submit
from neuroarena.competition.queue import claim, give_back
from neuroarena.competition.receipts import list_submissions, read_receipt
from neuroarena.competition.rejudging import rejudge
from neuroarena.competition.tables import PUBLIC_SCORE, RUN, SUBMISSION
from neuroarena.competition.times import parse_time
from neuroarena.competition.worker import work
from neuroarena.errors import InputError


@pytest.fixture
def scored(arena, token, tmp_path) -> str:
    submission = submit(arena, token, "commands", write_answers(tmp_path / "mine.parquet", wrong=2))
    work(arena, until_idle=True)
    return submission


def shown_teams(arena, as_of=None) -> list[str]:
    return [row["team"] for row in list_shown(arena, "commands", "warm-up", as_of)]


def test_a_disqualified_entry_leaves_the_board_and_an_undo_brings_it_back(arena, token, scored, clock):
    before = clock.now
    clock.pass_s(60)
    disqualify(arena, scored, "Trained on the test people.")
    assert shown_teams(arena) == []
    assert shown_teams(arena, before) == ["reds"]
    assert read_receipt(arena, token, scored)["disqualified"] == "Trained on the test people."
    clock.pass_s(60)
    assert undo(arena, scored) == ["disqualification"]
    assert shown_teams(arena) == ["reds"]
    with pytest.raises(InputError, match="neither disqualified nor deleted"):
        undo(arena, scored)


def test_a_deleted_entry_keeps_file_score_and_events(arena, token, scored, tmp_path):
    delete(arena, scored, "by mistake")
    assert shown_teams(arena) == []
    assert list_submissions(arena, token) == []
    with arena.store.reading() as connection:
        sha256 = connection.execute(select(SUBMISSION.c.sha256)).scalar_one()
        assert connection.execute(select(PUBLIC_SCORE.c.shown)).scalar_one() == pytest.approx(0.8)
    assert arena.artifacts.open(sha256).exists()
    assert neuroarena_in(tmp_path, "admin", "undo", str(arena.folder), scored).returncode == 0
    assert shown_teams(arena) == ["reds"]


def test_a_rerun_keeps_the_original_time_and_costs_nothing(arena, token, scored, clock, tmp_path):
    first = read_receipt(arena, token, scored)
    clock.set("2026-03-05 12:00 UTC")
    again = rerun(arena, scored, "A disk was replaced.")
    with pytest.raises(InputError, match="has not ended yet"):
        rerun(arena, scored, "twice")
    work(arena, until_idle=True)
    receipt = read_receipt(arena, token, scored)
    assert receipt["received_utc"] == first["received_utc"]
    assert receipt["reruns"] == [{"run": again, "state": "scored"}]
    assert receipt["used"] == first["used"] == "1 of 5"
    (row,) = list_shown(arena, "commands", "warm-up")
    assert (row["scored"], row["last_utc"]) == (1, first["received_utc"])


def test_a_rerun_that_breaks_does_not_refund_the_first_attempt(arena, token, scored, clock):
    rerun(arena, scored, "again")
    truth = arena.folder / "vault" / "truth" / "commands.parquet"
    hidden = truth.rename(truth.with_suffix(".hidden"))
    for _ in range(4):
        work(arena, until_idle=True)
        clock.pass_s(120)
    hidden.rename(truth)
    receipt = read_receipt(arena, token, scored)
    assert receipt["reruns"][0]["state"] == "broken"
    assert (receipt["state"], receipt["attempt"]) == ("scored", "counts")


def test_a_new_scorer_version_adds_scores_and_keeps_the_old_board(arena, scored, clock, monkeypatch):
    before = clock.now
    clock.pass_s(3600)
    assert rejudge(arena) == 0
    real = scorer.score

    def lenient(*words, **named):
        units = real(*words, **named)
        object.__setattr__(units, "scorer_version", "2")
        units.table["score"] = 0.9
        return units

    monkeypatch.setattr(scorer, "score", lenient)
    monkeypatch.setattr(rejudging, "SCORER_VERSION", "2")
    assert rejudge(arena) == 1
    assert rejudge(arena) == 0
    (now,) = rank_track(arena, "commands", "warm-up").rankings
    (then,) = rank_track(arena, "commands", "warm-up", as_of=before).rankings
    assert (now.table["score"][0], then.table["score"][0]) == (pytest.approx(0.9), pytest.approx(0.8))
    with arena.store.reading() as connection:
        versions = list(connection.execute(select(PUBLIC_SCORE.c.scorer_version)).scalars())
        verify_events(connection)
    assert sorted(versions) == ["1", "2"]


def test_organisers_withdraw_what_nobody_works_on(arena, token, tmp_path):
    submission = submit(arena, token, "commands", write_answers(tmp_path / "mine.parquet"))
    job = claim(arena.store, "one", ["scorer"])
    with pytest.raises(InputError, match="is scoring and cannot be withdrawn"):
        withdraw_for_team(arena, submission, "The team asked for it.")
    give_back(arena.store, job, "stopped", counts=False)
    withdraw_for_team(arena, submission, "The team asked for it.")
    assert read_receipt(arena, token, submission)["state"] == "withdrawn"
    with pytest.raises(InputError, match="was withdrawn; there is nothing to run"):
        rerun(arena, submission, "again")


def test_a_run_on_which_two_workers_went_silent_waits_for_an_organiser(arena, token, tmp_path, clock):
    submission = submit(arena, token, "commands", write_answers(tmp_path / "mine.parquet"))
    for name in ("one", "two"):
        assert claim(arena.store, name, ["scorer"]) is not None
        clock.pass_s(61)
    assert claim(arena.store, "three", ["scorer"]) is None
    receipt = read_receipt(arena, token, submission)
    assert (receipt["state"], receipt["attempt"]) == ("broken", "refunded")
    assert "2 workers went silent on it" in receipt["reason"]
    said = neuroarena_in(tmp_path, "admin", "queue", str(arena.folder)).stdout
    assert submission in said
    rerun(arena, submission, "The node was repaired.")
    work(arena, until_idle=True)
    assert read_receipt(arena, token, submission)["state"] == "scored"
    with arena.store.reading() as connection:
        assert not any(connection.execute(select(RUN.c.quarantined)).scalars())


def test_an_unknown_submission_is_named(arena):
    for act in (
        lambda: disqualify(arena, "s0", "x"),
        lambda: delete(arena, "s0"),
        lambda: rerun(arena, "s0", "x"),
    ):
        with pytest.raises(InputError, match='no submission "s0"'):
            act()


def test_the_board_of_a_team_that_joined_later_does_not_change_the_past(arena, scored, clock, tmp_path):
    clock.set("2026-03-06 12:00 UTC")
    submit(arena, join(arena, "blues"), "commands", write_answers(tmp_path / "b.parquet"))
    work(arena, until_idle=True)
    assert shown_teams(arena, parse_time("2026-03-06 11:59 UTC")) == ["reds"]
    assert shown_teams(arena) == ["blues", "reds"]
