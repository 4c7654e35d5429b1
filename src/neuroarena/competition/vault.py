"""The vault: truth, salts and private unit scores; only the scorer's user can open it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import secrets
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from neuroarena import atomic
from neuroarena.competition.halves import COLUMN as HALF
from neuroarena.competition.halves import Half
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.scoring import UnitScores

_TABLES = """
CREATE TABLE IF NOT EXISTS unit_scores (
    run TEXT NOT NULL, part TEXT NOT NULL, scorer_version TEXT NOT NULL, parquet BLOB NOT NULL,
    PRIMARY KEY (run, part, scorer_version)
)
"""
_ONE = "SELECT parquet FROM unit_scores WHERE run = ? AND part = ? AND scorer_version = ?"


class TwoScores(NeuroarenaError):
    """One run was scored twice by one scorer version, with different results."""


@dataclass(frozen=True)
class Vault:
    """A folder that only its owner may enter.

    Attributes
    ----------
    folder : Path
    """

    folder: Path

    def create(self) -> None:
        """Make the folder and its database."""
        (self.folder / "truth").mkdir(parents=True)
        self.folder.chmod(0o700)
        (self.folder / "truth").chmod(0o700)
        with self._database(new=True) as database:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute(_TABLES)

    def seal_truth(self, sheet: str, truth: pd.DataFrame, part: str = "") -> str:
        """Keep the truth of a part of a sheet, and return its salted commitment.

        Parameters
        ----------
        sheet : str
            Name of the questions: a track, or ``track@phase``.
        truth : DataFrame
            id, fold, unit, cluster, target, and where people are split in halves, half.
        part : str

        Raises
        ------
        InputError
            When it has been sealed before with other content: a competition has one truth.
        """
        place = self.truth_file(sheet, part)
        if place.exists():
            if not _same_truth(pd.read_parquet(place), truth):
                raise InputError(f'"{sheet}" is sealed already, with another truth. Nothing was changed.')
            return self.truth_commitment(sheet, part)
        self._write_secret(f"salt-{_name(sheet, part)}", secrets.token_bytes(32))
        with atomic.replacing(place) as temporary:
            truth.to_parquet(temporary, index=False)
            temporary.chmod(0o600)
        return self.truth_commitment(sheet, part)

    def truth_commitment(self, sheet: str, part: str = "") -> str:
        """Return SHA-256 of the salt followed by the truth file."""
        content = self.read_salt(sheet, part) + self.truth_file(sheet, part).read_bytes()
        return hashlib.sha256(content).hexdigest()

    def truth(self, sheet: str, part: str = "") -> pd.DataFrame:
        """Read the truth of a part of a sheet."""
        place = self.truth_file(sheet, part)
        return _read_truth(place, place.stat().st_mtime_ns).drop(columns=HALF, errors="ignore")

    def public_units(self, sheet: str, part: str = "", half: Half = "public") -> frozenset[str] | None:
        """Return the units of one half; None when the sheet is not split."""
        place = self.truth_file(sheet, part)
        table = _read_truth(place, place.stat().st_mtime_ns)
        if HALF not in table.columns:
            return None
        return frozenset(table.loc[table[HALF] == half, "unit"].astype(str))

    def keep_scores(self, run: str, scores: UnitScores, part: str = "") -> None:
        """Keep the unit scores of a run, once for each part and scorer version.

        Raises
        ------
        TwoScores
            When others are kept for the same run, part and version.
        """
        content = _to_bytes(scores)
        key = (run, part, scores.scorer_version)
        with self._database() as database:
            database.execute("INSERT OR IGNORE INTO unit_scores VALUES (?, ?, ?, ?)", (*key, content))
            found = database.execute(_ONE, key).fetchone()
        if found[0] != content:
            raise TwoScores(f"Run {run} has other scores of scorer {scores.scorer_version} already.")

    def read_scores(self, run: str, scorer_version: str, part: str = "") -> UnitScores | None:
        """Read the unit scores of a run by one scorer version; None when it was not scored."""
        with self._database() as database:
            found = database.execute(_ONE, (run, part, scorer_version)).fetchone()
        return None if found is None else _from_bytes(found[0])

    def read_salt(self, sheet: str, part: str = "") -> bytes:
        """Return the salt of a truth's commitment."""
        return self._read_secret(f"salt-{_name(sheet, part)}")

    def truth_file(self, sheet: str, part: str = "") -> Path:
        """Return where a truth is kept."""
        return self.folder / "truth" / f"{_name(sheet, part)}.parquet"

    def backup_database(self, target: Path) -> None:
        """Copy the database of unit scores as it is now, consistent also under a writer."""
        with self._database() as database, contextlib.closing(sqlite3.connect(target)) as copy:
            database.backup(copy, pages=-1)

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

    def _write_secret(self, name: str, value: bytes) -> None:
        atomic.write_bytes(self.folder / f"{name}.secret", value)
        (self.folder / f"{name}.secret").chmod(0o600)

    def _read_secret(self, name: str) -> bytes:
        return (self.folder / f"{name}.secret").read_bytes()


def _name(sheet: str, part: str) -> str:
    return f"{sheet}--{part}" if part else sheet


@functools.lru_cache(maxsize=16)
def _read_truth(place: Path, changed: int) -> pd.DataFrame:  # noqa: ARG001 - a file that was replaced is read anew
    return pd.read_parquet(place)


def _same_truth(kept: pd.DataFrame, new: pd.DataFrame) -> bool:
    """Return whether two truths ask and answer the same; how people were split may differ."""
    first, second = (
        table.drop(columns=HALF, errors="ignore").sort_values("id", ignore_index=True)
        for table in (kept, new)
    )
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("kept", "new")]
        for file, table in zip(files, (first, second), strict=True):
            table.to_parquet(file, index=False)
        return files[0].read_bytes() == files[1].read_bytes()


def _to_bytes(scores: UnitScores) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        scores.write(Path(folder) / "scores.parquet")
        return (Path(folder) / "scores.parquet").read_bytes()


def _from_bytes(content: bytes) -> UnitScores:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "scores.parquet"
        place.write_bytes(content)
        return UnitScores.read(place)
