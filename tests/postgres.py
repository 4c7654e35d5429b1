"""A real PostgreSQL for tests: a cluster of its own in a temporary folder, reached by a socket, gone afterwards."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

SETTINGS = ("listen_addresses=''", "fsync=off", "max_connections=80", "shared_buffers=16MB")
# How long pg_ctl waits; it ends as soon as the server is there.
PATIENCE = ("-t", "600")


@contextlib.contextmanager
def running_postgres(host: str | None = None, port: int = 5432, network: str = "") -> Iterator[str]:
    """Start PostgreSQL and yield the address of its database; a missing one skips the test, and fails it in CI.

    It is reached by a socket, or from a network at a host and port.
    """
    programs = find_programs()
    if programs is None:
        reason = "PostgreSQL is not installed (Debian package postgresql)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    # Short: the path of a socket has at most 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    data = folder / "data"
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(folder, "postgres")
    try:
        run(
            programs / "initdb",
            "-D",
            data,
            "-U",
            "arena",
            "--auth=trust",
            "--no-sync",
            "--no-locale",
            "-E",
            "UTF8",
        )
        options = options_of(folder)
        if host is not None:
            with open(data / "pg_hba.conf", "a", encoding="utf-8") as rules:
                rules.write(f"host all all {network} trust\n")
            options += f" -c listen_addresses={host} -c port={port}"
        run(programs / "pg_ctl", "-D", data, "-w", *PATIENCE, "-o", options, "-l", folder / "log", "start")
        yield f"postgresql+psycopg://arena@{'' if host is None else f'{host}:{port}'}/postgres" + (
            f"?host={folder}" if host is None else ""
        )
    finally:
        if (data / "postmaster.pid").exists():
            run(programs / "pg_ctl", "-D", data, "-m", "immediate", *PATIENCE, "stop")
        shutil.rmtree(folder, ignore_errors=True)


def restart_postgres(address: str) -> None:
    """Restart a database of :func:`running_postgres` as if its machine had lost power."""
    programs, folder = find_programs(), Path(address.partition("host=")[2])
    assert programs is not None
    words = (
        "-D",
        folder / "data",
        "-m",
        "immediate",
        "-w",
        *PATIENCE,
        "-o",
        options_of(folder),
        "-l",
        folder / "log",
    )
    run(programs / "pg_ctl", *words, "restart")


def options_of(folder: Path) -> str:
    """Return the options of the server whose socket lies in a folder."""
    return " ".join(f"-c {setting}" for setting in (*SETTINGS, f"unix_socket_directories={folder}"))


def find_programs() -> Path | None:
    """Find the folder with initdb; Debian keeps it off the PATH."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    newest = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return newest[-1].parent if newest else None


def run(*words: object) -> None:
    """Run a program of PostgreSQL, as its own user when we are root."""
    user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
    subprocess.run(
        [str(word) for word in words],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        user=None if user is None else user.pw_uid,
        group=None if user is None else user.pw_gid,
    )
