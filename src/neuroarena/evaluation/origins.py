"""Where a cell was computed and what it cost: notes beside the cells, which are no part of them."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

FOLDER = "origins"


class Origin(BaseModel):
    """One note.

    Attributes
    ----------
    host, processor : str
        The machine.
    digest : str
        SHA-256 of the predictions: the same wherever they are computed, or something is wrong.
    benchmark, split, decoder : str
        What was computed; the decoder by its type.
    seconds, peak_mb : float
        What it took, and the most memory that its process had held until then.
    """

    model_config = ConfigDict(frozen=True)

    host: str
    processor: str
    digest: str
    benchmark: str
    split: str
    decoder: str
    seconds: float
    peak_mb: float


def note_origin(cache: Path, key: str, content: bytes | memoryview, **about: Any) -> None:
    """Write down where a cell was computed; a note that cannot be written is no reason to lose the cell."""
    origin = Origin(
        host=socket.gethostname(),
        processor=find_processor(),
        digest=hashlib.sha256(content).hexdigest(),
        peak_mb=measure_peak_mb(),
        **about,
    )
    path = _path(cache, key)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(origin.model_dump_json(), encoding="utf-8")
        os.replace(temporary, path)


def read_origin(cache: Path, key: str) -> Origin | None:
    """Return the note on a cell; None when there is none that can be read."""
    try:
        return Origin.model_validate_json(_path(cache, key).read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError):
        return None


def read_origins(cache: Path) -> Iterator[Origin]:
    """Iterate over the notes of a cache that were made on this machine."""
    here = socket.gethostname()
    for path in sorted((cache / FOLDER).glob("*/*.json")):
        found = read_origin(cache, path.stem)
        if found is not None and found.host == here:
            yield found


@functools.cache
def find_processor() -> str:
    """Return the model of this machine's processor."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def measure_peak_mb() -> float:
    """Return the most memory that this process has held, in megabytes; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1e6 if platform.system() == "Darwin" else 1e3), 1)


def _path(cache: Path, key: str) -> Path:
    return cache / FOLDER / key[:2] / f"{key}.json"
