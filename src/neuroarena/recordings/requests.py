"""Check what is requested of a recording: samples, windows and channels; errors name the culprit."""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from neuroarena.errors import InputError, UnknownName


def check_whole_number(value: Any, what: str, recording: str) -> int:
    """Return `value` as an int, and refuse a bool, a fraction, NaN or text."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_):
        return int(value)
    if isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_):
        number = float(value)
        if number.is_integer():
            return int(number)
    raise InputError(f"{recording}: {what} must be a whole number of samples, got {value!r}.")


def check_rate(value: Any, recording: str) -> float:
    """Return a sampling rate as a float; it must be finite and above zero."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_):
        number = float(value)
        if np.isfinite(number) and number > 0:
            return number
    raise InputError(f"{recording}: rate_hz must be a finite number above zero, got {value!r}.")


def check_window_starts(starts: Any, length: int, n_samples: int, recording: str) -> np.ndarray:
    """Return the starts as int64, after checking that every window lies inside the recording.

    Raises
    ------
    InputError
        Naming the recording, the position in the list, the window and the limits.
    """
    values = _whole_numbers(starts, recording)
    # Python integers beyond int64 stay objects, and are outside of any recording.
    outside = np.flatnonzero((values < 0) | (values > n_samples - length))
    if outside.size:
        position = int(outside[0])
        start = int(values[position])
        room = (
            f"A window of {length} samples may start at 0 to {n_samples - length}."
            if length <= n_samples
            else f"No window of {length} samples fits."
        )
        raise InputError(
            f"{recording}: window {position} (start {start}, stop {start + length}) is outside of the "
            f"recording, which holds samples 0 to {n_samples}. {room} "
            f"{outside.size} of {values.size} windows are outside it."
        )
    return values.astype(np.int64)


def _whole_numbers(starts: Any, recording: str) -> np.ndarray:
    if isinstance(starts, str | bytes) or np.ndim(starts) != 1:
        raise InputError(
            f"{recording}: starts must be a one-dimensional list of whole numbers, got {_brief(starts)}."
        )
    values = np.asarray(starts)
    if values.dtype.kind == "f":
        wrong = np.flatnonzero(~np.isfinite(values) | (values != np.floor(values)))
        if wrong.size:
            check_whole_number(values[wrong[0]].item(), f"the start of window {wrong[0]}", recording)
        return _from_floats(values)
    # A list such as [True, 3] turns into integers in NumPy, which would hide the bool.
    if values.dtype.kind in "iu" and (isinstance(starts, np.ndarray) or hasattr(starts, "dtype")):
        return values
    checked = [
        check_whole_number(value, f"the start of window {position}", recording)
        for position, value in enumerate(starts)
    ]
    return np.array(checked, dtype=None if checked else np.int64)


def _from_floats(values: np.ndarray) -> np.ndarray:
    fits = bool(np.all(np.abs(values) < 2.0**63))
    return values.astype(np.int64) if fits else np.array([int(value) for value in values], dtype=object)


def _brief(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return f"an array of shape {shape}" if shape is not None else repr(value)[:80]


def find_channel_rows(wanted: Any, known: Sequence[str], recording: str) -> np.ndarray:
    """Find the rows of the channels called `wanted`, and refuse unknown and repeated names."""
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        raise InputError(f"{recording}: channels must be a list of channel names, got {wanted!r}.")
    names = list(wanted)
    if not names:
        raise InputError(
            f"{recording}: no channels were requested. Leave the argument out to get all of them."
        )
    rows = {name: row for row, name in enumerate(known)}
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"{recording}: a channel is requested by its name, got {name!r}.")
        if name not in rows:
            raise _unknown_channel(name, known, recording)
        if name in seen:
            raise InputError(f'{recording}: channel "{name}" is requested twice. Request each channel once.')
        seen.add(name)
    return np.array([rows[name] for name in names], dtype=np.intp)


def _unknown_channel(name: str, known: Sequence[str], recording: str) -> UnknownName:
    folded = {other.lower(): other for other in known}
    close = [
        folded[match] for match in difflib.get_close_matches(name.lower(), list(folded), n=3, cutoff=0.5)
    ]
    if close:
        hint = f"Did you mean {' or '.join(chr(34) + match + chr(34) for match in close)}?"
    else:
        shown = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
        hint = f"Its {len(known)} channels are: {shown}"
    return UnknownName(f'{recording}: no channel "{name}". {hint}')
