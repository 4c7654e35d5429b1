"""What benches measure: numbers by name, their median and spread over repetitions, and the aims they are held against.

A bench is a file ``bench_*.py`` of this folder with a function ``main() -> dict`` of numbers, nested as it likes. It
may state

* ``FIGURES``: name -> (what it is in words, "at most" | "at least" | "", the aim or None), for what a reader looks for;
* ``MUST``: the names whose aim makes ``make bench`` fail when the median misses it;
* ``RUNS``: how often it is run where time allows, five unless stated.

Nothing else has to know of a new file.
"""

from __future__ import annotations

import importlib
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RUNS = 5
Stated = Mapping[str, tuple[str, str, float | None]]


@dataclass(frozen=True)
class Summary:
    """One number over the repetitions of a bench.

    Attributes
    ----------
    name : str
        Path of the number in what the bench returned, such as "pls.seconds".
    words : str
        What it is; empty where the bench does not say.
    median, low, high : float
    n : int
        Repetitions.
    relation : str
        "at most", "at least" or empty.
    aim : float or None
    """

    name: str
    words: str
    median: float
    low: float
    high: float
    n: int
    relation: str = ""
    aim: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the median meets the aim; None where there is none."""
        if self.aim is None or not self.relation:
            return None
        return self.median <= self.aim if self.relation == "at most" else self.median >= self.aim


def list_benches(folder: Path | None = None) -> list[str]:
    """Return the names of the benches of this folder, in order of their names."""
    place = Path(__file__).parent if folder is None else folder
    return sorted(path.stem for path in place.glob("bench_*.py"))


def stated_figures(name: str) -> tuple[Stated, tuple[str, ...], int]:
    """Return what a bench states about its figures: words and aims, which must be met, and how often it is repeated."""
    module = importlib.import_module(f"bench.{name}")
    must = tuple(getattr(module, "MUST", ()))
    return getattr(module, "FIGURES", {}), must, int(getattr(module, "RUNS", RUNS))


def flatten(figures: Any, prefix: str = "") -> dict[str, float]:
    """Return the finite numbers of nested tables and lists by their paths; texts are left out.

    Examples
    --------
    >>> flatten({"a": {"b": 1, "c": "text"}, "d": [2.5, {"e": True}]})
    {'a.b': 1.0, 'd.0': 2.5, 'd.1.e': 1.0}
    """
    if isinstance(figures, bool | int | float):
        return {prefix: float(figures)} if math.isfinite(figures) else {}
    inside: Sequence[tuple[Any, Any]] = ()
    if isinstance(figures, Mapping):
        inside = list(figures.items())
    elif isinstance(figures, list | tuple):
        inside = list(enumerate(figures))
    found: dict[str, float] = {}
    for key, value in inside:
        found |= flatten(value, f"{prefix}.{key}" if prefix else str(key))
    return found


def summarise(repetitions: Sequence[Mapping[str, Any]], stated: Stated) -> list[Summary]:
    """Return every number of a bench over its repetitions, those it states first and in their order.

    Examples
    --------
    >>> found = summarise([{"r": 1.0}, {"r": 3.0}, {"r": 2.0}], {"r": ("A ratio", "at most", 2.5)})
    >>> found[0].median, found[0].high, found[0].met
    (2.0, 3.0, True)
    """
    numbers: dict[str, list[float]] = {}
    for figures in repetitions:
        for name, value in flatten(figures).items():
            numbers.setdefault(name, []).append(value)
    order = [name for name in stated if name in numbers] + [name for name in numbers if name not in stated]
    found = []
    for name in order:
        values = numbers[name]
        words, relation, aim = stated.get(name, ("", "", None))
        middle = statistics.median(values)
        found.append(Summary(name, words, middle, min(values), max(values), len(values), relation, aim))
    return found


def growth_exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the slope of log(cost) over log(size), by least squares: 1 where the cost is in proportion.

    Examples
    --------
    >>> round(growth_exponent([10, 100, 1000], [3.0, 30.0, 300.0]), 6)
    1.0
    """
    x, y = [math.log(size) for size in sizes], [math.log(max(cost, 1e-9)) for cost in costs]
    return statistics.linear_regression(x, y).slope
