"""What a Brain-Score benchmark is: something that takes a model and returns a ceiling-normalised Score."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from neuroarena.families.brainscore.brain_model import BrainModel
from neuroarena.families.brainscore.brain_score import Score, as_score
from neuroarena.families.brainscore.errors import ConfigError
from neuroarena.families.brainscore.normalisation import (
    FIRST_VERSION_OF_VARIANCE_RATIO,
    NORMALISATIONS,
    check_ceiling,
    formula_of,
)

CeilingFunction = Callable[..., Any]


class Benchmark(abc.ABC):
    """A comparison of models with recordings."""

    @abc.abstractmethod
    def __call__(self, candidate: BrainModel) -> Score:
        """Score a model."""

    @property
    @abc.abstractmethod
    def identifier(self) -> str:
        """Name of the benchmark: ``<dataset>.<region>-<metric>``."""

    @property
    @abc.abstractmethod
    def version(self) -> int:
        """Version number, raised by every change that moves scores."""

    @property
    @abc.abstractmethod
    def ceiling(self) -> Score:
        """The best score the data allow."""

    @property
    def parent(self) -> str | None:
        """Where it stands in the tree of benchmarks: a region, ``behavior`` or a group."""
        return None

    @property
    def bibtex(self) -> str | None:
        """Citation of the data."""
        return None


class BenchmarkBase(Benchmark):
    """A benchmark that knows its name, version and ceiling; a subclass adds ``__call__``.

    Parameters
    ----------
    identifier : str
        ``<dataset>.<region>-<metric>``; the name it is registered under.
    ceiling_func : callable
        ``() -> Score or number``. Called once, when the ceiling is first needed, and kept in the object.
    version : int
        Raised by every change that moves scores. Version 3 and below normalise by (r / c)^2, version 4 and up by
        r^2 / c, unless a benchmark says otherwise.
    parent, bibtex : str, optional
        Place in the tree of benchmarks, and citation of the data.

    Raises
    ------
    ConfigError
        When one of them has the wrong type or is empty.
    """

    def __init__(
        self,
        identifier: str,
        ceiling_func: CeilingFunction,
        version: int = FIRST_VERSION_OF_VARIANCE_RATIO,
        parent: str | None = None,
        bibtex: str | None = None,
    ) -> None:
        if not isinstance(identifier, str) or not identifier.strip():
            raise ConfigError(
                f"A benchmark needs an identifier such as MajajHong2015.IT-pls, got {identifier!r}."
            )
        if not callable(ceiling_func):
            raise ConfigError(
                f"{identifier}: ceiling_func is {ceiling_func!r}, expected a function: lambda: 1."
            )
        if isinstance(version, bool) or not isinstance(version, int) or version < 0:
            raise ConfigError(f"{identifier}: version is {version!r}, expected a whole number.")
        self._identifier = identifier
        self._ceiling_func = ceiling_func
        self._version = version
        self._parent = parent
        self._bibtex = bibtex
        self._ceiling: Score | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.identifier!r}, version={self.version})"

    @property
    def identifier(self) -> str:
        """Name of the benchmark."""
        return self._identifier

    @property
    def version(self) -> int:
        """Version number, raised by every change that moves scores."""
        return self._version

    @property
    def parent(self) -> str | None:
        """Where it stands in the tree of benchmarks."""
        return self._parent

    @property
    def bibtex(self) -> str | None:
        """Citation of the data."""
        return self._bibtex

    @property
    def ceiling(self) -> Score:
        """The best score the data allow: computed once; a plain number is turned into a Score."""
        if self._ceiling is None:
            self._ceiling = as_score(self._compute_ceiling())
        return self._ceiling

    def _compute_ceiling(self) -> Any:
        return self._ceiling_func()

    def checked_ceiling(self) -> Score:
        """Return the ceiling, or refuse one at or below zero; called before the model runs, not after."""
        return check_ceiling(self.ceiling, self.identifier)


def normalise(raw: Score, benchmark: BenchmarkBase, normalisation: str | None = None) -> Score:
    """Normalise a raw score by the ceiling and formula of a benchmark."""
    return NORMALISATIONS[formula_of(benchmark.version, normalisation)](raw, benchmark.checked_ceiling())
