"""A folder of Brain-Score files: what is in it, and whether it is simulated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from neuroarena.datasets.brainscore_vision.facts import STUDIES
from neuroarena.errors import InputError

CARD = "simulated.json"


class VisionFolder:
    """Assemblies and stimulus sets in one folder; reading them is the work of the benchmarks.

    Parameters
    ----------
    root : path

    Attributes
    ----------
    root : Path
    card : dict or None
        What a simulation says of itself; None for real data.

    Raises
    ------
    InputError
        When there is no such folder, or when the card cannot be read.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        if not self.root.is_dir():
            raise InputError(f"{root}: there is no such folder.")
        self.card = _card(self.root / CARD)

    @property
    def simulated(self) -> bool:
        """Whether the folder holds a simulated twin."""
        return self.card is not None

    @property
    def studies(self) -> list[str]:
        """Names of the studies whose assembly is here."""
        return [name for name, study in STUDIES.items() if (self.root / study.file).is_file()]


def _card(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: the card of the simulation cannot be read: {error}.") from error
    if not isinstance(card, dict) or card.get("simulated") is not True:
        raise InputError(f'{path}: the card of a simulation says "simulated": true; this one does not.')
    return card
