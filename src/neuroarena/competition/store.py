"""The store: one SQLite file, or a PostgreSQL database by its address; transactions, locks and the clock."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import QueuePool

from neuroarena.competition.tables import REVISION
from neuroarena.errors import InputError, MissingDependency

Clock = Callable[[Connection], datetime.datetime]
BUSY_MS = 30_000
# A machine that is cut off never says so. Without these a worker would wait a quarter of an hour for an answer, and the
# database two hours for a transaction that will not end, with its locks. An address that states one keeps it.
_SERVER = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 -c tcp_user_timeout=25000"
PATIENCE = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
    "options": _SERVER,
}
_SQLITE = "sqlite:///"


class Store:
    """A competition's database.

    Parameters
    ----------
    url : str
        ``sqlite:///path`` or ``postgresql+psycopg://...``.
    clock : callable, optional
        Reads the time inside a transaction; by default the database's own clock.

    Raises
    ------
    InputError
        When the database cannot be opened.
    """

    def __init__(self, url: str, clock: Clock | None = None) -> None:
        self.url = url
        self.engine = make_engine(url)
        self.clock = clock or read_clock

    @contextlib.contextmanager
    def reading(self, *, as_one: bool = False) -> Iterator[Connection]:
        """Open a transaction that only reads; it never waits for a writer on SQLite.

        With `as_one` all that it reads is of one moment, as on SQLite it always is: PostgreSQL else shows every
        statement what was committed before it.
        """
        with self.engine.connect() as connection:
            if as_one and connection.dialect.name != "sqlite":
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextlib.contextmanager
    def writing(self, *locks: str) -> Iterator[Connection]:
        """Open a transaction that writes, holding the named locks until it ends.

        SQLite has one writer at a time, which is lock enough; PostgreSQL takes an advisory lock for each name.
        """
        with self.engine.connect().execution_options(writing=True) as connection, connection.begin():
            for name in locks:
                take_lock(connection, name)
            yield connection

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def take_lock(connection: Connection, name: str) -> None:
    """Wait for a lock and hold it until the transaction ends; on SQLite a writing transaction is lock enough."""
    if connection.dialect.name != "sqlite":
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": name})


def create_store(url: str) -> None:
    """Make the tables of a new store, or bring an older store up to date.

    Raises
    ------
    InputError
        When the database cannot be opened.
    """
    from neuroarena.competition.migrating import upgrade

    engine = make_engine(url)
    try:
        with refuse_broken(url):
            upgrade(engine)
    finally:
        engine.dispose()


def open_store(url: str, clock: Clock | None = None) -> Store:
    """Open a store that was made before.

    Raises
    ------
    InputError
        When there is none, or when it was made by another version: two versions never share a store.
    """
    if url.startswith(_SQLITE) and not Path(url.removeprefix(_SQLITE)).is_file():
        raise InputError(
            f"{url.removeprefix(_SQLITE)}: the competition's database is missing. Put it back from a backup."
        )
    store = Store(url, clock)
    with refuse_broken(url), store.reading() as connection:
        if not inspect(connection).has_table("alembic_version"):
            raise InputError(
                f"{_redact(url)}: there is no competition in this database. Make one: neuroarena admin init"
            )
        found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if found != REVISION:
        raise InputError(
            f"{_redact(url)}: the store has version {found}, and this neuroarena works with {REVISION}. "
            "Bring the older of the two up to date; for the store: neuroarena admin upgrade DIR"
        )
    return store


def read_clock(connection: Connection) -> datetime.datetime:
    """Return the database's time: after its locks were granted, not when the transaction began."""
    if connection.dialect.name == "sqlite":
        said = connection.execute(text("SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')")).scalar_one()
        return datetime.datetime.fromisoformat(said).replace(tzinfo=datetime.UTC)
    moment: datetime.datetime = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
    return moment.astimezone(datetime.UTC)


def make_engine(url: str) -> Engine:
    """Return the engine of a database by its address.

    Raises
    ------
    InputError
        When the address is not one.
    """
    if url.startswith(_SQLITE):
        place = Path(url.removeprefix(_SQLITE))
        if not place.parent.is_dir():
            raise InputError(f"{place.parent}: there is no such folder for the store.")
        engine = create_engine(url, poolclass=QueuePool, connect_args={"timeout": BUSY_MS / 1000})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        given = make_url(url).query
        patience = {name: value for name, value in PATIENCE.items() if name not in given}
        return create_engine(url, isolation_level="READ COMMITTED", pool_pre_ping=True, connect_args=patience)
    except ImportError as error:
        raise MissingDependency("psycopg", "postgresql", "A competition on PostgreSQL") from error
    except ArgumentError as error:
        # The address may hold a password, so that one that cannot be parsed is not repeated.
        raise InputError(
            "The address of the database is not one. Expected postgresql+psycopg://USER:PASSWORD@HOST/NAME "
            "or sqlite:///FILE."
        ) from error


@contextlib.contextmanager
def refuse_broken(url: str) -> Iterator[None]:
    """Turn a database that does not answer, or is not one, into one sentence without its password."""
    try:
        yield
    except DBAPIError as error:
        said = str(error.orig).strip().splitlines()
        raise InputError(
            f"{_redact(url)}: the database cannot be opened: {said[0] if said else type(error).__name__}."
        ) from error


def _prepare_sqlite(connection: Any, record: Any) -> None:  # noqa: ARG001 - the event's form
    # The driver must not begin transactions by itself: they begin in `_begin_sqlite`, with the lock that is meant.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", f"busy_timeout={BUSY_MS}", "foreign_keys=ON", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    # A reader takes a plain BEGIN: an immediate one would wait behind a writer that was stopped.
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _redact(url: str) -> str:
    from sqlalchemy import make_url

    return make_url(url).render_as_string(hide_password=True)
