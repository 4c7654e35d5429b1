"""Score: one number with its error and everything needed to trace it."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Mapping
from typing import Any

from neuroarena.errors import InputError

FIELDS = ("error", "raw", "ceiling", "formula", "n_splits", "n_neuroids_used", "n_neuroids_total")
COUNTS = ("n_splits", "n_neuroids_used", "n_neuroids_total", "provenance")


class Score:
    """The similarity of a model with recordings, or a ceiling of it.

    The value never changes. Everything beside it lives in `attrs`, an ordinary dictionary, and is also
    readable as an attribute: ``score.attrs["raw"] = r`` and ``score.raw`` refer to the same thing.

    Parameters
    ----------
    value : float or Score
        The number; for a Score, its value and its error.
    error : float, optional
        Standard error on the scale of `value`.
    raw : DataArray or Score, optional
        What was aggregated: split x neuroid for regression metrics, the raw Score for a normalised one.
    ceiling : Score, optional
        The ceiling `value` was normalised with; numbers are coerced.
    formula : str, optional
        Name of the normalisation, for example "variance_ratio".
    n_splits, n_neuroids_used, n_neuroids_total : int, optional
        How many splits and neuroids the value rests on, and how many neuroids there were.
    attrs : mapping, optional
        Anything else; "provenance" (model, benchmark, versions, seed, data hashes) is customary.

    Examples
    --------
    >>> score = Score(0.65, error=0.02)
    >>> float(score), score > 0.5, float(score / 0.5)
    (0.65, True, 1.3)
    >>> f"{score:.1%}"
    '65.0%'
    >>> score.attrs["raw"] = Score(0.8)
    >>> score.raw
    Score(0.8)
    """

    def __init__(
        self,
        value: float | Score | Any,
        error: float | None = None,
        raw: Any = None,
        ceiling: Any = None,
        formula: str | None = None,
        n_splits: int | None = None,
        n_neuroids_used: int | None = None,
        n_neuroids_total: int | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        self._value = _number(value)
        self.attrs: dict[str, Any] = dict(attrs or {})
        if isinstance(value, Score) and error is None:
            error = value.error
        given = (error, raw, ceiling, formula, n_splits, n_neuroids_used, n_neuroids_total)
        self.attrs |= {name: each for name, each in zip(FIELDS, given, strict=True) if each is not None}
        _check_error(self.attrs.get("error"))

    @property
    def value(self) -> float:
        """The number itself."""
        return self._value

    @property
    def error(self) -> float | None:
        """Standard error on the scale of the value, or None where there is none."""
        found = self.attrs.get("error")
        return None if found is None else float(found)

    @property
    def raw(self) -> Any:
        """What was aggregated or normalised to this value."""
        return self.attrs.get("raw")

    @property
    def ceiling(self) -> Any:
        """The ceiling the value was normalised with; a number put into attrs is read as a Score."""
        found = self.attrs.get("ceiling")
        return as_score(found) if isinstance(found, _NUMBERS) else found

    @property
    def formula(self) -> str | None:
        """Name of the normalisation."""
        return self.attrs.get("formula")

    @property
    def n_splits(self) -> int | None:
        """How many splits the value is a mean of."""
        return self.attrs.get("n_splits")

    @property
    def n_neuroids_used(self) -> int | None:
        """How many neuroids the value rests on."""
        return self.attrs.get("n_neuroids_used")

    @property
    def n_neuroids_total(self) -> int | None:
        """How many neuroids there were."""
        return self.attrs.get("n_neuroids_total")

    @property
    def provenance(self) -> dict[str, Any]:
        """Model, benchmark, versions, seed and data hashes; a dictionary that callers may add to."""
        found: dict[str, Any] = self.attrs.setdefault("provenance", {})
        return found

    @property
    def clipped(self) -> float:
        """The value clipped to [0, 1]; noise in the ceiling can push it beyond."""
        return min(1.0, max(0.0, self._value))

    def item(self) -> float:
        """Return the number, as 0-d arrays do."""
        return self._value

    def __float__(self) -> float:
        return self._value

    def __int__(self) -> int:
        return int(self._value)

    def __bool__(self) -> bool:
        return self._value != 0

    def __round__(self, digits: int | None = None) -> float:
        return round(self._value, digits)

    def __format__(self, spec: str) -> str:
        return format(self._value, spec) if spec else str(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        return np.array(self._value, dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Serve NumPy: one number on the other side leaves arithmetic to the Score, arrays see its value."""
        operation = _OPERATIONS.get(ufunc.__name__) if method == "__call__" and not options else None
        if operation is not None and all(getattr(each, "ndim", 0) == 0 for each in inputs):
            return operation(*(each.item() if hasattr(each, "dtype") else each for each in inputs))
        numbers_only = (each._value if isinstance(each, Score) else each for each in inputs)
        return getattr(ufunc, method)(*numbers_only, **options)

    def __repr__(self) -> str:
        parts = [f"{self._value:.6g}" + (f" ± {self.error:.2g}" if self.error is not None else "")]
        if self.formula is not None:
            parts.append(self.formula)
        if self.n_neuroids_total is not None:
            parts.append(f"{self.n_neuroids_used} of {self.n_neuroids_total} neuroids")
        return f"Score({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        return self._value == float(other) if isinstance(other, _NUMBERS) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._value)

    def __lt__(self, other: Any) -> bool:
        return self._value < float(other) if isinstance(other, _NUMBERS) else NotImplemented

    def __le__(self, other: Any) -> bool:
        return self._value <= float(other) if isinstance(other, _NUMBERS) else NotImplemented

    def __gt__(self, other: Any) -> bool:
        return self._value > float(other) if isinstance(other, _NUMBERS) else NotImplemented

    def __ge__(self, other: Any) -> bool:
        return self._value >= float(other) if isinstance(other, _NUMBERS) else NotImplemented

    def __add__(self, other: Any) -> Score:
        return _combined(self, other, lambda a, b: a + b, lambda *_: (1.0, 1.0))

    def __sub__(self, other: Any) -> Score:
        return _combined(self, other, lambda a, b: a - b, lambda *_: (1.0, 1.0))

    def __mul__(self, other: Any) -> Score:
        return _combined(self, other, lambda a, b: a * b, lambda a, b: (b, a))

    def __truediv__(self, other: Any) -> Score:
        return _combined(self, other, lambda a, b: a / b, lambda a, b: (1 / b, a / b**2))

    def __pow__(self, other: Any) -> Score:
        if isinstance(other, Score) or not isinstance(other, _NUMBERS):
            return NotImplemented
        power = float(other)
        return _combined(self, other, lambda a, b: a**b, lambda a, _: (power * a ** (power - 1), 0.0))

    def __radd__(self, other: Any) -> Score:
        return self.__add__(other)

    def __rsub__(self, other: Any) -> Score:
        return self.__neg__().__add__(other)

    def __rmul__(self, other: Any) -> Score:
        return self.__mul__(other)

    def __rtruediv__(self, other: Any) -> Score:
        return _combined(self, other, lambda a, b: b / a, lambda a, b: (b / a**2, 1 / a))

    def __neg__(self) -> Score:
        return self * -1

    def __pos__(self) -> Score:
        return self

    def __abs__(self) -> Score:
        return -self if self._value < 0 else self

    def to_dict(self) -> dict[str, Any]:
        """Return the Score as plain JSON data; :meth:`from_dict` reads it back."""
        from neuroarena.families.brainscore.score_json import score_to_plain

        return score_to_plain(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Score:
        """Make a Score from what :meth:`to_dict` returned."""
        from neuroarena.families.brainscore.score_json import score_from_plain

        return score_from_plain(plain)

    def to_json(self) -> str:
        """Return the Score as JSON text; NaN is written as null, infinity as an object that names it.

        Examples
        --------
        >>> Score.from_json(Score(0.5, error=0.1).to_json())
        Score(0.5 ± 0.1)
        """
        from neuroarena.families.brainscore.score_json import write_score

        return write_score(self)

    @classmethod
    def from_json(cls, text: str) -> Score:
        """Read what :meth:`to_json` wrote.

        Raises
        ------
        InputError
            When the text is not a Score.
        """
        from neuroarena.families.brainscore.score_json import read_score

        return read_score(text)


_NUMBERS = (int, float, numbers.Real, Score)
# pytest.approx and math functions accept anything registered as a real number.
numbers.Real.register(Score)


def as_score(value: float | Score | Any) -> Score:
    """Return a Score unchanged, or turn a number into one."""
    return value if isinstance(value, Score) else Score(value)


# What NumPy calls the operators that carry an error, or compare.
_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": operator.pow,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}


def _check_error(error: Any) -> None:
    """Refuse a standard error that is negative or not a number."""
    if error is None:
        return
    if not isinstance(error, numbers.Real) and getattr(error, "ndim", None) != 0:
        raise InputError(f"The error of a Score is {error!r}, expected a number.")
    if float(error) < 0:
        raise InputError(f"The error of a Score is {float(error):g}, expected a standard error of 0 or more.")


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        shape = getattr(value, "shape", None)
        got = f"an array of shape {tuple(shape)}" if shape is not None else f"a {type(value).__name__}"
        raise InputError(
            f"A Score holds one number, got {got}. Aggregate it first and keep it as raw."
        ) from error
    return number


def _combined(
    left: Score,
    right: Any,
    value: Callable[[float, float], float],
    slopes: Callable[[float, float], tuple[float, float]],
) -> Score:
    """Combine two numbers; errors are propagated to first order as if they were independent."""
    if not isinstance(right, _NUMBERS):
        return NotImplemented  # type: ignore[no-any-return]
    a, b = float(left), float(right)
    other = right if isinstance(right, Score) else None
    error = _propagated(left, other, lambda: slopes(a, b))
    kept = {
        key: left.attrs[key]
        for key in COUNTS
        if key in left.attrs and (other is None or other.attrs.get(key) == left.attrs[key])
    }
    return Score(value(a, b), error=error, attrs=kept)


def _propagated(left: Score, right: Score | None, slopes: Callable[[], tuple[float, float]]) -> float | None:
    errors = (left.error, right.error if right is not None else None)
    if errors == (None, None):
        return None
    return math.hypot(*(slope * (error or 0.0) for slope, error in zip(slopes(), errors, strict=True)))
