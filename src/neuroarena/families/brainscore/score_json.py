"""Scores as JSON: numbers, labelled arrays and Scores inside Scores; NaN is null, infinity is named."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from neuroarena.errors import InputError
from neuroarena.families.brainscore.brain_score import Score

SCHEMA_VERSION = 1
INFINITIES = ("inf", "-inf")


def write_score(score: Score) -> str:
    """Return a Score as JSON text."""
    return json.dumps(score_to_plain(score), allow_nan=False, ensure_ascii=False)


def read_score(text: str) -> Score:
    """Read the JSON text of a Score."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"The text is not JSON, expected a Score: {error}.") from error
    return score_from_plain(plain)


def score_to_plain(score: Score) -> dict[str, Any]:
    """Return a Score as JSON data."""
    attrs = {str(key): _to_plain(value, str(key)) for key, value in score.attrs.items()}
    return {"schema_version": SCHEMA_VERSION, "kind": "score", "value": _finite(score.value), "attrs": attrs}


def score_from_plain(plain: Mapping[str, Any]) -> Score:
    """Make a Score from JSON data.

    Raises
    ------
    InputError
        When it is not a Score, or has another schema version.
    """
    if not isinstance(plain, Mapping) or plain.get("kind") != "score":
        raise InputError('The JSON does not hold a Score: expected an object with "kind": "score".')
    if plain.get("schema_version") != SCHEMA_VERSION:
        raise InputError(
            f"The Score has schema version {plain.get('schema_version')}, expected {SCHEMA_VERSION}."
        )
    value, attrs = _from_plain(plain.get("value")), plain.get("attrs")
    if not isinstance(value, int | float | None) or not isinstance(attrs, Mapping):
        raise InputError('The JSON of the Score has no number "value" or no object "attrs".')
    number = math.nan if value is None else float(value)
    return Score(number, attrs={key: _from_plain(each) for key, each in attrs.items()})


def _to_plain(value: Any, where: str) -> Any:
    if isinstance(value, Score):
        return score_to_plain(value)
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float | np.floating):
        return _finite(float(value))
    if isinstance(value, np.generic):
        return _to_plain(value.item(), where)
    if isinstance(value, Mapping):
        return {str(key): _to_plain(each, f"{where}.{key}") for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_to_plain(each, where) for each in value]
    if isinstance(value, np.ndarray):
        if value.ndim == 0:
            return _to_plain(value.item(), where)
        return [_to_plain(each, where) for each in value.tolist()]
    if hasattr(value, "dims") and hasattr(value, "coords"):
        return _array_to_plain(value, where)
    raise InputError(
        f'The attribute "{where}" of the Score is a {type(value).__name__}, which has no JSON form. '
        "Keep numbers, text, lists, mappings, arrays or Scores in attrs."
    )


def _array_to_plain(array: Any, where: str) -> dict[str, Any]:
    coords = {
        str(name): {
            "dims": list(coord.dims),
            "values": _to_plain(coord.values, where),
            "dtype": coord.dtype.kind,
        }
        for name, coord in array.coords.items()
    }
    return {
        "kind": "array",
        "dims": list(array.dims),
        "shape": list(array.shape),
        "values": _to_plain(array.values.ravel(), where),
        "coords": coords,
    }


def _from_plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_plain(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    if value.get("kind") == "score":
        return score_from_plain(value)
    if value.get("kind") == "number":
        if value.get("value") not in INFINITIES:
            raise InputError(
                f"The JSON of the Score holds the number {value.get('value')!r}, expected inf or -inf."
            )
        return float(value["value"])
    if value.get("kind") == "array":
        return _array_from_plain(value)
    return {key: _from_plain(each) for key, each in value.items()}


def _array_from_plain(plain: Mapping[str, Any]) -> Any:
    import xarray as xr

    try:
        values = np.array(_from_plain(plain["values"]), dtype=np.float64).reshape(plain["shape"])
        coords = {
            name: (
                coord["dims"],
                np.array(_from_plain(coord["values"]), dtype=float if coord["dtype"] == "f" else None),
            )
            if coord["dims"]
            else _from_plain(coord["values"])
            for name, coord in plain["coords"].items()
        }
        return xr.DataArray(values, dims=plain["dims"], coords=coords)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"The JSON of the Score holds a damaged array: {error}.") from error


def _finite(value: float) -> float | dict[str, str] | None:
    """Return a number as JSON can hold it: null for NaN, and an object for infinity, which JSON cannot write."""
    if math.isinf(value):
        return {"kind": "number", "value": str(value)}
    return None if math.isnan(value) else value
