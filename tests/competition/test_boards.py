"""Boards of a competition: as of any time, with verdicts where scores are public, by shown values where not."""

from __future__ import annotations

import pytest

from arena_making import MANY, join, make_arena, write_answers
from neuroarena.competition.boards import list_shown, rank_track
from neuroarena.competition.intake import submit
from neuroarena.competition.times import parse_time
from neuroarena.competition.worker import work
from neuroarena.errors import InputError


def hand_in(arena, clock, folder, team_token, wrong, time, per_unit=10):
    clock.set(time)
    answers = write_answers(folder / "mine.parquet", wrong=wrong, per_unit=per_unit)
    submit(arena, team_token, "commands", answers)
    work(arena, until_idle=True)


def test_a_board_can_be_drawn_as_of_any_time(arena, clock, tmp_path):
    reds, blues = join(arena, "reds"), join(arena, "blues")
    hand_in(arena, clock, tmp_path, reds, 3, "2026-03-02 12:00 UTC")
    hand_in(arena, clock, tmp_path, blues, 2, "2026-03-03 12:00 UTC")
    hand_in(arena, clock, tmp_path, reds, 0, "2026-03-04 12:00 UTC")
    (now,) = rank_track(arena, "commands", "warm-up").rankings
    assert list(now.table["team"]) == ["reds", "blues"]
    assert list(now.table["score"]) == [1.0, pytest.approx(0.8)]
    (then,) = rank_track(arena, "commands", "warm-up", as_of=parse_time("2026-03-04 11:59 UTC")).rankings
    assert list(then.table["team"]) == ["blues", "reds"]
    (latest,) = rank_track(arena, "commands", "warm-up", rule="latest").rankings
    assert list(latest.table["score"]) == list(now.table["score"])
    assert now.simulated


def test_a_sealed_board_ranks_the_values_that_were_shown(clock, tmp_path):
    arena = make_arena(tmp_path, clock, per_unit=MANY)
    reds, blues, greens = (join(arena, name) for name in ("reds", "blues", "greens"))
    hand_in(arena, clock, tmp_path, reds, 2, "2026-03-10 12:00 UTC", MANY)
    hand_in(arena, clock, tmp_path, reds, 2, "2026-03-10 13:00 UTC", MANY)
    hand_in(arena, clock, tmp_path, blues, 2, "2026-03-11 12:00 UTC", MANY)
    hand_in(arena, clock, tmp_path, greens, 4, "2026-03-12 12:00 UTC", MANY)
    rows = list_shown(arena, "commands", "sealed")
    assert [(row["rank"], row["team"], row["shown"], row["scored"]) for row in rows] == [
        (1, "blues", pytest.approx(0.8), 1),
        (1, "reds", pytest.approx(0.8), 2),
        (3, "greens", pytest.approx(0.6), 1),
    ]
    assert [
        row["team"] for row in list_shown(arena, "commands", "sealed", parse_time("2026-03-10 23:00 UTC"))
    ] == ["reds"]


def test_a_phase_or_a_track_that_does_not_exist_is_named(arena):
    with pytest.raises(InputError, match=r'no phase "final"\. Phases: warm-up, sealed'):
        list_shown(arena, "commands", "final")
    with pytest.raises(InputError, match='no track "sleep"'):
        list_shown(arena, "sleep", "sealed")
