"""Targets that are vectors: a name in the examples, and a row of a frozen table for training and scoring."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.errors import InputError
from neuroarena.fingerprint import digest


@dataclass(frozen=True, eq=False)
class Codebook:
    """A vector for each name.

    An examples table holds names only ("aardvark_01b"), so that it stays a plain table; training parts and
    the truth get the vectors.

    Parameters
    ----------
    names : sequence of str
        Unique, in the order of the rows.
    source : path or float32 array (names, length)
        A `.npy` file, which is memory-mapped rather than read at once, or the array itself.
    name : str
        What errors call it.

    Raises
    ------
    InputError
        When a name occurs twice, the shape does not fit, or a number is not finite.

    Examples
    --------
    >>> book = Codebook(["cat", "dog"], np.eye(2, dtype=np.float32))
    >>> book.vectors(["dog", "cat"]).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    names: Sequence[str]
    source: str | Path | np.ndarray
    name: str = "codebook"
    _row_of: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        row_of = {name: row for row, name in enumerate(self.names)}
        if len(row_of) != len(self.names):
            seen: set[str] = set()
            twice = next(name for name in self.names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            raise InputError(f'{self.name}: the name "{twice}" occurs more than once.')
        object.__setattr__(self, "_row_of", row_of)
        if self._values.ndim != 2 or len(self._values) != len(self.names):
            raise InputError(
                f"{self.name}: expected {len(self.names)} rows of numbers, got the shape {self._values.shape}."
            )

    @functools.cached_property
    def _values(self) -> np.ndarray:
        if isinstance(self.source, np.ndarray):
            return self.source
        try:
            values: np.ndarray = np.load(self.source, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self.source}: cannot be read as a table of numbers in .npy: {error}."
            ) from error
        return values

    @property
    def length(self) -> int:
        """Numbers in a vector."""
        return int(self._values.shape[1])

    def vectors(self, names: Iterable[Any]) -> np.ndarray:
        """Return the vectors of these names: float32 array (n, length).

        Raises
        ------
        InputError
            When a name is unknown, or a vector holds a number that is not finite.
        """
        wanted = [str(name) for name in names]
        unknown = next((name for name in wanted if name not in self._row_of), None)
        if unknown is not None:
            raise InputError(f'{self.name}: there is no vector for "{unknown}".')
        values = np.asarray(self._values[[self._row_of[name] for name in wanted]], dtype=np.float32)
        bad = ~np.isfinite(values).all(axis=1)
        if bad.any():
            raise InputError(
                f'{self.name}: the vector of "{wanted[int(bad.argmax())]}" holds NaN or infinity.'
            )
        return values

    def fingerprint(self) -> str:
        """Return a hash of names and vectors."""
        content = hashlib.sha256(np.ascontiguousarray(self._values, dtype=np.float32).tobytes()).hexdigest()
        return digest([list(self.names), content])

    def __getstate__(self) -> dict[str, Any]:
        # A file travels to worker processes as its path.
        state = dict(self.__dict__)
        state.pop("_values", None)
        return state
