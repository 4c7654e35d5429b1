"""Parquet input and output: the same bytes for the same table, and no trust in submitted files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neuroarena.atomic import replacing
from neuroarena.errors import InputError
from neuroarena.fingerprint import canonical_json
from neuroarena.scoring.columns import quote
from neuroarena.scoring.parquet_pages import MAX_FOOTER_BYTES, Malformed, look_at_pages

METADATA_KEY = b"neuroarena"
MAGIC = b"PAR1"
# The largest prediction file foreseen, 160,000 embeddings of 1536 float32, takes 0.98 GB.
MAX_BYTES = 4 * 2**30
# Rows hold unique ids, which no encoding packs a thousand to the byte.
MAX_ROWS_A_BYTE = 1000
MAX_ROW_GROUPS = 4096
# No type a prediction may have takes more for one value (text is counted by the bytes of its pages).
BYTES_A_VALUE = 8
PAGE_SLACK_BYTES = 2**16
BATCH_ROWS = 2**14
READ_ERRORS = (pa.ArrowException, OSError, ValueError, MemoryError, OverflowError, KeyError)


def write_parquet(path: str | Path, table: pa.Table, said: Mapping[str, Any]) -> None:
    """Write a table completely or not at all; the same table and metadata give the same bytes.

    Parameters
    ----------
    path : str or Path
    table : pyarrow.Table
    said : mapping
        What the file says about itself, kept as canonical JSON under the key ``neuroarena``.
    """
    plain = table.replace_schema_metadata({METADATA_KEY: canonical_json(said).encode("utf-8")})
    with replacing(path) as temporary:
        pq.write_table(
            plain,
            temporary,
            version="2.6",
            compression="zstd",
            compression_level=3,
            row_group_size=2**17,
            data_page_version="1.0",
            write_page_checksum=True,
        )


@contextmanager
def open_parquet(path: str | Path) -> Iterator[tuple[pq.ParquetFile, bytes | None]]:
    """Open a parquet file without reading its rows, and yield it with its ``neuroarena`` metadata.

    Text stays encoded as a dictionary, so that a short file cannot unfold into a long column before
    :func:`decode_dictionaries` has looked at it. Damage found while the file is open becomes an :class:`InputError`.
    """
    path = Path(path)
    require_file(path)
    with open(path, "rb") as raw:
        head = raw.read(len(MAGIC))
        raw.seek(-min(len(MAGIC), path.stat().st_size), 2)
        tail = raw.read(len(MAGIC))
        raw.seek(-min(2 * len(MAGIC), path.stat().st_size), 2)
        footer = int.from_bytes(raw.read(len(MAGIC)), "little")
    if head != MAGIC:
        raise InputError(f"{path.name}: this is not a parquet file. Nothing was read.")
    if tail != MAGIC:
        raise InputError(
            f"{path.name}: the parquet file is cut short; write or copy it again. Nothing was read."
        )
    if footer > MAX_FOOTER_BYTES:
        problem = f"the footer takes {footer} bytes; the limit is {MAX_FOOTER_BYTES}"
        raise InputError(f"{path.name}: {problem}. Nothing was read.")
    try:
        texts = [field.name for field in pq.read_schema(path) if _is_text(field.type)]
        with pq.ParquetFile(path, read_dictionary=texts, page_checksum_verification=True) as file:
            yield file, (file.metadata.metadata or {}).get(METADATA_KEY)
    except READ_ERRORS as error:
        words = printable(str(error))
        raise InputError(f"{path.name}: the parquet file is damaged ({words}). Nothing was read.") from error


def printable(message: str) -> str:
    """Put a library's message on one line, without control characters from the file."""
    return " ".join("".join(each if each.isprintable() else " " for each in message).split())[:200]


def require_file(path: Path) -> None:
    """Refuse a path that is not a file, and an empty file."""
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; expected a file. Nothing was read.")
    if not path.is_file():
        raise InputError(f"{path}: there is no such file. Nothing was read.")
    if path.stat().st_size == 0:
        raise InputError(f"{path.name}: the file is empty. Nothing was read.")


def read_rows(
    file: pq.ParquetFile,
    path: Path,
    expected_rows: int | None,
    longest: int = 1,
    widest: Mapping[str, int] | None = None,
) -> pa.Table:
    """Read the rows of an open file, unless it declares absurd sizes or turns out to have them.

    The footer's sizes of single columns are not looked at: pyarrow aborts the process, without an exception,
    where they are damaged (seen with 26.0.1: "histogram size mismatch"). The headers of the pages are looked
    at, and batches are weighed.

    Parameters
    ----------
    expected_rows : int or None
        Rows of the truth: more than ten times as many are refused.
    longest : int
        The most numbers a list may hold.
    widest : mapping of str to int, optional
        Column -> the most bytes that its pages may unfold to for each row.

    Raises
    ------
    InputError
        Before more than a batch beyond the limits is in memory.
    """
    _check_declared_rows(file.metadata, path, expected_rows)
    _check_pages(file, path, longest, widest or {})
    batches, weight = [], 0
    for batch in file.iter_batches(batch_size=BATCH_ROWS):
        weight += batch.nbytes
        if weight > MAX_BYTES:
            raise InputError(
                f"{path.name}: the file unfolds to more than {MAX_BYTES} bytes, the limit. Nothing was read."
            )
        for column in batch.columns:
            most = pc.max(pc.list_value_length(column)).as_py() if _is_list(column.type) else None
            if most is not None and most > longest:
                problem = f"a list holds {most} numbers; the limit is {longest}"
                raise InputError(f"{path.name}: {problem}. Nothing was read.")
        batches.append(batch)
    return decode_dictionaries(pa.Table.from_batches(batches, file.schema_arrow), path.name)


def _check_declared_rows(metadata: pq.FileMetaData, path: Path, expected_rows: int | None) -> None:
    rows, size = metadata.num_rows, path.stat().st_size
    limit = size * MAX_ROWS_A_BYTE if expected_rows is None else 10 * expected_rows
    if rows > limit:
        expected = "more than it can hold" if expected_rows is None else f"expected {expected_rows}"
        raise InputError(f"{path.name}: the file declares {rows} rows, {expected}. Nothing was read.")
    if metadata.num_row_groups > MAX_ROW_GROUPS:
        problem = f"the file has {metadata.num_row_groups} row groups; the limit is {MAX_ROW_GROUPS}"
        raise InputError(f"{path.name}: {problem}. Nothing was read.")
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    counts = [group.num_rows for group in groups]
    if min([rows, *counts]) < 0 or sum(counts) != rows:
        raise InputError(f"{path.name}: the row groups do not add up to {rows} rows. Nothing was read.")
    unfolded = sum(group.total_byte_size for group in groups)
    if unfolded > MAX_BYTES:
        raise InputError(
            f"{path.name}: the file declares {unfolded} bytes; the limit is {MAX_BYTES}. Nothing was read."
        )


def _check_pages(file: pq.ParquetFile, path: Path, longest: int, widest: Mapping[str, int]) -> None:
    """Refuse a file whose pages would unfold to more values than its rows can hold, or to too many bytes."""
    try:
        columns = look_at_pages(path)
    except Malformed as error:
        raise InputError(f"{path.name}: the parquet file is damaged ({error}). Nothing was read.") from error
    rows, unfolded = file.metadata.num_rows, 0
    lists = {field.name for field in file.schema_arrow if _is_list(field.type)}
    for column in columns:
        most = rows * max(1, longest) if column.name in lists else rows
        if column.values > most:
            problem = f"the column {quote(column.name)} holds {column.values} values in {rows} rows"
            raise InputError(f"{path.name}: {problem}; the limit is {most}. Nothing was read.")
        bytes_ = PAGE_SLACK_BYTES + rows * widest.get(column.name, MAX_BYTES)
        if column.unfolded_bytes > bytes_:
            problem = (
                f"the column {quote(column.name)} unfolds to {column.unfolded_bytes} bytes in {rows} rows"
            )
            raise InputError(f"{path.name}: {problem}; the limit is {bytes_}. Nothing was read.")
        unfolded += column.unfolded_bytes + BYTES_A_VALUE * column.values
    if unfolded > MAX_BYTES:
        problem = f"the pages unfold to {unfolded} bytes; the limit is {MAX_BYTES}"
        raise InputError(f"{path.name}: {problem}. Nothing was read.")


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def decode_dictionaries(table: pa.Table, source: str) -> pa.Table:
    """Turn dictionary columns into plain ones, unless that would take absurdly much memory."""
    total = 0
    for index, field in enumerate(table.schema):
        if not pa.types.is_dictionary(field.type):
            continue
        column = table.column(index)
        if _is_text(field.type.value_type):
            total += sum(_text_bytes(chunk) for chunk in column.chunks)
            if total > MAX_BYTES:
                raise InputError(
                    f"{source}: the text unfolds to more than {MAX_BYTES} bytes. Nothing was read."
                )
        table = table.set_column(index, field.name, column.cast(_plain_type(field.type.value_type)))
    for field in table.schema:
        if _is_text(field.type):
            _check_text(table.column(field.name), field.name, source)
    return table


def _check_text(column: pa.ChunkedArray, name: str, source: str) -> None:
    """Refuse text that is not UTF-8; pyarrow does not check it."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        for row, value in enumerate(column.cast(pa.large_binary())):
            try:
                (value.as_py() or b"").decode("utf-8")
            except UnicodeDecodeError:
                where = f"{source}: row {row}"
                raise InputError(
                    f"{where}: {quote(name)} holds bytes that are not UTF-8. Nothing was read."
                ) from None
        raise


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return pa.large_string() if _is_text(kind) else kind


def _text_bytes(chunk: pa.DictionaryArray) -> int:
    lengths = pc.cast(pc.binary_length(chunk.dictionary), pa.int64())
    return pc.sum(lengths.take(chunk.indices)).as_py() or 0
