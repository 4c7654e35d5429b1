"""The vault: truth, private unit scores and secret keys; only the scorer's user can open it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from neuroarena import atomic
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.scoring import UnitScores

_TABLES = """
CREATE TABLE IF NOT EXISTS unit_scores (
    run TEXT NOT NULL, scorer_version TEXT NOT NULL, parquet BLOB NOT NULL, PRIMARY KEY (run, scorer_version)
)
"""


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
        """Make the folder, its database and the key that all secret orders are drawn from."""
        (self.folder / "truth").mkdir(parents=True)
        self.folder.chmod(0o700)
        (self.folder / "truth").chmod(0o700)
        with self._database(new=True) as database:
            database.execute(_TABLES)
        self._write_secret("key", secrets.token_bytes(32))

    @property
    def key_commitment(self) -> str:
        """SHA-256 of the secret key, published at the start; the key itself is revealed at the end."""
        return hashlib.sha256(self._read_secret("key")).hexdigest()

    def seal_truth(self, track: str, truth: pd.DataFrame) -> str:
        """Keep the truth of a track, and return its salted commitment.

        Raises
        ------
        InputError
            When the track has been sealed before with other content: a competition has one truth.
        """
        with atomic.replacing(self._truth(track).with_suffix(".new")) as temporary:
            truth.to_parquet(temporary, index=False)
        new = self._truth(track).with_suffix(".new")
        try:
            if self._truth(track).exists():
                if new.read_bytes() != self._truth(track).read_bytes():
                    raise InputError(
                        f'The track "{track}" is sealed already, with another truth. Nothing was changed.'
                    )
                return self.truth_commitment(track)
            new.chmod(0o600)
            self._write_secret(f"salt-{track}", secrets.token_bytes(32))
            os.replace(new, self._truth(track))
        finally:
            new.unlink(missing_ok=True)
        return self.truth_commitment(track)

    def truth_commitment(self, track: str) -> str:
        """Return SHA-256 of the salt followed by the truth file."""
        return hashlib.sha256(
            self._read_secret(f"salt-{track}") + self._truth(track).read_bytes()
        ).hexdigest()

    def truth(self, track: str) -> pd.DataFrame:
        """Read the truth of a track."""
        return pd.read_parquet(self._truth(track))

    def keep_scores(self, run: str, scores: UnitScores) -> None:
        """Keep the unit scores of a run, once for each scorer version.

        Raises
        ------
        TwoScores
            When others are kept for the same run and version.
        """
        place = self.folder / f".{run}-{secrets.token_hex(4)}.parquet"
        try:
            scores.write(place)
            content = place.read_bytes()
        finally:
            place.unlink(missing_ok=True)
        key = (run, scores.scorer_version)
        with self._database() as database:
            database.execute("INSERT OR IGNORE INTO unit_scores VALUES (?, ?, ?)", (*key, content))
            found = database.execute(
                "SELECT parquet FROM unit_scores WHERE run = ? AND scorer_version = ?", key
            ).fetchone()
        if found[0] != content:
            raise TwoScores(f"Run {run} has other scores of scorer {scores.scorer_version} already.")

    def read_scores(self, run: str, scorer_version: str) -> UnitScores | None:
        """Read the unit scores of a run by one scorer version; None when it was not scored."""
        with self._database() as database:
            found = database.execute(
                "SELECT parquet FROM unit_scores WHERE run = ? AND scorer_version = ?", (run, scorer_version)
            ).fetchone()
        if found is None:
            return None
        place = self.folder / f".{run}-{secrets.token_hex(4)}.parquet"
        try:
            place.write_bytes(found[0])
            return UnitScores.read(place)
        finally:
            place.unlink(missing_ok=True)

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

    def _truth(self, track: str) -> Path:
        return self.folder / "truth" / f"{track}.parquet"

    def _write_secret(self, name: str, value: bytes) -> None:
        atomic.write_bytes(self.folder / f"{name}.secret", value)
        (self.folder / f"{name}.secret").chmod(0o600)

    def _read_secret(self, name: str) -> bytes:
        return (self.folder / f"{name}.secret").read_bytes()
