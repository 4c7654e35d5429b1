"""Where a vault keeps things: a private folder with a SQLite file, or a schema of PostgreSQL with its own role."""

from __future__ import annotations

import contextlib
import functools
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from neuroarena import atomic
from neuroarena.errors import InputError, NeuroarenaError

SCHEMA = "vault"
_COLUMNS = "run TEXT NOT NULL, part TEXT NOT NULL, scorer_version TEXT NOT NULL"
_KEY = "PRIMARY KEY (run, part, scorer_version)"
Key = tuple[str, str, str]


class Shelf(Protocol):
    """What a vault asks of the place where it keeps things: named secrets, and unit scores that are written once."""

    def create(self) -> None:
        """Make the place."""

    def has(self, name: str) -> bool:
        """Return whether a secret is there."""

    def write(self, name: str, content: bytes) -> None:
        """Keep a secret, whole or not at all."""

    def read(self, name: str) -> bytes:
        """Return a secret."""

    def stamp(self, name: str) -> tuple[Any, ...]:
        """Return what changes when a secret does; it is the key of what was read before."""

    def keep(self, key: Key, content: bytes) -> bytes:
        """Keep unit scores unless there are some, and return those that are kept."""

    def find(self, key: Key) -> bytes | None:
        """Return unit scores; None when there are none."""

    def names(self) -> list[str]:
        """List the secrets."""

    def scores(self) -> Iterator[tuple[Key, bytes]]:
        """Yield all unit scores, as they were at one time."""


def copy_shelf(source: Shelf, target: Shelf) -> None:
    """Copy everything of one place to another that was just made."""
    for name in source.names():
        target.write(name, source.read(name))
    for key, content in source.scores():
        target.keep(key, content)


@dataclass(frozen=True)
class FolderShelf:
    """A folder that only its owner may enter."""

    folder: Path

    def create(self) -> None:
        """Make the folder and its database."""
        (self.folder / "truth").mkdir(parents=True)
        self.folder.chmod(0o700)
        (self.folder / "truth").chmod(0o700)
        with self._database(new=True) as database:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute(f"CREATE TABLE unit_scores ({_COLUMNS}, parquet BLOB NOT NULL, {_KEY})")

    def has(self, name: str) -> bool:
        """Return whether a secret is there."""
        return (self.folder / name).exists()

    def write(self, name: str, content: bytes) -> None:
        """Keep a secret, readable by the owner alone."""
        (self.folder / name).parent.mkdir(mode=0o700, exist_ok=True)
        atomic.write_bytes(self.folder / name, content)
        (self.folder / name).chmod(0o600)

    def read(self, name: str) -> bytes:
        """Return a secret."""
        return (self.folder / name).read_bytes()

    def stamp(self, name: str) -> tuple[Any, ...]:
        """Return the path of a secret and the time of its last change."""
        return str(self.folder / name), (self.folder / name).stat().st_mtime_ns

    def keep(self, key: Key, content: bytes) -> bytes:
        """Keep unit scores unless there are some, and return those that are kept."""
        with self._database() as database:
            database.execute("INSERT OR IGNORE INTO unit_scores VALUES (?, ?, ?, ?)", (*key, content))
            return bytes(self._find(database, key)[0])

    def find(self, key: Key) -> bytes | None:
        """Return unit scores; None when there are none."""
        with self._database() as database:
            row = self._find(database, key)
        return None if row is None else bytes(row[0])

    def names(self) -> list[str]:
        """List the secrets."""
        found = [*self.folder.glob("*.secret"), *(self.folder / "truth").glob("*.parquet")]
        found += (self.folder / "audits").glob("*.json")
        return sorted(str(path.relative_to(self.folder)) for path in found if path.name != ADDRESS)

    def scores(self) -> Iterator[tuple[Key, bytes]]:
        """Yield all unit scores, as they were at one time."""
        with self._database() as database:
            for run, part, version, content in database.execute("SELECT * FROM unit_scores"):
                yield (run, part, version), bytes(content)

    def back_up(self, target: Path) -> None:
        """Copy the database of unit scores as it is now, consistent also under a writer."""
        with self._database() as database, contextlib.closing(sqlite3.connect(target)) as copy:
            database.backup(copy, pages=-1)

    def _find(self, database: sqlite3.Connection, key: Key) -> Any:
        asked = "SELECT parquet FROM unit_scores WHERE run = ? AND part = ? AND scorer_version = ?"
        return database.execute(asked, key).fetchone()

    @contextlib.contextmanager
    def _database(self, new: bool = False) -> Iterator[sqlite3.Connection]:
        place = self.folder / "vault.sqlite"
        if not (new or place.is_file()):
            raise NeuroarenaError(f"{place}: the vault's database is missing. Put it back from a backup.")
        connection = sqlite3.connect(place, timeout=30)
        try:
            with connection:
                yield connection
        finally:
            connection.close()


# In the vault's folder, where only the scorer reads it: the address, with its password, of the schema.
ADDRESS = "address.secret"


@dataclass(frozen=True)
class SchemaShelf:
    """A schema of PostgreSQL that one role owns, and no other may use.

    Attributes
    ----------
    address : str
        ``postgresql+psycopg://ROLE:PASSWORD@HOST/NAME``: the role is the scorer's, and not that of the store.
    """

    address: str

    def create(self) -> None:
        """Make the schema, closed for everybody else, and its tables.

        Raises
        ------
        InputError
            When the role may not make one, or there is one already.
        """
        from sqlalchemy import text

        with self._transaction(refusing=True) as connection:
            asked = text("SELECT to_regnamespace(:schema) IS NOT NULL")
            if connection.execute(asked, {"schema": SCHEMA}).scalar_one():
                raise InputError(f'The database has a schema "{SCHEMA}" already. Name an empty database.')
            for statement in (
                f"CREATE SCHEMA {SCHEMA}",
                f"REVOKE ALL ON SCHEMA {SCHEMA} FROM PUBLIC",
                f"CREATE TABLE {SCHEMA}.secret (name TEXT PRIMARY KEY, content BYTEA NOT NULL)",
                f"CREATE TABLE {SCHEMA}.unit_scores ({_COLUMNS}, parquet BYTEA NOT NULL, {_KEY})",
            ):
                connection.execute(text(statement))

    def has(self, name: str) -> bool:
        """Return whether a secret is there."""
        return self._one(f"SELECT 1 FROM {SCHEMA}.secret WHERE name = :name", name=name) is not None

    def write(self, name: str, content: bytes) -> None:
        """Keep a secret."""
        from sqlalchemy import text

        statement = (
            f"INSERT INTO {SCHEMA}.secret VALUES (:name, :content) "
            "ON CONFLICT (name) DO UPDATE SET content = EXCLUDED.content"
        )
        with self._transaction() as connection:
            connection.execute(text(statement), {"name": name, "content": content})

    def read(self, name: str) -> bytes:
        """Return a secret."""
        found = self._one(f"SELECT content FROM {SCHEMA}.secret WHERE name = :name", name=name)
        if found is None:
            raise NeuroarenaError(f'The vault has no "{name}". Put it back from a backup.')
        return bytes(found)

    def stamp(self, name: str) -> tuple[Any, ...]:
        """Return the address and the version of a secret."""
        asked = f"SELECT xmin::text FROM {SCHEMA}.secret WHERE name = :name"
        return self.address, name, self._one(asked, name=name)

    def keep(self, key: Key, content: bytes) -> bytes:
        """Keep unit scores unless there are some, and return those that are kept."""
        from sqlalchemy import text

        run, part, version = key
        statement = f"INSERT INTO {SCHEMA}.unit_scores VALUES (:run, :part, :version, :content) ON CONFLICT DO NOTHING"
        with self._transaction() as connection:
            given = {"run": run, "part": part, "version": version, "content": content}
            connection.execute(text(statement), given)
        kept = self.find(key)
        assert kept is not None
        return kept

    def find(self, key: Key) -> bytes | None:
        """Return unit scores; None when there are none."""
        run, part, version = key
        where = "run = :run AND part = :part AND scorer_version = :version"
        asked = f"SELECT parquet FROM {SCHEMA}.unit_scores WHERE {where}"
        found = self._one(asked, run=run, part=part, version=version)
        return None if found is None else bytes(found)

    def names(self) -> list[str]:
        """List the secrets."""
        from sqlalchemy import text

        with self._transaction() as connection:
            return sorted(connection.execute(text(f"SELECT name FROM {SCHEMA}.secret")).scalars())

    def scores(self) -> Iterator[tuple[Key, bytes]]:
        """Yield all unit scores, as they were at one time."""
        from sqlalchemy import text

        with self._transaction() as connection:
            for run, part, version, content in connection.execute(
                text(f"SELECT * FROM {SCHEMA}.unit_scores")
            ):
                yield (run, part, version), bytes(content)

    def read_role(self) -> str:
        """Return the role that owns the vault.

        Raises
        ------
        InputError
            When the database cannot be opened.
        """
        from sqlalchemy import text

        with self._transaction(refusing=True) as connection:
            return str(connection.execute(text("SELECT current_user")).scalar_one())

    def _one(self, statement: str, **given: Any) -> Any:
        from sqlalchemy import text

        with self._transaction() as connection:
            return connection.execute(text(statement), given).scalar()

    @contextlib.contextmanager
    def _transaction(self, refusing: bool = False) -> Iterator[Any]:
        from neuroarena.competition.store import refuse_broken

        guard = refuse_broken(self.address) if refusing else contextlib.nullcontext()
        with guard, _connect(self.address).begin() as connection:
            yield connection


def refuse_reader(database: str, vault: SchemaShelf) -> None:
    """Refuse a store whose role could read the vault: the vault's own, one that may become it, or a superuser.

    Parameters
    ----------
    database : str
        Address of the store.
    vault : SchemaShelf

    Raises
    ------
    InputError
        Naming the role.
    """
    from sqlalchemy import text

    from neuroarena.competition.store import make_engine, refuse_broken

    owner = vault.read_role()
    if not database.startswith("postgresql"):
        return
    asked = text(
        "SELECT current_user, rolsuper OR pg_has_role(current_user, 'pg_read_all_data', 'MEMBER') OR EXISTS ("
        "SELECT 1 FROM pg_roles AS owner WHERE owner.rolname = :owner "
        "AND pg_has_role(current_user, owner.oid, 'MEMBER')) FROM pg_roles WHERE rolname = current_user"
    )
    engine = make_engine(database)
    try:
        with refuse_broken(database), engine.connect() as connection:
            role, reads = connection.execute(asked, {"owner": owner}).one()
    finally:
        engine.dispose()
    if reads:
        raise InputError(
            f'The role "{role}" of the store could read the vault of "{owner}". Give the store a role of its own '
            f"that is neither a superuser nor a member of {owner}."
        )


@functools.lru_cache(maxsize=4)
def _connect(address: str) -> Any:
    from neuroarena.competition.store import make_engine

    if not address.startswith("postgresql"):
        raise InputError("A vault is a folder of the competition, or a PostgreSQL database by its address.")
    return make_engine(address)
