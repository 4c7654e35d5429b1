"""Read one column of an untrusted table, or refuse it and name the row."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from neuroarena.errors import InputError

OUTCOME = "Nothing was scored."
MAX_ID_BYTES = 1024


def quote(value: Any, limit: int = 60) -> str:
    """Quote an untrusted value for an error message: on one line, without control characters, not too long.

    Examples
    --------
    >>> quote("a" + chr(10) + "b")
    '"a\\\\nb"'
    """
    text = value if isinstance(value, str) else str(value)
    return json.dumps(text if len(text) <= limit else text[:limit] + "...")


@dataclass(frozen=True)
class Place:
    """A table as errors refer to it: its name and, once known, the ids of its rows."""

    source: str
    ids: pa.LargeStringArray | None = None

    def refuse(self, problem: str, row: int | None = None, bad: np.ndarray | None = None) -> InputError:
        """Make the error for a problem, at a row of the table (0-based) or in the table as a whole.

        With `bad`, a boolean for every row, the other bad rows are named as well.
        """
        where = self.source
        others = np.empty(0, dtype=np.int64) if bad is None else np.flatnonzero(bad)[1:]
        if others.size:
            named = ", ".join(str(other) for other in others[:3])
            more = f" and {others.size - 3} more" if others.size > 3 else ""
            problem = f"{problem}; the same in row{'s' if others.size > 1 else ''} {named}{more}"
        if row is not None:
            known = "" if self.ids is None else f" (id {quote(self.ids[row].as_py())})"
            where = f"{where}: row {row}{known}"
        return InputError(f"{where}: {problem}. {OUTCOME}")


def find_first(found: np.ndarray) -> int | None:
    """Return the first position that is True, or None."""
    position = int(found.argmax()) if found.size else 0
    return position if found.size and found[position] else None


def read_text_column(column: pd.Series, name: str, place: Place) -> pa.LargeStringArray:
    """Read a column of text without missing values.

    Raises
    ------
    InputError
        At the first row that is missing, is not text, or has no UTF-8 form.
    """
    plain = column.astype(object) if isinstance(column.dtype, pd.CategoricalDtype) else column
    missing = plain.isna().to_numpy(dtype=bool)
    row = find_first(missing)
    if row is not None:
        raise place.refuse(f"{name} is missing; expected text", row, missing)
    if len(plain) and pd.api.types.infer_dtype(plain, skipna=False) != "string":
        row = next((i for i, value in enumerate(plain) if not isinstance(value, str)), 0)
        got = plain.iloc[row]
        raise place.refuse(f"{name} must be text, got {type(got).__name__} {quote(got)}", row)
    try:
        made = pa.array(plain, type=pa.large_string())
    except (pa.ArrowException, UnicodeError):
        row = next(i for i, value in enumerate(plain) if not _encodes(value))
        raise place.refuse(f"{name} {quote(plain.iloc[row])} cannot be written as UTF-8", row) from None
    return made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeError:
        return False
    return True


def read_name_column(column: pd.Series, name: str, place: Place, empty: bool = False) -> pa.LargeStringArray:
    """Read a column of names: text of moderate length, without NUL bytes and not empty unless allowed."""
    values = read_text_column(column, name, place)
    blank = _numpy(pc.equal(values, ""))
    row = None if empty else find_first(blank)
    if row is not None:
        raise place.refuse(f"{name} is empty; expected a name", row, blank)
    long = _numpy(pc.greater(pc.binary_length(values), MAX_ID_BYTES))
    row = find_first(long)
    if row is not None:
        raise place.refuse(f"{name} is longer than {MAX_ID_BYTES} bytes", row, long)
    return without_nul(values, name, place)


def without_nul(values: pa.LargeStringArray, name: str, place: Place) -> pa.LargeStringArray:
    """Refuse text that holds a NUL byte."""
    found = _numpy(pc.match_substring(values, "\0"))
    row = find_first(found)
    if row is not None:
        raise place.refuse(f"{name} holds a NUL byte; expected plain text", row, found)
    return values


def read_id_column(table: pd.DataFrame, source: str) -> pa.LargeStringArray:
    """Read the ids of a table: non-empty text, each one unique.

    Raises
    ------
    InputError
        At the first bad row; for a duplicate both rows are named.
    """
    ids = read_name_column(table["id"], "id", Place(source))
    codes = ids.dictionary_encode()
    if len(codes.dictionary) < len(ids):
        positions = codes.indices.to_numpy()
        second = find_first(pd.Series(positions).duplicated().to_numpy())
        assert second is not None
        earlier = int(np.flatnonzero(positions == positions[second])[0])
        problem = f"the id occurs twice, in rows {earlier} and {second}; expected every id once"
        raise Place(source, ids).refuse(problem, second)
    return ids


def read_number_column(column: pd.Series, name: str, place: Place) -> np.ndarray:
    """Read a column of finite numbers as float64, (n,).

    Whole numbers are taken as well. Booleans, complex numbers, text, dates and mixtures are refused.

    Raises
    ------
    InputError
        At the first row that is missing, is not a number, or is not finite.
    """
    if not pd.api.types.is_any_real_numeric_dtype(column.dtype):
        if not all(_is_number(value) for value in column):
            is_text = pd.api.types.infer_dtype(column, skipna=True) == "string"
            raise _not_a_number(column, name, place, _parses if is_text else _is_number)
        column = column.astype(object)
    try:
        with np.errstate(over="ignore"):
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (OverflowError, ValueError, TypeError):
        raise place.refuse(f"{name} holds a number beyond double precision") from None
    bad = ~np.isfinite(values)
    row = find_first(bad)
    if row is not None:
        raise place.refuse(f"{name} is {_non_finite(values[row])}; every number must be finite", row, bad)
    return values


def _non_finite(value: float) -> str:
    return "NaN" if np.isnan(value) else "+infinity" if value > 0 else "-infinity"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _parses(value: Any) -> bool:
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False


def _not_a_number(column: pd.Series, name: str, place: Place, fine: Callable[[Any], bool]) -> InputError:
    """Name the first bad value; the very first one where all look fine (numbers stored as text)."""
    row = next((i for i, value in enumerate(column) if not fine(value)), 0)
    got = column.iloc[row]
    if got is None or got is pd.NA or got == "" or (isinstance(got, float) and np.isnan(got)):
        return place.refuse(f"{name} is missing or NaN; every number must be finite", row)
    kind = {"str": "text", "bool": "a boolean", "bool_": "a boolean"}.get(
        type(got).__name__, type(got).__name__
    )
    return place.refuse(f"{name} must be a number, got {kind} {quote(got)}", row)


def read_class_column(column: pd.Series, name: str, classes: tuple[str, ...], place: Place) -> np.ndarray:
    """Read a column of classes as positions in `classes`, int64 (n,).

    Text and whole numbers are compared with the classes as text: 1 is the class "1".

    Raises
    ------
    InputError
        At the first row that is missing or is not one of the classes, with the closest class.
    """
    plain = column.astype(object) if isinstance(column.dtype, pd.CategoricalDtype) else column
    missing = plain.isna().to_numpy(dtype=bool)
    row = find_first(missing)
    if row is not None:
        raise place.refuse(f"{name} is missing; expected one of {_list_names(classes)}", row, missing)
    if len(plain) and pd.api.types.infer_dtype(plain, skipna=False) not in ("string", "integer"):
        row = next((i for i, value in enumerate(plain) if not _is_class(value)), 0)
        got = plain.iloc[row]
        problem = f"{name} must be text or a whole number, got {type(got).__name__} {quote(got)}"
        raise place.refuse(problem, row)
    codes, found = pd.factorize(plain)
    known = {value: position for position, value in enumerate(classes)}
    positions = np.array([known.get(str(value), -1) for value in found], dtype=np.int64)[codes]
    row = find_first(positions < 0)
    if row is not None:
        got = str(plain.iloc[row])
        close = difflib.get_close_matches(got[:100], classes, n=1, cutoff=0.5)
        hint = f' (did you mean "{close[0]}"?)' if close else ""
        problem = f"{name} {quote(got)} is not one of the classes {_list_names(classes)}{hint}"
        raise place.refuse(problem, row, positions < 0)
    return positions


def _is_class(value: Any) -> bool:
    return isinstance(value, str | int | np.integer) and not isinstance(value, bool)


def _list_names(names: tuple[str, ...], limit: int = 8) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(f'"{name}"' for name in names[:limit]) + more


def read_vector_column(column: pd.Series, name: str, length: int | None, place: Place) -> np.ndarray:
    """Read a column of vectors, (n, length): float32 where every one is, else float64.

    Parameters
    ----------
    length : int or None
        What every vector must have; None: what the first one has.

    Raises
    ------
    InputError
        At the first row that is missing, is not a vector, has another length, or holds something other than
        a finite number.
    """
    rows = []
    for row, value in enumerate(column):
        if not isinstance(value, list | tuple | np.ndarray):
            got = "nothing" if value is None or value is pd.NA else f"{type(value).__name__} {quote(value)}"
            raise place.refuse(f"{name} must be a list of numbers, got {got}", row)
        length = len(value) if length is None else length
        if len(value) != length or length == 0:
            wanted = length or "at least 1"
            raise place.refuse(f"{name} has {len(value)} numbers, expected {wanted}", row)
        rows.append(_vector(value, name, row, place))
    vectors = np.stack(rows)
    bad = ~np.isfinite(vectors).all(axis=1)
    first_bad = find_first(bad)
    if first_bad is not None:
        at = int(np.flatnonzero(~np.isfinite(vectors[first_bad]))[0])
        got = _non_finite(vectors[first_bad, at])
        problem = f"{name} holds {got} at position {at}; every number must be finite"
        raise place.refuse(problem, first_bad, bad)
    return vectors


def _vector(value: Any, name: str, row: int, place: Place) -> np.ndarray:
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.empty((0, 0), dtype=object)
    if array.ndim != 1 or array.dtype.kind not in "fiu":
        raise place.refuse(f"{name} must hold numbers only, in one list", row)
    with np.errstate(over="ignore"):
        return array if array.dtype == np.float32 else array.astype(np.float64)


def _numpy(found: Any) -> np.ndarray:
    made: np.ndarray = found.to_numpy(zero_copy_only=False)
    return made
