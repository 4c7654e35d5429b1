"""What organisers ask for on the pages, done by a worker that may; announcements that can be taken back."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from arena_making import write_answers
from neuroarena.competition.announcements import (
    list_announcements,
    post_announcement,
    remove_announcement,
    restore_announcement,
)
from neuroarena.competition.arena import read_about
from neuroarena.competition.events import verify_events
from neuroarena.competition.intake import submit
from neuroarena.competition.opening import close_competition
from neuroarena.competition.requests import ask, list_requests
from neuroarena.competition.tables import PUBLIC_SCORE
from neuroarena.competition.worker import work
from neuroarena.errors import InputError


def test_a_scorer_judges_again_when_organisers_ask_and_says_how_it_went(arena, token, clock, tmp_path):
    submit(arena, token, "commands", write_answers(tmp_path / "mine.parquet", wrong=2))
    work(arena, until_idle=True, duties=False)
    with arena.store.writing() as connection:
        connection.execute(PUBLIC_SCORE.update().values(scorer_version="older"))
    clock.pass_s(60)
    asked = ask(arena, "rejudge", {"track": "commands"}, actor="a1")
    assert ask(arena, "rejudge", {"track": "commands"}, actor="a2") == asked
    work(arena, ["intake"], until_idle=True)
    assert list_requests(arena)[0]["outcome"] is None
    work(arena, ["scorer"], until_idle=True)
    (row,) = list_requests(arena)
    assert row["outcome"].startswith("1 run judged by scorer")
    with arena.store.reading() as connection:
        assert len(connection.execute(select(PUBLIC_SCORE)).all()) == 2
        verify_events(connection)


def test_a_request_that_is_refused_says_why_and_ends(arena):
    ask(arena, "rejudge", {"track": "nowhere"}, actor="a1")
    work(arena, ["scorer"], until_idle=True)
    assert list_requests(arena)[0]["outcome"].startswith("refused: Spring challenge has no track")
    with pytest.raises(InputError, match="Nobody can be asked"):
        ask(arena, "reveal the truth", actor="a1")


def test_the_competition_opens_again_only_where_a_scorer_finds_nothing_missing(arena):
    close_competition(arena, actor="a1")
    ask(arena, "open", actor="a1")
    work(arena, ["scorer"], until_idle=True)
    assert list_requests(arena)[0]["outcome"].startswith("refused: Spring challenge cannot open yet")
    with arena.store.reading() as connection:
        assert read_about(connection, "status") == "closed"


def test_an_announcement_is_posted_removed_and_brought_back(arena):
    number = post_announcement(arena, "Data are  fixed", "Load them *anew*.", actor="a1")
    assert [row["title"] for row in list_announcements(arena)] == ["Data are fixed"]
    remove_announcement(arena, number, actor="a1")
    assert list_announcements(arena) == []
    assert list_announcements(arena, removed=True)[0]["removed"]
    with pytest.raises(InputError, match="could be removed"):
        remove_announcement(arena, number, actor="a1")
    restore_announcement(arena, number, actor="a1")
    assert len(list_announcements(arena)) == 1
    for title, text in (("", "text"), ("title", "  "), ("x" * 201, "text"), ("title", "x" * 20_001)):
        with pytest.raises(InputError):
            post_announcement(arena, title, text, actor="a1")
