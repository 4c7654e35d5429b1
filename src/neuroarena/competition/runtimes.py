"""The runtime of guests that a competition names: every worker runs code in it, or runs none."""

from __future__ import annotations

from sqlalchemy import select

from neuroarena.competition.arena import Arena, read_about, write_about
from neuroarena.competition.events import append_event
from neuroarena.competition.tables import RUN
from neuroarena.sandbox.runtime import Runtime, find_named

_KEY = "runtime"


def choose_runtime(arena: Arena, digest: str) -> Runtime:
    """Let all code of a competition run in the runtime of a digest from now on; the events say so.

    Raises
    ------
    NoRuntime
        When this machine does not have it.
    """
    runtime = find_named(digest)
    facts = {"digest": digest, "lock_sha256": runtime.lock_sha256, "packages": list(runtime.packages)}
    with arena.store.writing() as connection:
        write_about(connection, _KEY, digest)
        now = arena.store.clock(connection)
        append_event(connection, now, "organiser", "runtime", arena.competition.name, facts)
    return runtime


def read_chosen_runtime(arena: Arena) -> str | None:
    """Return the digest of the runtime that a competition names; None when each worker uses its own."""
    with arena.store.reading() as connection:
        return read_about(connection, _KEY)


def list_named_runtimes(arena: Arena) -> set[str]:
    """List the digests that a store names: the chosen one, and those that runs were made with."""
    with arena.store.reading() as connection:
        used = connection.execute(select(RUN.c.runtime_digest).distinct()).scalars()
        return {digest for digest in (read_about(connection, _KEY), *used) if digest is not None}
