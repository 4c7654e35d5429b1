"""A folder of Brain-Score files: what is in it, and whether it is simulated."""

from __future__ import annotations

from neuroarena.datasets.folder import DatasetFolder
from neuroarena.families.brainscore.vision.facts import STUDIES


class VisionFolder(DatasetFolder):
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

    @property
    def studies(self) -> list[str]:
        """Names of the studies whose assembly is here."""
        return [name for name, study in STUDIES.items() if (self.root / study.file).is_file()]
