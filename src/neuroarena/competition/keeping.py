"""Keep a competition safe: backup, restore with every hash checked, export of everything, upgrade."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

from sqlalchemy import make_url, select

from neuroarena import __version__, atomic
from neuroarena.board.site.contests import FILE as CONTEST
from neuroarena.competition.arena import (
    DEPLOYMENT,
    EMBEDDED,
    FILE,
    TRAINING,
    Arena,
    open_arena,
    place_database,
    write_about,
)
from neuroarena.competition.checking import ENDING
from neuroarena.competition.events import append_event, newest_hash, verify_events
from neuroarena.competition.publishing import publish_contest
from neuroarena.competition.site_pages import remove_pages
from neuroarena.competition.store import create_store
from neuroarena.competition.tables import ANSWER, METADATA, PUBLIC_SCORE, RUN, SUBMISSION
from neuroarena.competition.vault import Vault
from neuroarena.competition.vault_shelves import SCHEMA, FolderShelf, copy_shelf
from neuroarena.errors import InputError, NeuroarenaError

CONTENTS = "backup.json"
SQLITE_COPY, POSTGRES_COPY = "store.sqlite", "store.dump"
# Signals that code is asked about and that replays of an audit read: large, and made from the data by `admin seal`.
SIGNALS = ("questions", TRAINING)
FOLDERS = ("orders", "artifacts", "public", *SIGNALS)
PRIVATE = ("vault", "orders", *SIGNALS)
# Never exported: hashes of secrets say nothing to anybody, and belong nowhere else.
SECRET_COLUMNS = {("token", "secret_sha256")}
# People and the secrets they were sent are nobody's data but their own; pages can be made again.
UNEXPORTED = {"account", "session", "ticket", "page"}


def back_up(arena: Arena, target: str | Path, *, signals: bool = True) -> Path:
    """Copy a competition into a new folder, consistent also while it is in use.

    The store is copied first, then the vault, then the files: a row never refers to something that was not there before
    it, so that the copy has everything that its rows name.

    Parameters
    ----------
    arena : Arena
    target : path
    signals : bool
        Whether the signals that code is asked about are copied; without them, tracks that take code are sealed again
        after a restore.

    Raises
    ------
    InputError
        When the folder exists already.
    """
    target = Path(target)
    if target.exists():
        raise InputError(f"{target} exists already. Name a new folder for the backup.")
    with atomic.building(target) as building:
        _copy_store(arena, building)
        arena.vault.back_up(building / "vault")
        for name in FOLDERS:
            if (arena.folder / name).exists() and (signals or name not in SIGNALS):
                shutil.copytree(
                    arena.folder / name, building / name, ignore=shutil.ignore_patterns(".*.part")
                )
        shutil.copyfile(arena.folder / FILE, building / FILE)
        _close_private(building)
        files = {
            str(path.relative_to(building)): _hash(path)
            for path in sorted(building.rglob("*"))
            if path.is_file()
        }
        atomic.write_json(building / CONTENTS, {"schema_version": 1, "version": __version__, "files": files})
        building.chmod(0o700)
        os.replace(building, target)
    return target


def restore(
    source: str | Path, folder: str | Path, database: str = EMBEDDED, vault: str | None = None
) -> Arena:
    """Set a competition up from a backup, after every hash was compared; return it.

    Parameters
    ----------
    source, folder : path
        The backup, and a new folder.
    database : str
        Address of an empty PostgreSQL database for a backup of one; by default a SQLite file in the folder.
    vault : str, optional
        Address of the scorer's role in a PostgreSQL database; by default the vault is a folder.

    Raises
    ------
    InputError
        When a file is missing or damaged, the list of events was changed, or the folder is in use; nothing is left.
    """
    source, folder = Path(source), Path(folder)
    if folder.exists():
        raise InputError(f"{folder} exists already. Name a new folder to restore to.")
    _check_files(source)
    dump = (source / POSTGRES_COPY).exists()
    if dump == (database == EMBEDDED):
        wanted = "of PostgreSQL; name an empty database with --database" if dump else "of SQLite"
        raise InputError(f"{source}: this is a backup {wanted}.")
    folder.mkdir(parents=True)
    try:
        for name in ("vault", *FOLDERS):
            if (source / name).exists() and (name != "vault" or vault is None):
                shutil.copytree(source / name, folder / name)
        if vault is not None:
            restored = Vault(folder / "vault")
            restored.create(vault)
            copy_shelf(FolderShelf(source / "vault"), restored.shelf)
        shutil.copyfile(source / FILE, folder / FILE)
        if dump:
            _run_postgres(
                "pg_restore", database, "--no-owner", "--exit-on-error", str(source / POSTGRES_COPY)
            )
        else:
            shutil.copyfile(source / SQLITE_COPY, folder / SQLITE_COPY)
        atomic.write_text(folder / DEPLOYMENT, f"database = {json.dumps(database)}\n")
        _close_private(folder)
        arena = open_arena(folder)
        verify_arena(arena)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    with arena.store.writing() as connection:
        append_event(
            connection,
            arena.store.clock(connection),
            "organiser",
            "restored from backup",
            arena.competition.name,
        )
    return arena


def verify_arena(arena: Arena) -> dict[str, int]:
    """Verify the list of events, every kept file and every score, and return how many of each there are.

    Raises
    ------
    NeuroarenaError
        At the first thing that is missing or was changed.
    """
    with arena.store.reading() as connection:
        n_events = verify_events(connection)
        submitted = connection.execute(
            select(SUBMISSION.c.sha256, SUBMISSION.c.kind).where(SUBMISSION.c.file_removed.is_(None))
        ).all()
        answers = connection.execute(select(ANSWER.c.sha256)).scalars().all()
        asked = select(
            PUBLIC_SCORE.c.run, PUBLIC_SCORE.c.scorer_version, SUBMISSION.c.track, SUBMISSION.c.phase
        )
        asked = asked.join(RUN, RUN.c.id == PUBLIC_SCORE.c.run).join(
            SUBMISSION, SUBMISSION.c.id == RUN.c.submission
        )
        scored = connection.execute(asked).all()
    files = {(sha256, ENDING[kind]) for sha256, kind in submitted} | {(each, ".parquet") for each in answers}
    for sha256, ending in sorted(files):
        arena.artifacts.open(sha256, ending)
    for run, version, track, phase in scored:
        for part in arena.parts(arena.sheet(track, phase)):
            if arena.vault.read_scores(run, version, part) is None:
                raise NeuroarenaError(f"The vault has no unit scores of run {run}.")
    return {"events": n_events, "files": len(files), "scores": len(scored)}


def list_missing_signals(arena: Arena) -> list[str]:
    """List the sheets of tracks that take code whose signals are not in the competition's folder."""
    return [
        sheet
        for sheet in arena.competition.sheets()
        if "code" in arena.competition.track(sheet.partition("@")[0]).kinds
        and (arena.public_folder(sheet) / "track.json").exists()
        and not all(arena.questions_folder(sheet, part).exists() for part in arena.parts(sheet))
    ]


def export(arena: Arena, target: str | Path) -> dict[str, int]:
    """Write tables as CSV into a new folder, with what is public, and return rows by table; no account, no vault.

    ``contest.json`` is what a site is built from: unit scores are in it only where they are public.

    Raises
    ------
    InputError
        When the folder exists already.
    """
    target = Path(target)
    if target.exists():
        raise InputError(f"{target} exists already. Name a new folder for the export.")
    counts = {}
    with atomic.building(target) as building, arena.store.reading() as connection:
        for table in METADATA.sorted_tables:
            if table.name in UNEXPORTED:
                continue
            columns = [column for column in table.columns if (table.name, column.name) not in SECRET_COLUMNS]
            rows = connection.execute(select(*columns).order_by(*table.primary_key.columns))
            with (building / f"{table.name}.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow([column.name for column in columns])
                counts[table.name] = 0
                for row in rows:
                    writer.writerow([_plain(value) for value in row])
                    counts[table.name] += 1
        atomic.write_json(
            building / "about.json", {"version": __version__, "event_hash": newest_hash(connection)}
        )
        shutil.copyfile(arena.folder / FILE, building / FILE)
        if (arena.folder / "public").exists():
            shutil.copytree(arena.folder / "public", building / "public")
        contest = publish_contest(arena)
        atomic.write_text(building / CONTEST, contest.model_dump_json(indent=1) + "\n")
        os.replace(building, target)
    return counts


def upgrade_arena(folder: str | Path) -> Arena:
    """Bring the store of a competition up to the version of this neuroarena; workers of the older one then stop."""
    create_store(place_database(Path(folder)))
    arena = open_arena(folder)
    arena.artifacts.sort()
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        write_about(connection, "version", __version__)
        # Pages are kept as what the templates of their version show.
        remove_pages(connection)
        append_event(
            connection, now, "organiser", "upgrade", arena.competition.name, {"version": __version__}
        )
    return arena


def _copy_store(arena: Arena, target: Path) -> None:
    url = arena.store.url
    if not url.startswith("sqlite:///"):
        _run_postgres("pg_dump", url, "-Fc", f"--exclude-schema={SCHEMA}", "-f", str(target / POSTGRES_COPY))
        return
    place = url.removeprefix("sqlite:///")
    with (
        contextlib.closing(sqlite3.connect(place, timeout=30)) as store,
        contextlib.closing(sqlite3.connect(target / SQLITE_COPY)) as copy,
    ):
        # In one step: in several, every foreign write starts the copy anew, and it never ends under load.
        store.backup(copy, pages=-1)


def _run_postgres(program: str, address: str, *words: str) -> None:
    """Run a program of PostgreSQL on a database; others cannot read its password in the environment."""
    url = make_url(address)
    environment = dict(os.environ)
    if url.password is not None:
        environment["PGPASSWORD"] = str(url.password)
    plain = url.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
    found = shutil.which(program) or next(
        (str(path) for path in sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"), reverse=True)),
        None,
    )
    if found is None:
        raise InputError(f"{program} is not installed; it comes with the client programs of PostgreSQL.")
    ran = subprocess.run(
        [found, f"--dbname={plain}", *words], env=environment, capture_output=True, text=True, check=False
    )
    if ran.returncode != 0:
        said = ran.stderr.strip().splitlines()
        raise NeuroarenaError(f"{program} failed: {said[-1] if said else ran.returncode}.")


def _close_private(folder: Path) -> None:
    for name in PRIVATE:
        if (folder / name).exists():
            (folder / name).chmod(0o700)


def _check_files(source: Path) -> None:
    try:
        said: dict[str, Any] = json.loads((source / CONTENTS).read_text(encoding="utf-8"))
        files: dict[str, str] = said["files"]
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"{source}: this is not a backup. Expected a folder of neuroarena admin backup."
        ) from error
    for name, sha256 in files.items():
        if not (source / name).is_file():
            raise InputError(f"{source / name}: this file of the backup is missing. Nothing was restored.")
        if _hash(source / name) != sha256:
            raise InputError(
                f"{source / name}: this file has changed since the backup. Nothing was restored."
            )


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else json.dumps(value, sort_keys=True)


def _hash(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
