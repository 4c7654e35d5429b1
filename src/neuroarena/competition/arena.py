"""A competition on disk: its file, its store, submitted files, what is public and what is sealed."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import Connection, select

from neuroarena import __version__, atomic
from neuroarena.competition.artifacts import Artifacts
from neuroarena.competition.configuration import Competition, read_competition
from neuroarena.competition.events import append_event
from neuroarena.competition.orders import Orders
from neuroarena.competition.store import Clock, Store, create_store, open_store
from neuroarena.competition.tables import ABOUT
from neuroarena.competition.vault import Vault
from neuroarena.competition.vault_shelves import SchemaShelf, refuse_reader
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.scoring import Manifest, Overall

FILE = "competition.toml"
DEPLOYMENT = "deployment.toml"
# What replays of an audit read.
TRAINING = "training"
EMBEDDED = "sqlite:///store.sqlite"


@dataclass(frozen=True)
class Arena:
    """A competition that was set up in a folder.

    Attributes
    ----------
    folder : Path
    competition : Competition
    store : Store
    """

    folder: Path
    competition: Competition
    store: Store

    @property
    def artifacts(self) -> Artifacts:
        """The submitted files."""
        return Artifacts(self.folder / "artifacts")

    @property
    def vault(self) -> Vault:
        """What only the scorer may open."""
        return Vault(self.folder / "vault")

    @property
    def orders(self) -> Orders:
        """The key of secret orders, which only the runner may open."""
        return Orders(self.folder / "orders")

    @property
    def terms_sha256(self) -> str:
        """The hash of the terms, which a team accepts."""
        return hashlib.sha256(self.competition.terms.encode()).hexdigest()

    def sheet(self, track: str, phase: str) -> str:
        """Return the name of the questions that a track asks in a phase."""
        return self.competition.track(track).sheet(phase)

    def is_sealed_sheet(self, sheet: str) -> bool:
        """Return whether some questions are asked in a sealed phase."""
        return any(
            track.sheet(phase.name) == sheet
            for track in self.competition.tracks
            for phase in self.competition.phases
            if phase.sealed and phase.takes(track.name)
        )

    def parts(self, sheet: str) -> tuple[str, ...]:
        """List the parts of sealed questions: the tasks of a suite, otherwise one part without a name."""
        return tuple(self.about(sheet)["parts"])

    def about(self, sheet: str) -> dict[str, Any]:
        """Return what was published when questions were sealed.

        Raises
        ------
        InputError
            When they have not been sealed yet.
        """
        said: dict[str, Any] = json.loads(_read_published(*_stamp(self._published(sheet, "track.json"))))
        return said

    def overall(self, sheet: str) -> Overall | None:
        """Return how several parts of a sheet become one number; None where there is one part, or no such number."""
        said = self.about(sheet)["overall"]
        return None if said is None else Overall.model_validate(said)

    def manifest(self, sheet: str, part: str = "") -> Manifest:
        """Return the rules of a part of some questions, as they were when the truth was sealed.

        Raises
        ------
        InputError
            When they have not been sealed yet.
        """
        return _read_manifest(*_stamp(self._published(sheet, "manifest.json", part)))

    def manifests(self, sheet: str) -> dict[str, Manifest]:
        """Return the rules of every part of some questions."""
        return {part: self.manifest(sheet, part) for part in self.parts(sheet)}

    def ids(self, sheet: str, part: str = "") -> pd.DataFrame:
        """Return the ids that a submission answers, without their targets."""
        return _read_ids(*_stamp(self._published(sheet, "ids.parquet", part)))

    def questions_folder(self, sheet: str, part: str = "") -> Path:
        """Return the folder of what code is asked: signals without labels, which only the runner may read."""
        return self.folder / "questions" / sheet / (part or "all")

    def training_folder(self, sheet: str, makes: str) -> Path:
        """Return the folder of what replays of an audit read: public training parts, which only the runner may read."""
        return self.folder / TRAINING / sheet / makes

    def public_folder(self, sheet: str, part: str = "") -> Path:
        """Return the folder of what is public about a part of some questions."""
        return self.folder / "public" / sheet / part

    def _published(self, sheet: str, name: str, part: str = "") -> Path:
        file = self.public_folder(sheet, part) / name
        if not file.exists():
            track, _, phase = sheet.partition("@")
            words = f"{track} --phase {phase}" if phase else track
            raise InputError(
                f'"{sheet}" has no truth yet. Seal it: neuroarena admin seal {self.folder} {words}'
            )
        return file


def create_arena(
    folder: str | Path, file: str | Path, database: str = EMBEDDED, vault: str | None = None
) -> Arena:
    """Set up a competition in a new folder.

    Parameters
    ----------
    folder : path
        Must not exist yet, or be empty.
    file : path
        The competition file; it is copied.
    database : str
        Address of the store; a SQLite file in the folder by default.
    vault : str, optional
        Address of a PostgreSQL database by the scorer's own role, which keeps truth and sums in a schema that the
        role of the store cannot read; by default the vault is a folder.

    Raises
    ------
    InputError
        When the file is refused, the folder is in use, or the store's role could read the vault; nothing is written
        then.
    """
    folder = Path(folder)
    competition = read_competition(file)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is in use. Name a new folder for the competition.")
    if vault is not None:
        refuse_reader(database, SchemaShelf(vault))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        create_store(_place(folder, database))
    except NeuroarenaError:
        if not any(folder.iterdir()):
            folder.rmdir()
        raise
    try:
        Vault(folder / "vault").create(vault)
    except NeuroarenaError:
        shutil.rmtree(folder)
        raise
    shutil.copyfile(file, folder / FILE)
    atomic.write_text(folder / DEPLOYMENT, f"database = {json.dumps(database)}\n")
    Orders(folder / "orders").create()
    arena = open_arena(folder)
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        write_about(connection, "status", "closed")
        write_about(connection, "version", __version__)
        append_event(
            connection, now, "organiser", "set-up", competition.name, {"file_sha256": _hash(folder / FILE)}
        )
    return arena


def open_arena(folder: str | Path, clock: Clock | None = None) -> Arena:
    """Open a competition that was set up before.

    Raises
    ------
    InputError
        When the folder holds none, or its store has another version.
    """
    folder = Path(folder)
    if not is_arena(folder):
        raise InputError(
            f"{folder}: there is no competition here. Expected a folder that neuroarena admin init has set up."
        )
    competition = read_competition(folder / FILE)
    return Arena(folder, competition, open_store(place_database(folder), clock))


def is_arena(folder: Path) -> bool:
    """Return whether a competition was set up in a folder."""
    return (folder / FILE).is_file() and (folder / DEPLOYMENT).is_file()


def place_database(folder: Path) -> str:
    """Return the address of the store of a competition, as its folder says it.

    Raises
    ------
    InputError
        When it does not.
    """
    try:
        database = tomllib.loads((folder / DEPLOYMENT).read_text(encoding="utf-8"))["database"]
        return _place(folder, database)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, AttributeError) as error:
        raise InputError(f'{folder / DEPLOYMENT}: expected one line, database = "ADDRESS".') from error


def read_about(connection: Connection, key: str) -> str | None:
    """Return what the store says about the competition under a key."""
    return connection.execute(select(ABOUT.c.value).where(ABOUT.c.key == key)).scalar()


def write_about(connection: Connection, key: str, value: str) -> None:
    """Set what the store says about the competition under a key."""
    if connection.execute(ABOUT.update().where(ABOUT.c.key == key).values(value=value)).rowcount == 0:
        connection.execute(ABOUT.insert().values(key=key, value=value))


def _stamp(path: Path) -> tuple[Path, int]:
    """Return a path with the time of its last change, so that a file is read once, and anew when it was replaced."""
    return path, path.stat().st_mtime_ns


@functools.lru_cache(maxsize=64)
def _read_published(path: Path, changed: int) -> str:  # noqa: ARG001 - part of the key
    return path.read_text(encoding="utf-8")


@functools.lru_cache(maxsize=64)
def _read_manifest(path: Path, changed: int) -> Manifest:  # noqa: ARG001 - part of the key
    return Manifest.model_validate_json(path.read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=16)
def _read_ids(path: Path, changed: int) -> pd.DataFrame:  # noqa: ARG001 - part of the key
    return pd.read_parquet(path)


def _place(folder: Path, database: str) -> str:
    """Return the address of the store; a relative SQLite file lies in the competition's folder."""
    name = database.removeprefix("sqlite:///")
    return f"sqlite:///{(folder / name).resolve()}" if name != database else database


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
