"""Files of a competition, kept by the SHA-256 of their content; nothing is overwritten.

Tables of predictions and embeddings, which the scorer reads, lie apart from uploads and logs, which it must not.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from neuroarena.atomic import holding, sweep
from neuroarena.errors import InputError, NeuroarenaError

CHUNK = 1 << 20
# What files are called while they are being written.
KEPT = "kept"
# What only teams write, and code prints: for the intake and the runner, never for the scorer.
UPLOADS = "uploads"
UPLOADED = (".zip", ".pdf", ".md", ".txt", ".log")
# Code may print sealed signals, so that only its runner, and organisers, read a log.
LOG = ".log"


@dataclass(frozen=True)
class Artifact:
    """A kept file: its SHA-256 and its size."""

    sha256: str
    n_bytes: int


class DamagedArtifact(NeuroarenaError):
    """A kept file is missing, or its content is not what was kept."""


class Artifacts:
    """A folder of files by content; uploads lie in a folder inside it.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, source: Path, most_bytes: int, ending: str = ".parquet") -> Artifact:
        """Copy a file into the folder while counting and hashing it.

        Parameters
        ----------
        source : Path
        most_bytes : int
        ending : str
            Of the kept file's name, by which readers go.

        Raises
        ------
        InputError
            When it is not a regular file, or larger than allowed; nothing is left behind.
        """
        if source.is_symlink() or not source.is_file():
            raise InputError(f"{source.name}: this is not a regular file. Nothing was taken.")
        home = self.home(ending)
        home.mkdir(parents=True, exist_ok=True)
        with holding(home, KEPT) as temporary:
            with temporary.open("wb") as written:
                found = _copy(source, written, most_bytes)
                written.flush()
                os.fsync(written.fileno())
            place = self.path(found.sha256, ending)
            place.parent.mkdir(exist_ok=True)
            temporary.chmod(0o400 if ending == LOG else 0o440)
            os.replace(temporary, place)
        return found

    def sweep(self) -> list[Path]:
        """Remove the parts of files that were being kept by processes that are gone, and return their paths."""
        return [path for home in (self.folder, self.folder / UPLOADS) for path in sweep(home, KEPT)]

    def home(self, ending: str) -> Path:
        """Return the folder of files with an ending: uploads and logs have their own."""
        return self.folder / UPLOADS if ending in UPLOADED else self.folder

    def path(self, sha256: str, ending: str = ".parquet") -> Path:
        """Return where the file with this content is kept."""
        return self.home(ending) / sha256[:2] / f"{sha256}{ending}"

    def sort(self) -> int:
        """Move uploads that an older version kept among the others to where they belong; return how many."""
        moved = 0
        for place in sorted(self.folder.glob("??/*")):
            if place.suffix in UPLOADED:
                target = self.path(place.stem, place.suffix)
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(place, target)
                moved += 1
        return moved

    def open(self, sha256: str, ending: str = ".parquet") -> Path:
        """Return the path of a kept file after comparing its content with its name.

        Raises
        ------
        DamagedArtifact
        """
        place = self.path(sha256, ending)
        try:
            with place.open("rb") as opened:
                found = hashlib.file_digest(opened, "sha256").hexdigest()
        except FileNotFoundError as error:
            raise DamagedArtifact(f"The submitted file {sha256[:12]} is missing.") from error
        if found != sha256:
            raise DamagedArtifact(f"The submitted file {sha256[:12]} has changed since it was received.")
        return place


def _copy(source: Path, written: BinaryIO, most_bytes: int) -> Artifact:
    hasher, n_bytes = hashlib.sha256(), 0
    with source.open("rb") as opened:
        while chunk := opened.read(CHUNK):
            n_bytes += len(chunk)
            if n_bytes > most_bytes:
                limit = f"{most_bytes / 1e6:.0f} MB"
                raise InputError(
                    f"{source.name}: the file is larger than {limit}, the limit. Nothing was taken."
                )
            hasher.update(chunk)
            written.write(chunk)
    return Artifact(hasher.hexdigest(), n_bytes)
