"""What is missing, damaged or misspelled in a competition's folder is named in one sentence."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from arena_making import FILE, write_answers
from command_line import neuroarena_in
from neuroarena.competition import open_arena, submit, work
from neuroarena.competition.arena import create_arena
from neuroarena.competition.boards import rank_track
from neuroarena.competition.tables import RUN
from neuroarena.errors import InputError, NeuroarenaError

ADDRESSES = {
    "nonsense with a secret": "is not one",
    "postgresql+psycopg://u:secret@127.0.0.1:1/x": "cannot be opened",
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_database_that_does_not_answer_leaves_no_folder_and_shows_no_password(tmp_path, address):
    if address.startswith("postgresql"):
        pytest.importorskip("psycopg")
    (tmp_path / "spring.toml").write_text(FILE)
    with pytest.raises(InputError, match=ADDRESSES[address]) as refused:
        create_arena(tmp_path / "arena", tmp_path / "spring.toml", address)
    assert "secret" not in str(refused.value)
    assert not (tmp_path / "arena").exists()


def test_a_missing_database_is_not_made_anew(arena):
    arena.store.close()
    for file in arena.folder.glob("store.sqlite*"):
        file.unlink()
    with pytest.raises(InputError, match=r"store\.sqlite: the competition's database is missing"):
        open_arena(arena.folder)
    assert not list(arena.folder.glob("store.sqlite*"))


def test_a_database_that_is_something_else_is_named(arena):
    arena.store.close()
    (arena.folder / "store.sqlite").write_text("notes about the competition, and no database")
    with pytest.raises(
        InputError, match=r"store\.sqlite: the database cannot be opened: file is not a database"
    ):
        open_arena(arena.folder)


def test_a_deployment_without_an_address_is_named(arena):
    (arena.folder / "deployment.toml").write_text("database = 5\n")
    with pytest.raises(InputError, match="expected one line"):
        open_arena(arena.folder)


def test_a_board_without_its_vault_says_so(arena, token, tmp_path):
    submit(arena, token, "commands", write_answers(tmp_path / "mine.parquet"))
    work(arena, ["scorer"], until_idle=True)
    (arena.folder / "vault" / "vault.sqlite").unlink()
    with pytest.raises(NeuroarenaError, match=r"vault\.sqlite: the vault's database is missing"):
        rank_track(arena, "commands", "warm-up")


def test_a_board_of_an_unknown_track_names_the_tracks(arena):
    with pytest.raises(InputError, match=r'no track "nosuch"\. Tracks: commands'):
        rank_track(arena, "nosuch", "warm-up")


def test_a_token_file_that_is_not_text_is_named(arena, tmp_path):
    (tmp_path / "t.token").write_bytes(b"\xff\xfe\x00")
    said = neuroarena_in(tmp_path, "status", "--arena", str(arena.folder), "--token-file", "t.token")
    assert said.returncode == 2
    assert "t.token: this is not text. Expected your team's token." in said.stderr


def test_rules_that_were_lost_are_our_fault_and_not_the_teams(arena, token, tmp_path):
    (arena.folder / "public" / "commands" / "manifest.json").unlink()
    submission = submit(arena, token, "commands", write_answers(tmp_path / "mine.parquet"))
    with arena.store.reading() as connection:
        row = connection.execute(select(RUN).where(RUN.c.submission == submission)).mappings().one()
    assert (row["state"], row["reason"]) == ("received", "The platform failed (InputError).")
