"""The vault as a schema of PostgreSQL: the scorer's role alone reads it, and everything goes on as with a folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from arena_making import ABOUT, FILE, MANIFEST, Clock, join, make_truth, write_answers
from neuroarena.competition.arena import Arena, create_arena, open_arena
from neuroarena.competition.intake import submit
from neuroarena.competition.keeping import back_up, restore
from neuroarena.competition.opening import find_user_problem, open_competition
from neuroarena.competition.receipts import read_receipt
from neuroarena.competition.sealing import keep_truth
from neuroarena.competition.vault import TwoScores
from neuroarena.competition.worker import work
from neuroarena.errors import InputError
from postgres import running_postgres

ROLES = """
CREATE ROLE na_zones LOGIN; CREATE ROLE na_score LOGIN; CREATE ROLE na_friend LOGIN IN ROLE na_score;
CREATE DATABASE spring OWNER na_zones; GRANT CREATE ON DATABASE spring TO na_score;
CREATE DATABASE again OWNER na_zones; GRANT CREATE ON DATABASE again TO na_score
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The folder of the socket of a PostgreSQL with the roles of the documentation."""
    with running_postgres() as address:
        folder = address.partition("host=")[2]
        with psycopg.connect(f"host={folder} dbname=postgres user=arena", autocommit=True) as connection:
            for statement in ROLES.split(";"):
                connection.execute(statement)
        yield folder


def address(server: str, role: str, name: str = "spring") -> str:
    return f"postgresql+psycopg://{role}@/{name}?host={server}"


def make_spring(folder: Path, server: str, clock: Clock) -> Arena:
    (folder / "spring.toml").write_text(FILE)
    made = create_arena(
        folder / "arena", folder / "spring.toml", address(server, "na_zones"), address(server, "na_score")
    )
    made.store.close()
    arena = open_arena(folder / "arena", clock)
    for sheet in arena.competition.sheets():
        keep_truth(arena, sheet, make_truth(), MANIFEST, ABOUT)
    open_competition(arena, accept_one_user=True, without_baselines=True)
    return arena


def test_truth_and_sums_lie_where_the_role_of_intake_and_runner_cannot_read_them(
    tmp_path: Path, clock: Clock, server: str
):
    arena = make_spring(tmp_path, server, clock)
    token = join(arena, "reds")
    submission = submit(arena, token, "commands", write_answers(tmp_path / "mine.parquet", wrong=2))
    assert work(arena, until_idle=True) == 1
    assert read_receipt(arena, token, submission)["shown_score"] == pytest.approx(0.8)
    arena.vault.keep_audit("a1", b"the record of an audit")
    # The folder has nothing but the address, which only its owner reads.
    (left,) = arena.vault.folder.iterdir()
    assert (left.name, left.stat().st_mode & 0o777) == ("address.secret", 0o600)
    statements = (
        "SELECT * FROM vault.secret",
        "SELECT * FROM vault.unit_scores",
        "INSERT INTO vault.secret VALUES ('a', 'b')",
        "CREATE TABLE vault.mine (a INTEGER)",
        "DROP SCHEMA vault CASCADE",
        "SET ROLE na_score",
        "GRANT na_score TO na_zones",
    )
    for statement in statements:
        with pytest.raises(DBAPIError, match=r"permission denied|must be owner|must have admin"):
            _try(arena, statement)
    units = arena.vault.read_scores(_one(arena, "SELECT id FROM run"), "1")
    assert units is not None
    units.table["score"] += 0.1
    with pytest.raises(TwoScores):
        arena.vault.keep_scores(_one(arena, "SELECT id FROM run"), units)
    # A backup holds the vault as a folder, and comes back as either.
    copy = back_up(arena, tmp_path / "copy")
    assert len(list((copy / "vault" / "truth").iterdir())) == 2
    addresses = (address(server, "na_zones", "again"), address(server, "na_score", "again"))
    restored = restore(copy, tmp_path / "again", *addresses)
    assert restored.vault.truth_commitment("commands") == arena.vault.truth_commitment("commands")
    assert restored.vault.read_audit("a1") == b"the record of an audit"
    assert [path.name for path in restored.vault.folder.iterdir()] == ["address.secret"]
    for each in (arena, restored):
        each.store.close()


def _try(arena: Arena, statement: str) -> None:
    with arena.store.writing() as connection:
        connection.execute(text(statement))


def _one(arena: Arena, statement: str) -> str:
    with arena.store.reading() as connection:
        return str(connection.execute(text(statement)).scalar_one())


@pytest.mark.parametrize("role", ["na_score", "na_friend", "arena"])
def test_a_store_whose_role_could_read_the_vault_is_refused_by_name_and_nothing_is_made(
    tmp_path: Path, server: str, role: str
):
    (tmp_path / "spring.toml").write_text(FILE)
    words = f'The role "{role}" of the store could read the vault of "na_score"'
    with pytest.raises(InputError, match=re.escape(words)):
        create_arena(
            tmp_path / "arena",
            tmp_path / "spring.toml",
            address(server, role, "postgres"),
            address(server, "na_score", "postgres"),
        )
    assert not (tmp_path / "arena").exists()


def test_a_role_that_was_let_in_later_keeps_a_sealed_phase_closed(tmp_path: Path, server: str, clock: Clock):
    with psycopg.connect(f"host={server} dbname=postgres user=arena", autocommit=True) as connection:
        connection.execute("CREATE DATABASE later OWNER na_zones")
        connection.execute("GRANT CREATE ON DATABASE later TO na_score")
        (tmp_path / "spring.toml").write_text(FILE)
        addresses = (address(server, "na_zones", "later"), address(server, "na_score", "later"))
        arena = create_arena(tmp_path / "arena", tmp_path / "spring.toml", *addresses)
        connection.execute("GRANT na_score TO na_zones")
        try:
            assert "could read the vault" in (find_user_problem(arena) or "")
        finally:
            connection.execute("REVOKE na_score FROM na_zones")
        arena.store.close()
