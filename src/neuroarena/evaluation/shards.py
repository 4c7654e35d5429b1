"""Shards of a run: several processes with one folder in common divide its cells by their keys."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from neuroarena.errors import InputError
from neuroarena.evaluation.cell import Cell


@dataclass(frozen=True)
class Shard:
    """One share of `of` equal ones, counted from 1.

    Which cells it holds follows from their keys alone, so that the processes need not speak to each other.

    Examples
    --------
    >>> Shard.parse("3/8")
    Shard(number=3, of=8)
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read ``i/n``.

        Raises
        ------
        InputError
        """
        found = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise InputError(
                f'--shard "{text}": expected i/n with i from 1 to n, such as 3/8 for the third of eight shares.'
            )
        return cls(int(found[1]), int(found[2]))

    def take(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells of this share."""
        return [cell for cell in cells if int(cell.key[:8], 16) % self.of == self.number - 1]
