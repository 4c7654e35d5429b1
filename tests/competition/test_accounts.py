"""Accounts: confirmed by letter, signed in by password; a stranger learns nothing, and a secret is good once."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from sqlalchemy import select

from neuroarena.competition.events import verify_events
from neuroarena.competition.people.accounts import (
    WRONG,
    change_password,
    create_account,
    register,
    request_reset,
    set_organiser,
    set_password,
    sign_in,
    verify_email,
)
from neuroarena.competition.people.letters import Letter, make_message, make_sender, send_or_log
from neuroarena.competition.people.passwords import check_password
from neuroarena.competition.people.rates import Rate, TooOften
from neuroarena.competition.people.sessions import close_session, find_person
from neuroarena.competition.tables import ACCOUNT, EVENT, SESSION, TICKET
from neuroarena.errors import InputError
from people_making import BASE, PASSWORD, ticket_of

MAIL = {
    "backend": "file",
    "sender": "arena@example.org",
    "folder": "letters",
    "host": "localhost",
    "port": 25,
    "user": None,
    "password_file": None,
    "security": "none",
}


def enter(arena, email="ada@example.org", password=PASSWORD) -> str:
    return verify_email(arena, ticket_of(register(arena, email, "Ada L", password, base=BASE)), password)


def test_a_registered_person_confirms_the_address_and_signs_in(arena):
    letter = register(arena, " Ada@Example.org ", "Ada  L", PASSWORD, base=BASE)
    assert letter.to == "ada@example.org"
    assert f"{BASE}/verify?ticket=" in letter.text
    with pytest.raises(InputError, match=re.escape(WRONG)):
        sign_in(arena, "ada@example.org", PASSWORD)
    verify_email(arena, ticket_of(letter), PASSWORD)
    person = find_person(arena, sign_in(arena, "ADA@example.org", PASSWORD))
    assert person is not None
    assert (person.email, person.name, person.team, person.organiser) == (
        "ada@example.org",
        "Ada L",
        None,
        False,
    )


def test_no_secret_is_in_the_store_and_no_address_in_the_events(arena):
    letter = register(arena, "ada@example.org", "Ada", PASSWORD, base=BASE)
    verify_email(arena, ticket_of(letter), PASSWORD)
    session = sign_in(arena, "ada@example.org", PASSWORD)
    with arena.store.reading() as connection:
        rows = str([connection.execute(select(table)).all() for table in (ACCOUNT, SESSION, TICKET, EVENT)])
        events = str(connection.execute(select(EVENT)).all())
        assert verify_events(connection) > 0
    assert PASSWORD not in rows
    assert session not in rows
    assert ticket_of(letter) not in rows
    assert "$argon2id$" in rows
    assert "ada@" not in events
    assert "Ada" not in events


def test_a_click_does_not_confirm_an_address_that_somebody_else_registered(arena):
    letter = register(arena, "victim@example.org", "Not me", "the attacker's words", base=BASE)
    with pytest.raises(InputError, match="not the password"):
        verify_email(arena, ticket_of(letter), "what the victim would type")
    own = set_password(arena, ticket_of(request_reset(arena, "victim@example.org", base=BASE)), PASSWORD)
    with pytest.raises(InputError):
        sign_in(arena, "victim@example.org", "the attacker's words")
    person = find_person(arena, sign_in(arena, "victim@example.org", PASSWORD))
    assert person is not None
    assert person.account == own


def test_registering_again_changes_nothing_and_tells_the_owner_alone(arena):
    account = enter(arena)
    letter = register(arena, "ada@example.org", "Another", "another long password", base=BASE)
    assert "has an account already" in letter.text
    assert "ticket" not in letter.text
    person = find_person(arena, sign_in(arena, "ada@example.org", PASSWORD))
    assert person is not None
    assert (person.account, person.name) == (account, "Ada L")


def test_a_wrong_sign_in_has_one_answer_whoever_it_is(arena):
    enter(arena)
    register(arena, "waiting@example.org", "Waiting", PASSWORD, base=BASE)
    tries = [("ada@example.org", "wrong password"), ("ada@example.org", "x" * 300)]
    tries += [(email, PASSWORD) for email in ("nobody@example.org", "waiting@example.org", "no address", "")]
    for email, password in tries:
        with pytest.raises(InputError) as refused:
            sign_in(arena, email, password)
        assert str(refused.value) == WRONG, email


def test_a_password_is_hashed_also_for_an_account_that_is_not_there(monkeypatch):
    import argon2

    verified = []
    real = argon2.PasswordHasher.verify

    def count(self, kept, password):
        verified.append(kept)
        return real(self, kept, password)

    monkeypatch.setattr(argon2.PasswordHasher, "verify", count)
    assert check_password(None, PASSWORD) is False
    assert check_password(None, "nobody has this password") is False
    assert len(verified) == 2


def test_what_cannot_be_an_account_is_refused_with_a_reason(arena):
    for email, name, password, said in (
        ("ada", "Ada", PASSWORD, "not an email address"),
        ("ada@example.org\nBcc: all@example.org", "Ada", PASSWORD, "not an email address"),
        ("<ada@example.org>", "Ada", PASSWORD, "not an email address"),
        ("a" * 250 + "@example.org", "Ada", PASSWORD, "not an email address"),
        ("ada@example.org", "", PASSWORD, "A name takes"),
        ("ada@example.org", "A\x1bda", PASSWORD, "A name takes"),
        ("ada@example.org", "Ada", "short", "too short"),
        ("ada@example.org", "Ada", "x" * 201, "too long"),
        ("ada@example.org", "Ada", "aaaaaaaaaaaa", "easy to guess"),
        ("ada@example.org", "Ada", "Ada@example.org", "easy to guess"),
    ):
        with pytest.raises(InputError, match=said):
            register(arena, email, name, password, base=BASE)
    with arena.store.reading() as connection:
        assert connection.execute(select(ACCOUNT)).first() is None


def test_a_ticket_is_good_once_for_one_purpose_and_for_a_while(arena, clock):
    letter = register(arena, "ada@example.org", "Ada", PASSWORD, base=BASE)
    with pytest.raises(InputError, match="not valid"):
        set_password(arena, ticket_of(letter), PASSWORD)
    verify_email(arena, ticket_of(letter), PASSWORD)
    with pytest.raises(InputError, match="not valid"):
        verify_email(arena, ticket_of(letter), PASSWORD)
    first, second = (ticket_of(request_reset(arena, "ada@example.org", base=BASE)) for _ in range(2))
    with pytest.raises(InputError, match="not valid"):
        set_password(arena, first, PASSWORD)
    with pytest.raises(InputError, match="too short"):
        set_password(arena, second, "short")
    clock.pass_s(3601)
    with pytest.raises(InputError, match="not valid"):
        set_password(arena, second, PASSWORD)


def test_nobody_gets_a_letter_for_an_address_without_an_account(arena):
    assert request_reset(arena, "nobody@example.org", base=BASE) is None


def test_a_new_password_ends_all_sessions_and_a_changed_one_all_others(arena):
    account = enter(arena)
    here, there = (sign_in(arena, "ada@example.org", PASSWORD) for _ in range(2))
    with pytest.raises(InputError, match="present password is wrong"):
        change_password(arena, account, "not the password", "a better password")
    change_password(arena, account, PASSWORD, "a better password", session=here)
    assert find_person(arena, here) is not None
    assert find_person(arena, there) is None
    set_password(arena, ticket_of(request_reset(arena, "ada@example.org", base=BASE)), PASSWORD)
    assert find_person(arena, here) is None


def test_a_session_ends_by_signing_out_and_by_time(arena, clock):
    enter(arena)
    secret = sign_in(arena, "ada@example.org", PASSWORD)
    close_session(arena, secret)
    assert find_person(arena, secret) is None
    secret = sign_in(arena, "ada@example.org", PASSWORD)
    clock.pass_s(15 * 86400)
    assert find_person(arena, secret) is None


def test_organisers_are_made_by_whoever_owns_the_store_and_their_sessions_are_short(arena, clock):
    with pytest.raises(InputError, match="Let them register"):
        set_organiser(arena, "ada@example.org", True)
    enter(arena)
    before = sign_in(arena, "ada@example.org", PASSWORD)
    set_organiser(arena, "ada@example.org", True)
    assert find_person(arena, before) is None
    secret = sign_in(arena, "ada@example.org", PASSWORD)
    person = find_person(arena, secret)
    assert person is not None
    assert person.organiser
    clock.pass_s(13 * 3600)
    assert find_person(arena, secret) is None


def test_an_account_of_a_demonstration_needs_no_letter(arena):
    create_account(arena, "demo@example.org", "Demo", PASSWORD, organiser=True)
    assert find_person(arena, sign_in(arena, "demo@example.org", PASSWORD)) is not None
    with pytest.raises(InputError, match="already"):
        create_account(arena, "demo@example.org", "Demo", PASSWORD)


def test_a_rate_lets_so_many_through_and_more_when_time_has_passed():
    now = [0.0]
    rate = Rate(3, 60, clock=lambda: now[0])
    for _ in range(3):
        rate.take("ada")
    rate.take("another")
    with pytest.raises(TooOften, match="Wait 20 seconds") as refused:
        rate.take("ada")
    assert refused.value.retry_after_s == 20
    rate.give_back("ada")
    rate.take("ada")
    now[0] += 20
    rate.take("ada")
    with pytest.raises(TooOften):
        rate.take("ada")


def test_letters_are_written_into_files_that_only_their_owner_reads(tmp_path):
    send = make_sender(SimpleNamespace(**MAIL), tmp_path)
    for subject in ("First", "Second"):
        send(Letter("ada@example.org", subject, "Grüße\n"))
    files = sorted((tmp_path / "letters").iterdir())
    assert [file.name for file in files] == ["000001.eml", "000002.eml"]
    assert b"Subject: Second" in files[1].read_bytes()
    assert (tmp_path / "letters").stat().st_mode & 0o077 == 0


def test_letters_are_sent_by_smtp_and_a_dead_server_is_logged_without_the_secret(tmp_path, caplog):
    import socket
    import threading

    taken = []
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = server.accept()
        with connection, connection.makefile("rwb") as line:
            line.write(b"220 test\r\n")
            line.flush()
            said = b""
            while not said.lower().startswith(b"quit"):
                said = line.readline()
                taken.append(said)
                if said.lower().startswith(b"data"):
                    line.write(b"354 go\r\n")
                    line.flush()
                    while taken[-1] != b".\r\n":
                        taken.append(line.readline())
                line.write(b"221 bye\r\n" if said.lower().startswith(b"quit") else b"250 fine\r\n")
                line.flush()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    port = server.getsockname()[1]
    settings = SimpleNamespace(**{**MAIL, "backend": "smtp", "host": "127.0.0.1", "port": port})
    letter = Letter("ada@example.org", "A new password", "http://arena.test/reset?ticket=SECRET\n")
    make_sender(settings, tmp_path)(letter)
    thread.join(120)
    server.close()
    assert b"rcpt TO:<ada@example.org>" in b"".join(taken)
    assert b"ticket=SECRET" in b"".join(taken)
    send_or_log(make_sender(settings, tmp_path), letter)
    assert "could not be sent" in caplog.text
    assert "SECRET" not in caplog.text
    assert "ada@" not in caplog.text


def test_a_line_break_never_becomes_a_header():
    with pytest.raises(ValueError, match=r"linefeed|newline"):
        make_message(Letter("ada@example.org", "One\nBcc: all@example.org", "text"), "arena@example.org")
