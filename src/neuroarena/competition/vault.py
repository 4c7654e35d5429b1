"""The vault: truth, salts and private unit scores; only the scorer's user can open it."""

from __future__ import annotations

import hashlib
import io
import secrets
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from neuroarena import atomic
from neuroarena.competition.halves import COLUMN as HALF
from neuroarena.competition.halves import Half
from neuroarena.competition.vault_shelves import ADDRESS, FolderShelf, SchemaShelf, copy_shelf
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.scoring import UnitScores


class TwoScores(NeuroarenaError):
    """One run was scored twice by one scorer version, with different results."""


@dataclass(frozen=True)
class Vault:
    """A folder that only its owner may enter; or a schema of PostgreSQL, whose address is all that the folder holds.

    Attributes
    ----------
    folder : Path
    """

    folder: Path

    @property
    def shelf(self) -> FolderShelf | SchemaShelf:
        """Where things are kept."""
        try:
            return SchemaShelf((self.folder / ADDRESS).read_text(encoding="utf-8").strip())
        except FileNotFoundError:
            return FolderShelf(self.folder)

    def create(self, address: str | None = None) -> None:
        """Make the vault: a folder with its database, or with an address a schema of PostgreSQL.

        Raises
        ------
        InputError
            When the schema cannot be made.
        """
        if address is None:
            FolderShelf(self.folder).create()
            return
        SchemaShelf(address).create()
        self.folder.mkdir(parents=True)
        self.folder.chmod(0o700)
        atomic.write_text(self.folder / ADDRESS, f"{address}\n")
        (self.folder / ADDRESS).chmod(0o600)

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
        place, shelf = _truth_name(sheet, part), self.shelf
        if shelf.has(place):
            if not _same_truth(pd.read_parquet(io.BytesIO(shelf.read(place))), truth):
                raise InputError(f'"{sheet}" is sealed already, with another truth. Nothing was changed.')
            return self.truth_commitment(sheet, part)
        shelf.write(_salt_name(sheet, part), secrets.token_bytes(32))
        content = io.BytesIO()
        truth.to_parquet(content, index=False)
        shelf.write(place, content.getvalue())
        return self.truth_commitment(sheet, part)

    def truth_commitment(self, sheet: str, part: str = "") -> str:
        """Return SHA-256 of the salt followed by the truth file."""
        content = self.read_salt(sheet, part) + self.read_truth_file(sheet, part)
        return hashlib.sha256(content).hexdigest()

    def truth(self, sheet: str, part: str = "") -> pd.DataFrame:
        """Read the truth of a part of a sheet."""
        return self._read_whole(sheet, part).drop(columns=HALF, errors="ignore")

    def public_units(self, sheet: str, part: str = "", half: Half = "public") -> frozenset[str] | None:
        """Return the units of one half; None when the sheet is not split."""
        table = self._read_whole(sheet, part)
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
        if self.shelf.keep((run, part, scores.scorer_version), content) != content:
            raise TwoScores(f"Run {run} has other scores of scorer {scores.scorer_version} already.")

    def read_scores(self, run: str, scorer_version: str, part: str = "") -> UnitScores | None:
        """Read the unit scores of a run by one scorer version; None when it was not scored."""
        found = self.shelf.find((run, part, scorer_version))
        return None if found is None else _from_bytes(found)

    def keep_lesson(self, sheet: str, content: bytes, part: str = "") -> None:
        """Keep what heads are taught that are fitted on the answers of code: targets of the training part."""
        self.shelf.write(_lesson_name(sheet, part), content)

    def read_lesson(self, sheet: str, part: str = "") -> bytes | None:
        """Return what the heads of a part are taught; None where answers are predictions already."""
        shelf = self.shelf
        return shelf.read(_lesson_name(sheet, part)) if shelf.has(_lesson_name(sheet, part)) else None

    def keep_audit(self, audit: str, content: bytes) -> None:
        """Keep the record of an audit, which holds scores."""
        self.shelf.write(_audit_name(audit), content)

    def read_audit(self, audit: str) -> bytes | None:
        """Return the record of an audit; None when there is none."""
        shelf = self.shelf
        return shelf.read(_audit_name(audit)) if shelf.has(_audit_name(audit)) else None

    def read_salt(self, sheet: str, part: str = "") -> bytes:
        """Return the salt of a truth's commitment."""
        return self.shelf.read(_salt_name(sheet, part))

    def read_truth_file(self, sheet: str, part: str = "") -> bytes:
        """Return the file of a truth, which the commitment is about."""
        return self.shelf.read(_truth_name(sheet, part))

    def back_up(self, target: Path) -> None:
        """Copy the vault into a new folder, consistent also under a writer; a schema becomes a folder there."""
        shelf = self.shelf
        if isinstance(shelf, FolderShelf):
            shutil.copytree(self.folder, target, ignore=_without_database)
            shelf.back_up(target / "vault.sqlite")
        else:
            copy = FolderShelf(target)
            copy.create()
            copy_shelf(shelf, copy)

    def _read_whole(self, sheet: str, part: str) -> pd.DataFrame:
        shelf, name = self.shelf, _truth_name(sheet, part)
        stamp = shelf.stamp(name)
        if stamp not in _TRUTHS:
            while len(_TRUTHS) >= _MOST_TRUTHS:
                _TRUTHS.pop(next(iter(_TRUTHS)))
            _TRUTHS[stamp] = pd.read_parquet(io.BytesIO(shelf.read(name)))
        return _TRUTHS[stamp]


# Truths that were read by this process; one that was replaced has another stamp.
_TRUTHS: dict[tuple[Any, ...], pd.DataFrame] = {}
_MOST_TRUTHS = 16


def _truth_name(sheet: str, part: str) -> str:
    return f"truth/{_name(sheet, part)}.parquet"


def _lesson_name(sheet: str, part: str) -> str:
    return f"lesson-{_name(sheet, part)}.secret"


def _audit_name(audit: str) -> str:
    return f"audits/{audit}.json"


def _salt_name(sheet: str, part: str) -> str:
    return f"salt-{_name(sheet, part)}.secret"


def _name(sheet: str, part: str) -> str:
    return f"{sheet}--{part}" if part else sheet


def _without_database(folder: str, names: list[str]) -> list[str]:  # noqa: ARG001 - the form of shutil
    return [name for name in names if name.startswith(("vault.sqlite", "."))]


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
