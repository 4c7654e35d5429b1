"""Shards of a run: several processes with one folder in common divide its cells by their keys."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from neuroarena.errors import InputError


class Keyed(Protocol):
    """Work whose product has a name: a cell of a run, or a job of a map."""

    @property
    def key(self) -> str:
        """Hexadecimal digits."""


Work = TypeVar("Work", bound=Keyed)


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

    def take(self, works: Iterable[Work]) -> list[Work]:
        """Return the works of this share."""
        return [work for work in works if int(work.key[:8], 16) % self.of == self.number - 1]
