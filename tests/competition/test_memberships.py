"""Teams by account: founded, joined by letter once, left; one person, one team; a person's data go when asked."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select

from arena_making import write_answers
from neuroarena.competition.events import verify_events
from neuroarena.competition.intake import Post, take_post
from neuroarena.competition.people.accounts import create_account, sign_in
from neuroarena.competition.people.invitations import (
    accept_invitation,
    invite,
    list_invitations,
    read_invitation,
    take_back,
)
from neuroarena.competition.people.memberships import (
    found_team,
    hand_over,
    leave_team,
    list_accounts,
    remove_from_team,
)
from neuroarena.competition.people.personal import delete_account, export_personal_data
from neuroarena.competition.people.sessions import find_person
from neuroarena.competition.tables import METADATA, TEAM
from neuroarena.competition.teams import accept_terms, issue_token, list_tokens, read_token
from neuroarena.errors import InputError
from people_making import BASE, PASSWORD, ticket_of


@pytest.fixture
def ada(arena) -> str:
    """The captain of the team "reds"."""
    account = create_account(arena, "ada@example.org", "Ada Lovelace", PASSWORD)
    found_team(arena, account, "reds", "Analytical Society")
    return account


@pytest.fixture
def ben(arena) -> str:
    return create_account(arena, "ben@example.org", "Ben", PASSWORD)


def hand_in(arena, team, folder) -> str:
    accept_terms(arena, team)
    file = write_answers(folder / "mine.parquet")
    return take_post(arena, team, Post("commands", file, "predictions", "mine.parquet", team))


def test_an_invitation_lets_its_address_in_once(arena, ada, ben, clock):
    ticket = ticket_of(invite(arena, "reds", "Ben@example.org", by=ada, base=BASE))
    assert read_invitation(arena, ticket) == "reds"
    assert [row["email"] for row in list_invitations(arena, "reds")] == ["ben@example.org"]
    stranger = create_account(arena, "eve@example.org", "Eve", PASSWORD)
    with pytest.raises(InputError, match="another address"):
        accept_invitation(arena, ticket, stranger)
    clock.pass_s(60)
    assert accept_invitation(arena, ticket, ben) == "reds"
    assert [(row["name"], row["captain"]) for row in list_accounts(arena, "reds")] == [
        ("Ada Lovelace", True),
        ("Ben", False),
    ]
    with pytest.raises(InputError, match="not valid"):
        accept_invitation(arena, ticket, ben)
    assert list_invitations(arena, "reds") == []


def test_an_invitation_that_was_taken_back_lets_nobody_in(arena, ada, ben):
    ticket = ticket_of(invite(arena, "reds", "ben@example.org", by=ada, base=BASE))
    take_back(arena, "reds", list_invitations(arena, "reds")[0]["id"], by=ada)
    with pytest.raises(InputError, match="not valid"):
        accept_invitation(arena, ticket, ben)


def test_nobody_is_in_two_teams_nor_in_a_second_after_one_that_took_part(arena, ada, ben, tmp_path):
    found_team(arena, ben, "blues")
    ticket = ticket_of(invite(arena, "reds", "ben@example.org", by=ada, base=BASE))
    with pytest.raises(InputError, match='belong to the team "blues"'):
        accept_invitation(arena, ticket, ben)
    with pytest.raises(InputError, match="belong"):
        found_team(arena, ben, "greens")
    hand_in(arena, "blues", tmp_path)
    leave_team(arena, ben)
    with pytest.raises(InputError, match="took part already"):
        accept_invitation(arena, ticket, ben)
    with pytest.raises(InputError, match="took part already"):
        found_team(arena, ben, "greens")
    with arena.store.reading() as connection:
        assert connection.execute(select(TEAM.c.name).where(TEAM.c.name == "greens")).first() is None


def test_a_captain_who_leaves_is_followed_by_the_first_who_joined(arena, ada, ben, clock):
    clock.pass_s(60)
    accept_invitation(arena, ticket_of(invite(arena, "reds", "ben@example.org", by=ada, base=BASE)), ben)
    hand_over(arena, "reds", ben, actor=ada)
    assert [row["captain"] for row in list_accounts(arena, "reds")] == [False, True]
    hand_over(arena, "reds", ada, actor=ben)
    leave_team(arena, ada)
    assert [(row["id"], row["captain"]) for row in list_accounts(arena, "reds")] == [(ben, True)]
    with pytest.raises(InputError, match="no member"):
        remove_from_team(arena, "reds", ada, actor=ben)
    token = issue_token(arena, "reds", actor=ben)
    leave_team(arena, ben)
    assert list_tokens(arena, "reds") == []
    with pytest.raises(InputError, match="not valid"):
        read_token(arena, token)


def test_a_person_who_comes_back_is_the_same_member(arena, ada, ben):
    for _ in range(2):
        accept_invitation(arena, ticket_of(invite(arena, "reds", "ben@example.org", by=ada, base=BASE)), ben)
        remove_from_team(arena, "reds", ben, actor=ada)
    assert [row["id"] for row in list_accounts(arena, "reds")] == [ada]


def test_two_people_with_one_name_are_two_members(arena, ada):
    twin = create_account(arena, "ada2@example.org", "Ada Lovelace", PASSWORD)
    accept_invitation(arena, ticket_of(invite(arena, "reds", "ada2@example.org", by=ada, base=BASE)), twin)
    assert len(list_accounts(arena, "reds")) == 2


def test_the_export_of_a_person_has_their_data_and_no_secret(arena, ada, tmp_path):
    submission = hand_in(arena, "reds", tmp_path)
    secret = sign_in(arena, "ada@example.org", PASSWORD)
    said = json.dumps(export_personal_data(arena, ada))
    for word in ("ada@example.org", "Ada Lovelace", "Analytical Society", submission):
        assert word in said
    for word in ("argon2", "secret", secret, '"password"'):
        assert word not in said


def test_a_deleted_account_leaves_no_personal_data_and_its_submissions_stay(arena, ada, ben, tmp_path):
    submission = hand_in(arena, "reds", tmp_path)
    invite(arena, "reds", "ada@example.org", by=ada, base=BASE)
    secret = sign_in(arena, "ada@example.org", PASSWORD)
    with pytest.raises(InputError, match="Nothing was deleted"):
        delete_account(arena, ada, "not the password")
    delete_account(arena, ada, PASSWORD)
    assert find_person(arena, secret) is None
    with arena.store.reading() as connection:
        everything = {
            name: str(connection.execute(select(table)).all()) for name, table in METADATA.tables.items()
        }
        verify_events(connection)
    for name, rows in everything.items():
        assert "ada@example.org" not in rows, name
        assert "Lovelace" not in rows, name
        assert "Analytical" not in rows, name
    assert submission in everything["submission"]
    assert ada in everything["account"]
    with pytest.raises(InputError):
        sign_in(arena, "ada@example.org", PASSWORD)
    create_account(arena, "ada@example.org", "Somebody new", PASSWORD)
