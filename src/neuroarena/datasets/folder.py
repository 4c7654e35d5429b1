"""The folder of a dataset, as its readers begin: it is there, and it is real or simulated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from neuroarena.datasets.card import CARD, read_card
from neuroarena.datasets.dataset import Problem
from neuroarena.errors import InputError


class DatasetFolder:
    """A folder that a reader opens; readers of single datasets build on it.

    Parameters
    ----------
    root : path

    Attributes
    ----------
    root : Path
    card : dict or None
        What a simulated twin says of itself; None for real data.

    Raises
    ------
    InputError
        When the folder is not there, or its card cannot be read.
    """

    # What the folder should have been, as the refusal ends.
    expected: ClassVar[str] = ""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        if not self.root.is_dir():
            raise InputError(f"{self.root}: this folder does not exist. {self.expected}".rstrip())
        self.card: dict[str, Any] | None = read_card(self.root)

    @property
    def simulated(self) -> bool:
        """Whether the folder is a simulated twin."""
        return self.card is not None

    def check_files(self) -> Iterator[Problem]:
        """Yield the files that the card of a twin lists and that are missing or of another size."""
        for name, size in (self.card or {}).get("files", {}).items():
            file = self.root / name
            if not file.is_file():
                yield Problem(name, f"is missing, although {CARD} lists it.")
            elif file.stat().st_size != size:
                yield Problem(name, f"has {file.stat().st_size} bytes, but {CARD} states {size}.")
