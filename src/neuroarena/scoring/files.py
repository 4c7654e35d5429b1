"""Prediction files: parquet, or CSV for what fits into it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from neuroarena.errors import InputError
from neuroarena.scoring.checks import (
    MAX_TEXT_CHARACTERS,
    check_column_names,
    check_metadata,
    read_predictions_table,
)
from neuroarena.scoring.columns import MAX_ID_BYTES, quote
from neuroarena.scoring.manifest import Manifest
from neuroarena.scoring.parquet import (
    BYTES_A_VALUE,
    READ_ERRORS,
    open_parquet,
    printable,
    read_rows,
    require_file,
    write_parquet,
)

MAX_CSV_BYTES = 2**30
MAX_VECTOR_LENGTH = 65_536
UTF8_BYTES = 4
ROW_SLACK_BYTES = 64
RESERVED_METADATA = ("schema_version", "track", "benchmark", "definition", "manifest")


def read_predictions(path: str | Path, manifest: Manifest, expected_rows: int | None = None) -> pd.DataFrame:
    """Read a prediction file.

    Parameters
    ----------
    path : str or Path
        ``.parquet`` or ``.csv`` (UTF-8, comma, a header line; vectors need parquet).
    manifest : Manifest
        Says which columns are expected. What the file's metadata says about itself must agree with it.
    expected_rows : int, optional
        Rows of the truth; a file that declares more than ten times as many is not read.

    Returns
    -------
    DataFrame
        For :func:`score` or :func:`check_predictions`, which check the values.

    Raises
    ------
    InputError
        When the file is missing, a folder, empty, cut short, damaged, of another format, absurdly large, made
        for another task, or lacks the columns.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (".parquet", ".csv"):
        raise InputError(f"{path.name}: expected a name that ends in .parquet or .csv. Nothing was read.")
    require_file(path)
    if suffix == ".csv":
        table = _read_csv(path, manifest)
        if expected_rows is not None and table.num_rows > 10 * expected_rows:
            problem = f"the file has {table.num_rows} rows, expected {expected_rows}"
            raise InputError(f"{path.name}: {problem}. Nothing was read.")
    else:
        table = _read_parquet(path, manifest, expected_rows)
    frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    return frame


def read_metadata(path: str | Path) -> bytes | None:
    """Read what a parquet file says about itself: the JSON under ``neuroarena``, or None."""
    with open_parquet(path) as (_, said):
        return said


def write_predictions(path: str | Path, table: pd.DataFrame, manifest: Manifest, **metadata: Any) -> None:
    """Write predictions as parquet, with the same bytes for the same table.

    Parameters
    ----------
    path : str or Path
        A name that ends in ``.parquet``.
    table : DataFrame
        Predictions; checked first. Rows keep their order. Numbers are kept as float64, vectors as float32
        where that loses nothing.
    manifest : Manifest
        Its name, definition and hash are written into the file.
    **metadata
        What else the file says: model, contact, declared external data. Plain JSON values.

    Raises
    ------
    InputError
        When the table is refused, or the metadata take a reserved name or have no JSON form.
    """
    path = Path(path)
    if path.suffix.lower() != ".parquet":
        raise InputError(f"{path.name}: predictions are written to a name that ends in .parquet.")
    taken = [key for key in RESERVED_METADATA if key in metadata]
    if taken:
        raise InputError(
            f'{path.name}: the metadata key "{taken[0]}" is set from the manifest. Leave it out.'
        )
    ids, values = read_predictions_table(table, manifest, path.name, manifest.caps.get("vector_length"))
    columns = {"id": ids.cast(pa.string()), **_arrow_columns(values, manifest)}
    said = {
        "schema_version": 1,
        "track": manifest.name.partition("/")[0],
        "benchmark": manifest.name,
        "definition": manifest.definition,
        "manifest": manifest.hash,
        **metadata,
    }
    try:
        write_parquet(path, pa.table(columns), said)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{path.name}: the metadata have no JSON form: {error}. Nothing was written."
        ) from error


def _arrow_columns(values: np.ndarray, manifest: Manifest) -> dict[str, pa.Array]:
    names = manifest.prediction_columns
    name = names[0]
    if manifest.prediction == "probabilities":
        return {name: pa.array(values[:, index]) for index, name in enumerate(names)}
    if manifest.prediction == "label":
        return {name: pa.array(manifest.classes).take(pa.array(values))}
    if manifest.prediction == "vector":
        with np.errstate(over="ignore"):
            short = values.astype(np.float32)
        flat = pa.array((short if (short == values).all() else values).ravel())
        offsets = np.arange(0, values.size + 1, values.shape[1])
        if values.size < 2**31:
            return {name: pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat)}
        return {name: pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), flat)}
    return {name: pa.array(values)}


def _read_parquet(path: Path, manifest: Manifest, expected_rows: int | None) -> pa.Table:
    with open_parquet(path) as (file, said):
        check_metadata(said, manifest, path.name)
        wanted = ("id", *manifest.prediction_columns)
        check_column_names(file.schema_arrow.names, wanted, path.name, only=True)
        for field in file.schema_arrow:
            _check_type(field, manifest, path.name)
        longest = manifest.caps.get("vector_length", MAX_VECTOR_LENGTH)
        return read_rows(file, path, expected_rows, longest, _widest(manifest, longest))


def _widest(manifest: Manifest, longest: int) -> dict[str, int]:
    """Return the most bytes a row of each column may take, including the stored lengths of text and lists."""
    text = UTF8_BYTES * manifest.caps.get("text_length", MAX_TEXT_CHARACTERS)
    bytes_of = {"vector": longest * BYTES_A_VALUE, "text": text, "label": MAX_ID_BYTES}
    prediction = bytes_of.get(manifest.prediction, MAX_ID_BYTES)
    columns = {"id": MAX_ID_BYTES, **dict.fromkeys(manifest.prediction_columns, prediction)}
    return {name: width + ROW_SLACK_BYTES for name, width in columns.items()}


def _check_type(field: pa.Field, manifest: Manifest, source: str) -> None:
    """Refuse a column whose type no prediction has; what is wrong for this task is reported by row, later."""
    kind, tests = field.type, pa.types
    vectors = manifest.prediction_columns[0] if manifest.prediction == "vector" else None
    if field.name == vectors and (tests.is_list(kind) or tests.is_large_list(kind)):
        kind = kind.value_type
    if tests.is_dictionary(kind):
        kind = kind.value_type
    plain = (
        tests.is_string(kind)
        or tests.is_large_string(kind)
        or tests.is_integer(kind)
        or tests.is_floating(kind)
        or tests.is_boolean(kind)
        or tests.is_null(kind)
    )
    if not plain:
        wanted = "a list of numbers" if field.name == vectors else "numbers or text"
        got = quote(str(field.type))
        raise InputError(
            f"{source}: the column {quote(field.name)} has the type {got}, expected {wanted}. Nothing was read."
        )


def _read_csv(path: Path, manifest: Manifest) -> pa.Table:
    if manifest.prediction == "vector":
        raise InputError(f"{path.name}: vectors do not fit into CSV; write .parquet. Nothing was read.")
    size = path.stat().st_size
    if size > MAX_CSV_BYTES:
        raise InputError(
            f"{path.name}: the CSV has {size} bytes; the limit is {MAX_CSV_BYTES}. Nothing was read."
        )
    wanted = ("id", *manifest.prediction_columns)
    try:
        # Everything is read as text and nothing as missing: "NA" and "001" stay as written.
        table = pacsv.read_csv(
            path,
            read_options=pacsv.ReadOptions(block_size=size + 1),
            parse_options=pacsv.ParseOptions(newlines_in_values=True),
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(wanted, pa.large_string()), strings_can_be_null=False
            ),
        )
    except READ_ERRORS as error:
        words = printable(str(error))
        raise InputError(f"{path.name}: cannot be read as CSV ({words}). Nothing was read.") from error
    check_column_names(table.schema.names, wanted, path.name, only=True)
    if manifest.prediction in ("probabilities", "number"):
        for name in manifest.prediction_columns:
            index = table.schema.get_field_index(name)
            table = table.set_column(index, name, _numbers_if_all_are(table.column(index)))
    return table


def _numbers_if_all_are(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Parse text as numbers; if any value is not a number, the text stays and the check names its row."""
    try:
        return pc.cast(column, pa.float64())
    except pa.ArrowInvalid:
        return column
