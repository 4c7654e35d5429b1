"""Check truth and predictions before anything is scored.

Every refusal is an :class:`InputError` that names the table, the row (0-based, as in the file) and its id,
what was expected and what was found. No prediction that passes these checks can make the score of a unit
undefined.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from neuroarena.errors import InputError
from neuroarena.scoring.columns import (
    OUTCOME,
    Place,
    find_first,
    quote,
    read_class_column,
    read_id_column,
    read_name_column,
    read_number_column,
    read_text_column,
    read_vector_column,
    without_nul,
)
from neuroarena.scoring.manifest import Manifest
from neuroarena.scoring.metrics import METRICS

TRUTH_COLUMNS = ("id", "fold", "unit", "cluster", "target")
SUM_TOLERANCE = 1e-3
# Squares and sums of such numbers stay finite, so that no prediction can make an error infinite.
LARGEST_NUMBER = 1e100
# Squares of such numbers, summed over the longest vector, stay finite in single precision.
LARGEST_IN_A_VECTOR = 1e15
# What a column that is named after a physical quantity can hold; a manifest's `allowed_range` takes precedence.
# No recording lasts longer than a week.
POSSIBLE = {"seconds": (0.0, 604_800.0)}
# How pandas names the index of a table that was saved with it.
SAVED_INDEX = ("", "Unnamed: 0", "index", "level_0", "__index_level_0__")
MAX_TEXT_CHARACTERS = 2**20
MAX_METADATA_BYTES = 2**16


@dataclass(frozen=True)
class Truth:
    """A checked truth, sorted by unit, fold and id, and cut into the cells (unit, fold) that are scored.

    `starts` holds the first row of every cell, (cells,); `target` is as metrics take it, (n,) or (n, length).
    """

    ids: pa.LargeStringArray
    target: np.ndarray
    starts: np.ndarray
    unit: list[str]
    fold: list[str]
    cluster: list[str]

    @property
    def stops(self) -> np.ndarray:
        """One past the last row of every cell, (cells,)."""
        return np.append(self.starts[1:], len(self.ids))

    @property
    def folds(self) -> np.ndarray:
        """The fold of every row, numbered in the order of the folds' names; int64 (n,)."""
        numbers = np.unique(self.fold, return_inverse=True)[1]
        return np.repeat(numbers.astype(np.int64), self.stops - self.starts)


def check_truth(truth: pd.DataFrame, manifest: Manifest, source: str = "truth") -> None:
    """Refuse a truth table that cannot be scored against.

    Parameters
    ----------
    truth : DataFrame
        Columns id, fold, unit, cluster (text) and target. Classes may be text or whole numbers and are
        compared with ``manifest.classes`` as text. Other columns are left alone.
    manifest : Manifest
    source : str
        The name of the table in error messages.

    Raises
    ------
    InputError
        At the first thing that is wrong.
    """
    read_truth(truth, manifest, source)


def check_predictions(
    predictions: pd.DataFrame, truth: pd.DataFrame, manifest: Manifest, source: str = "predictions"
) -> None:
    """Refuse predictions that cannot be scored.

    Parameters
    ----------
    predictions : DataFrame
        Columns ``id`` and those of ``manifest.prediction_columns``, in any order, and no others.
    truth : DataFrame
        Only its ``id`` is needed (and ``target`` for the length of vectors, unless the manifest caps it), so
        that a participant without the answers gets the same verdict as the server.
    manifest : Manifest
    source : str
        The name of the table in error messages.

    Raises
    ------
    InputError
        At the first thing that is wrong.
    """
    _check_columns(truth, ("id",), "truth")
    length = manifest.caps.get("vector_length")
    if manifest.prediction == "vector" and length is None and "target" in truth.columns:
        place = Place("truth", read_id_column(truth, "truth"))
        length = read_vector_column(truth["target"], "target", None, place).shape[1]
    ids, _ = read_predictions_table(predictions, manifest, source, length)
    _match(ids, read_id_column(truth, "truth"), source)


def check_prediction_table(
    predictions: pd.DataFrame, manifest: Manifest, source: str = "predictions"
) -> None:
    """Refuse predictions that could not be scored against any truth: all checks but those against its ids."""
    read_predictions_table(predictions, manifest, source, manifest.caps.get("vector_length"))


def check_possible(predictions: pd.DataFrame, manifest: Manifest, source: str = "predictions") -> None:
    """Refuse numbers that the quantity cannot take: negative seconds, a million years.

    Raises
    ------
    InputError
        At the first row that holds one.
    """
    name = manifest.prediction_columns[0]
    bounds = manifest.allowed_range or POSSIBLE.get(name)
    if manifest.prediction != "number" or bounds is None:
        return
    place = Place(source, read_id_column(predictions, source))
    values = read_number_column(predictions[name], name, place)
    outside = (values < bounds[0]) | (values > bounds[1])
    row = find_first(outside)
    if row is not None:
        problem = f"{name} is {values[row]:.6g}; expected a number from {bounds[0]:g} to {bounds[1]:g}"
        raise place.refuse(problem, row, outside)


def check_metadata(metadata: bytes | str | None, manifest: Manifest, source: str) -> dict[str, Any]:
    """Check what a prediction file says about itself, and return it.

    Parameters
    ----------
    metadata : bytes or str or None
        JSON with ``track`` (the family), ``benchmark``, ``definition`` and ``manifest`` (the hash); each
        that is there must agree. None when the file says nothing.

    Raises
    ------
    InputError
        When it is too long, is not a JSON object, or names another task, definition or manifest.
    """
    if metadata is None:
        return {}
    if len(metadata) > MAX_METADATA_BYTES:
        problem = f"the file metadata take {len(metadata)} bytes; the limit is {MAX_METADATA_BYTES}"
        raise InputError(f"{source}: {problem}. {OUTCOME}")
    try:
        said = json.loads(metadata)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise InputError(f'{source}: the file metadata "neuroarena" is not a JSON object. {OUTCOME}')
    expected = {
        "track": manifest.name.partition("/")[0],
        "benchmark": manifest.name,
        "definition": manifest.definition,
        "manifest": manifest.hash,
    }
    for key, wanted in expected.items():
        if key in said and said[key] != wanted:
            problem = f'the file metadata names the {key} {quote(said[key])}, expected "{wanted}"'
            raise InputError(f"{source}: {problem}. {OUTCOME}")
    return said


def read_truth(truth: pd.DataFrame, manifest: Manifest, source: str = "truth") -> Truth:
    """Check a truth table and cut it into cells; see :func:`check_truth`."""
    _check_columns(truth, TRUTH_COLUMNS, source)
    ids = read_id_column(truth, source)
    place = Place(source, ids)
    fold = read_name_column(truth["fold"], "fold", place)
    unit = read_name_column(truth["unit"], "unit", place)
    cluster = read_name_column(truth["cluster"], "cluster", place, empty=manifest.cluster is None)
    target = _targets(truth["target"], manifest, place)
    by_id = pc.array_sort_indices(ids).to_numpy()
    unit_codes, fold_codes, cluster_codes = (_codes(each) for each in (unit, fold, cluster))
    # lexsort is stable, so that within a cell the rows stay in the order of their ids.
    order = by_id[np.lexsort((fold_codes[by_id], unit_codes[by_id]))]
    unit_codes, fold_codes, cluster_codes = unit_codes[order], fold_codes[order], cluster_codes[order]
    new_unit = np.append(True, unit_codes[1:] != unit_codes[:-1])
    split = find_first(~new_unit & np.append(False, cluster_codes[1:] != cluster_codes[:-1]))
    if split is not None:
        row, other = int(order[split]), int(order[split - 1])
        names = f"{quote(cluster[other].as_py())} in row {other} and {quote(cluster[row].as_py())} here"
        problem = f"unit {quote(unit[row].as_py())} has the cluster {names}; expected one cluster per unit"
        raise place.refuse(problem, row)
    starts = np.flatnonzero(new_unit | np.append(True, fold_codes[1:] != fold_codes[:-1]))
    heads = order[starts]
    cells = (each.take(heads).to_pylist() for each in (unit, fold, cluster))
    checked = Truth(ids.take(order), target[order], starts, *cells)
    _check_cells(checked, manifest, source)
    return checked


def read_predictions_table(
    predictions: pd.DataFrame, manifest: Manifest, source: str, length: int | None
) -> tuple[pa.LargeStringArray, np.ndarray]:
    """Check the rows of a prediction table, and return ids and predictions in the form metrics take."""
    wanted = ("id", *manifest.prediction_columns)
    _check_columns(predictions, wanted, source)
    check_column_names(list(predictions.columns), wanted, source, only=True)
    ids = read_id_column(predictions, source)
    place = Place(source, ids)
    if manifest.prediction == "probabilities":
        return ids, _probabilities(predictions, manifest, place)
    name = manifest.prediction_columns[0]
    column = predictions[name]
    if manifest.prediction == "label":
        return ids, read_class_column(column, name, manifest.classes, place)
    if manifest.prediction == "number":
        return ids, _moderate(read_number_column(column, name, place), name, place)
    if manifest.prediction == "vector":
        return ids, _short_enough(read_vector_column(column, name, length, place), name, place)
    most = manifest.caps.get("text_length", MAX_TEXT_CHARACTERS)
    return ids, _not_too_long(_read_texts(column, name, place), name, most, place)


def align_predictions(predictions: pd.DataFrame, truth: Truth, manifest: Manifest, source: str) -> np.ndarray:
    """Check predictions, and return them in the order of a checked truth."""
    length = manifest.caps.get("vector_length")
    if manifest.prediction == "vector" and length is None:
        length = truth.target.shape[1]
    ids, values = read_predictions_table(predictions, manifest, source, length)
    in_order: np.ndarray = values[_match(ids, truth.ids, source)]
    return in_order


def _check_columns(table: Any, wanted: tuple[str, ...], source: str) -> None:
    if not isinstance(table, pd.DataFrame):
        raise Place(source).refuse(f"expected a table (pandas DataFrame), got {type(table).__name__}")
    check_column_names(list(table.columns), wanted, source)
    if table.empty:
        raise Place(source).refuse("the table has no rows")


def check_column_names(names: list[Any], wanted: tuple[str, ...], source: str, only: bool = False) -> None:
    """Refuse a table in which a wanted column is missing, any occurs twice, or (with `only`) others occur."""
    place = Place(source)
    repeated = [name for position, name in enumerate(names) if name in names[:position]]
    if repeated:
        raise place.refuse(f"the column {quote(repeated[0])} occurs twice")
    missing = [name for name in wanted if name not in names]
    if missing:
        got = ", ".join(quote(name) for name in names[:12]) or "no columns"
        raise place.refuse(f'the column "{missing[0]}" is missing; expected {", ".join(wanted)}, got {got}')
    extra = [name for name in names if name not in wanted]
    if only and extra:
        index = extra[0] in SAVED_INDEX
        cure = "save the table with index=False" if index else "leave it out"
        raise place.refuse(
            f"the column {quote(extra[0])} is not expected; expected {', '.join(wanted)} only: {cure}, or write the "
            "file with neuroarena.write_submission"
        )


def _targets(column: pd.Series, manifest: Manifest, place: Place) -> np.ndarray:
    if manifest.classes:
        return read_class_column(column, "target", manifest.classes, place)
    if manifest.prediction == "number":
        return read_number_column(column, "target", place)
    if manifest.prediction == "vector":
        return read_vector_column(column, "target", manifest.caps.get("vector_length"), place)
    return _read_texts(column, "target", place)


def _read_texts(column: pd.Series, name: str, place: Place) -> np.ndarray:
    texts: np.ndarray = without_nul(read_text_column(column, name, place), name, place).to_numpy(
        zero_copy_only=False
    )
    return texts


def _moderate(values: np.ndarray, name: str, place: Place) -> np.ndarray:
    large = np.abs(values) > LARGEST_NUMBER
    row = find_first(large)
    if row is not None:
        problem = f"{name} is {values[row]:.6g}; expected a number up to {LARGEST_NUMBER:g}"
        raise place.refuse(problem, row, large)
    return values


def _short_enough(vectors: np.ndarray, name: str, place: Place) -> np.ndarray:
    large = (np.abs(vectors) > LARGEST_IN_A_VECTOR).any(axis=1)
    row = find_first(large)
    if row is not None:
        at = int(np.abs(vectors[row]).argmax())
        found, most = f"{vectors[row, at]:.6g} at position {at}", f"{LARGEST_IN_A_VECTOR:g}"
        problem = f"{name} holds {found}; expected numbers up to {most}"
        raise place.refuse(problem, row, large)
    return vectors


def _not_too_long(texts: np.ndarray, name: str, most: int, place: Place) -> np.ndarray:
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    long = lengths > most
    row = find_first(long)
    if row is not None:
        raise place.refuse(f"{name} has {lengths[row]} characters; the limit is {most}", row, long)
    return texts


def _probabilities(predictions: pd.DataFrame, manifest: Manifest, place: Place) -> np.ndarray:
    names = manifest.prediction_columns
    values = np.column_stack([read_number_column(predictions[name], name, place) for name in names])
    outside = (values < 0) | (values > 1)
    row = find_first(np.asarray(outside.any(axis=1)))
    if row is not None:
        at = int(outside[row].argmax())
        side = "below 0" if values[row, at] < 0 else "above 1"
        raise place.refuse(f"{names[at]} is {values[row, at]:.6g}, {side}; expected a probability", row)
    total = values.sum(axis=1)
    wrong = np.abs(total - 1) > SUM_TOLERANCE
    row = find_first(wrong)
    if row is not None:
        problem = f"the probabilities sum to {total[row]:.6g}, expected 1 (within {SUM_TOLERANCE:g})"
        raise place.refuse(problem, row, wrong)
    return values


def _match(ids: pa.LargeStringArray, wanted: pa.LargeStringArray, source: str) -> np.ndarray:
    """Return the row of `ids` that holds each wanted id, and refuse unknown and missing ones."""
    place = Place(source, ids)
    rows = pc.index_in(wanted, value_set=ids)
    # Ids are unique on both sides: as many as wanted, and none of them missing, leaves no room for any others.
    if rows.null_count or len(ids) != len(wanted):
        unknown = pc.is_null(pc.index_in(ids, value_set=wanted)).to_numpy(zero_copy_only=False)
        row = find_first(unknown)
        if row is not None:
            raise place.refuse("the id is unknown; expected ids of the truth only", row, unknown)
        absent = wanted.filter(pc.is_null(rows))
        named = ", ".join(quote(name) for name in sorted(absent.to_pylist())[:3])
        raise place.refuse(f"{len(absent)} of {len(wanted)} ids have no prediction, first {named}")
    matched: np.ndarray = rows.to_numpy(zero_copy_only=False)
    return matched


def _codes(values: pa.LargeStringArray) -> np.ndarray:
    """Number text by its place among the sorted distinct values, (n,)."""
    encoded = values.dictionary_encode()
    places = pc.rank(encoded.dictionary, tiebreaker="first").to_numpy()
    codes: np.ndarray = places[encoded.indices.to_numpy()]
    return codes


def _check_cells(truth: Truth, manifest: Manifest, source: str) -> None:
    """Refuse a truth for which one of the metrics is undefined, in a cell or as a whole."""
    for metric in map(METRICS.get, manifest.metrics):
        if metric.whole is not None and metric.whole.rule is not None:
            problem = metric.whole.rule(truth.target, truth.folds, manifest)
            if problem:
                raise Place(source).refuse(f"{problem} (metric {metric.name})")
        if metric.truth_rule is None:
            continue
        for cell, (start, stop) in enumerate(zip(truth.starts.tolist(), truth.stops.tolist(), strict=True)):
            problem = metric.truth_rule(truth.target[start:stop], manifest)
            if problem:
                where = f"unit {quote(truth.unit[cell])}, fold {quote(truth.fold[cell])}"
                raise Place(source).refuse(f"{where}: {problem} (metric {metric.name})")
