"""Duties and boards: published on time, the same when made again, frozen when they should be; files go in time."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from arena_making import FILE, MANY, join, make_arena, write_answers
from command_line import neuroarena_in
from neuroarena.competition.boards import list_shown
from neuroarena.competition.events import verify_events
from neuroarena.competition.intake import submit
from neuroarena.competition.queue import Fenced
from neuroarena.competition.retention import remove_old_files
from neuroarena.competition.schedules import DUTIES, claim_duty, enter_duties, finish_duty
from neuroarena.competition.snapshots import hash_board, make_board, publish_board, read_snapshot
from neuroarena.competition.tables import SCHEDULE, SNAPSHOT, SUBMISSION
from neuroarena.competition.teams import reveal_affiliation
from neuroarena.competition.times import parse_time
from neuroarena.competition.worker import work
from neuroarena.errors import InputError


def hand_in(arena, token, folder, wrong, per_unit=10) -> str:
    answers = write_answers(folder / "mine.parquet", wrong=wrong, per_unit=per_unit)
    submission = submit(arena, token, "commands", answers)
    work(arena, until_idle=True, duties=False)
    return submission


def test_a_board_is_published_every_quarter_of_an_hour_when_it_has_changed(arena, token, clock, tmp_path):
    hand_in(arena, token, tmp_path, 2)
    for _ in range(3):
        work(arena, until_idle=True)
        clock.pass_s(16 * 60)
    hand_in(arena, token, tmp_path, 1)
    work(arena, until_idle=True)
    with arena.store.reading() as connection:
        rows = connection.execute(select(SNAPSHOT).order_by(SNAPSHOT.c.number)).mappings().all()
        outcome = connection.execute(select(SCHEDULE.c.outcome).where(SCHEDULE.c.name == "boards")).scalar()
        verify_events(connection)
    assert [row["content"]["rows"][0]["shown"] for row in rows] == pytest.approx([0.8, 0.9])
    assert outcome == "1 of 1 boards changed; pages made anew"


def test_a_published_board_is_made_again_as_of_its_time(arena, token, clock, tmp_path):
    hand_in(arena, token, tmp_path, 2)
    assert publish_board(arena, "commands", "warm-up") == 1
    assert publish_board(arena, "commands", "warm-up") is None
    time = clock.now
    clock.pass_s(3600)
    hand_in(arena, token, tmp_path, 0)
    assert publish_board(arena, "commands", "warm-up") == 2
    published = read_snapshot(arena, "commands", "warm-up", time)
    assert hash_board(make_board(arena, "commands", "warm-up", time)) == published["sha256"]
    assert published["number"] == 1
    with pytest.raises(InputError, match="was published by then"):
        read_snapshot(arena, "commands", "warm-up", parse_time("2026-03-01 00:00 UTC"))


def test_a_frozen_board_stays_as_it_was_until_the_phase_has_ended(tmp_path, clock):
    frozen = FILE.replace("per_day = 2", 'per_day = 2\nfrozen_from = "2026-03-15 00:00 UTC"')
    arena = make_arena(tmp_path, clock, frozen, per_unit=MANY)
    token = join(arena, "reds")
    clock.set("2026-03-14 12:00 UTC")
    hand_in(arena, token, tmp_path, 4, MANY)
    clock.set("2026-03-16 12:00 UTC")
    hand_in(arena, token, tmp_path, 0, MANY)
    assert make_board(arena, "commands", "sealed", clock.now)["rows"][0]["shown"] == pytest.approx(0.6)
    clock.set("2026-03-20 00:00 UTC")
    assert make_board(arena, "commands", "sealed", clock.now)["rows"][0]["shown"] == 1.0


def test_an_affiliation_is_hidden_until_the_team_reveals_it(arena, token, tmp_path):
    hand_in(arena, token, tmp_path, 2)
    with pytest.raises(InputError, match="has given no affiliation"):
        reveal_affiliation(arena, "reds")
    said = neuroarena_in(
        tmp_path, "admin", "team", str(arena.folder), "blues", "--affiliation", "University of B"
    )
    assert said.returncode == 0
    assert list_shown(arena, "commands", "warm-up")[0]["affiliation"] is None
    reveal_affiliation(arena, "reds", "University of A")
    assert list_shown(arena, "commands", "warm-up")[0]["affiliation"] == "University of A"


def test_a_duty_is_done_by_one_worker_and_a_late_one_is_refused(arena, clock):
    enter_duties(arena)
    with arena.store.writing() as connection:
        connection.execute(SCHEDULE.delete().where(SCHEDULE.c.name == "audits"))
    first = claim_duty(arena, "one", ["scorer"])
    assert first.name == "boards"
    assert claim_duty(arena, "two", ["scorer"]) is None
    clock.pass_s(601)
    second = claim_duty(arena, "two", ["scorer"])
    assert second.fence == first.fence + 1
    with pytest.raises(Fenced):
        finish_duty(arena, first, "late")
    finish_duty(arena, second, "done")
    assert claim_duty(arena, "one", ["scorer"]) is None
    clock.pass_s(15 * 60)
    assert claim_duty(arena, "one", ["scorer"]).name == "boards"


def test_the_walls_are_tried_again_where_code_is_taken(arena, clock):
    enter_duties(arena)
    claimed = claim_duty(arena, "one", ["cpu"])
    assert claimed.name == "self-test"
    assert DUTIES["self-test"].act(arena) == "no track takes code"
    finish_duty(arena, claimed, "done")
    clock.pass_s(5 * 3600)
    assert claim_duty(arena, "one", ["cpu"]) is None
    clock.pass_s(3600)
    assert claim_duty(arena, "one", ["cpu"]) is not None


def test_refused_files_go_after_a_week_and_their_hashes_stay(arena, token, clock, tmp_path):
    answers = write_answers(tmp_path / "mine.parquet")
    damaged = tmp_path / "cut.parquet"
    damaged.write_bytes(answers.read_bytes()[:-20])
    refused = submit(arena, token, "commands", damaged)
    kept = submit(arena, token, "commands", answers)
    clock.pass_s(6 * 86400)
    assert remove_old_files(arena) == "0 refused, 0 code, 0 logs files removed"
    clock.pass_s(2 * 86400)
    assert remove_old_files(arena) == "1 refused, 0 code, 0 logs files removed"
    with arena.store.reading() as connection:
        rows = {row["id"]: row for row in connection.execute(select(SUBMISSION)).mappings()}
    assert not arena.artifacts.path(rows[refused]["sha256"]).exists()
    assert len(rows[refused]["sha256"]) == 64
    assert arena.artifacts.open(rows[kept]["sha256"]).exists()
