"""A folder of Brain-Score files: what is in it, and whether it is simulated."""

from __future__ import annotations

from pathlib import Path

from neuroarena.datasets.card import read_card
from neuroarena.errors import InputError
from neuroarena.families.brainscore.vision.facts import STUDIES


class VisionFolder:
    """Assemblies and stimulus sets in one folder; the benchmarks read them.

    Parameters
    ----------
    root : path

    Attributes
    ----------
    root : Path
    card : dict or None
        The card of a simulation; None for real data.

    Raises
    ------
    InputError
        When there is no such folder, or when the card cannot be read.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        if not self.root.is_dir():
            raise InputError(f"{root}: this folder does not exist.")
        self.card = read_card(self.root)

    @property
    def simulated(self) -> bool:
        """Whether the folder holds a simulated twin."""
        return self.card is not None

    @property
    def studies(self) -> list[str]:
        """Names of the studies whose assembly is here."""
        return [name for name, study in STUDIES.items() if (self.root / study.file).is_file()]
