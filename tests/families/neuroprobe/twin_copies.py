"""Copies of a twin that a test may change, without copying the recordings, which are nearly all of it."""

from __future__ import annotations

import shutil
from pathlib import Path


def copy_twin(source: str | Path, target: Path, *changed: str) -> Path:
    """Copy a twin; its recordings are links to those of the source.

    Name in `changed` the recordings that will be written into: they are copied too.
    """

    def copy(old: str, new: str) -> None:
        if old.endswith(".h5") and Path(old).name not in changed:
            Path(new).symlink_to(old)
        else:
            shutil.copy2(old, new)

    return Path(shutil.copytree(source, target, copy_function=copy))
