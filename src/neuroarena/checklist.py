"""Lists of named checks: the form in which a decoder, a dataset, a benchmark and a family are checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Check:
    """One point of a contract: what it is, whether it holds, and what was seen."""

    name: str
    passed: bool
    detail: str = ""


# A point of a contract: its name, and a function that returns what is wrong, or None.
Point = tuple[str, Callable[[T], str | None]]


def run_points(
    points: Iterable[Point[T]], make_trial: Callable[[], T], vital: Collection[str] = ()
) -> list[Check]:
    """Look at every point of a contract and report each.

    Parameters
    ----------
    points : iterable of (name, function)
    make_trial : callable
        Makes what the functions look at, anew for each point: one that is spoiled must not spoil the next.
    vital : collection of str
        Points after whose failure the others say nothing new; they are not looked at then.

    Examples
    --------
    >>> points = [("it is short", lambda text: None if len(text) < 5 else "it is long"), ("it counts", lambda t: 1 / 0)]
    >>> [(check.passed, check.detail) for check in run_points(points, lambda: "word")]
    [(True, ''), (False, 'ZeroDivisionError: division by zero')]
    """
    checks: list[Check] = []
    for name, look in points:
        try:
            problem = look(make_trial())
        # What is checked is a stranger's and may raise anything; it is reported, not hidden.
        except (Exception, SystemExit) as error:
            problem = f"{type(error).__name__}: {error}"
        checks.append(Check(name, problem is None, problem or ""))
        if problem is not None and name in vital:
            break
    return checks
