"""The cache: cells and features by content. It can be deleted at any time; results live elsewhere."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from neuroarena.sealed import SealedFolder

_NOTE = b"neuroarena"


def default_cache() -> Path:
    """Return the folder of the cache: ``NEUROARENA_CACHE``, else the user's cache folder."""
    named = os.environ.get("NEUROARENA_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "neuroarena"


class CellCache:
    """Predictions of finished cells, one sealed parquet table each, found by the cell's key."""

    def __init__(self, root: Path) -> None:
        self.folder = SealedFolder(root)

    def __contains__(self, key: str) -> bool:
        return _entry(key) in self.folder

    def write(self, key: str, predictions: Mapping[str, Any], note: dict[str, Any]) -> memoryview:
        """Store the columns of a cell's predictions with a note on how they were made; return what was stored."""
        columns = {name: _as_arrow(values) for name, values in predictions.items()}
        table = pa.table(columns, metadata={_NOTE: json.dumps(note, sort_keys=True).encode()})
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink)
        content = memoryview(sink.getvalue())
        self.folder.write(_entry(key), content)
        return content

    def read(self, key: str) -> tuple[pa.Table, dict[str, Any]] | None:
        """Return what :meth:`write` stored; None when there is nothing, or nothing that can be trusted.

        The table is Arrow's: a run turns all of its cells into one table of pandas, :func:`join_cells`.
        """
        content = self.folder.read(_entry(key))
        if content is None:
            return None
        # Cells are small and many: threads and the search for a dataset would cost more than the reading.
        table = pq.ParquetFile(pa.BufferReader(pa.py_buffer(content))).read(use_threads=False)
        note = json.loads((table.schema.metadata or {}).get(_NOTE, b"{}"))
        return table.replace_schema_metadata(None), note

    def forget(self, key: str) -> None:
        """Remove a cell."""
        self.folder.remove(_entry(key))


def join_cells(tables: Sequence[pa.Table]) -> pd.DataFrame:
    """Return the predictions of some cells of one run as one table, sorted by id."""
    joined: pd.DataFrame = pa.concat_tables(tables).to_pandas(use_threads=False)
    return joined.sort_values("id", ignore_index=True)


def _as_arrow(values: Any) -> pa.Array:
    """Return a column as an array of the type that pandas makes of it.

    Cells are small and many: pandas takes ten times as long for numbers and ids, which most of them consist of.
    """
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        return pa.array(values)
    if isinstance(values, np.ndarray) and values.dtype == object:
        return pa.array(values, pa.large_string())
    return pa.array(pd.Series(values), from_pandas=True)


def _entry(key: str) -> str:
    return f"cells/{key[:2]}/{key}.cell"
