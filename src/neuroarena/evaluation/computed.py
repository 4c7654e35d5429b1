"""What there is of the cells of a plan while it is worked on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from neuroarena.evaluation.cache import CellCache
from neuroarena.evaluation.cell import Cell
from neuroarena.evaluation.engines import Outcome
from neuroarena.evaluation.profiling import Profile

# How often a cell is made again that was written and could not be read back.
ROUNDS = 3


@dataclass
class Computed:
    """Cells by key: predictions and note of those that there are, how the work on them ended, and what it took."""

    kept: dict[str, tuple[pa.Table, dict[str, Any]]] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    profile: Profile = field(default_factory=Profile)

    def read(self, cells: Iterable[Cell], cache: CellCache) -> None:
        """Read the cells that are in the cache; a damaged one is not."""
        for cell in cells:
            found = cache.read(cell.key) if cell.key not in self.kept else None
            if found is not None:
                self.kept[cell.key] = found

    def waiting(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells, each once, that are neither there nor known to fail."""
        distinct = {cell.key: cell for cell in cells}
        return [
            cell
            for key, cell in distinct.items()
            if key not in self.kept and (key not in self.outcomes or self.outcomes[key].error is None)
        ]

    def reason(self, key: str) -> str:
        """Return the reason why there is no such cell."""
        outcome = self.outcomes.get(key)
        if outcome is None:
            return "it was not computed"
        return outcome.error or f"it was written {ROUNDS} times and could not be read back; check the disk"
