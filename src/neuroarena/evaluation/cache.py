"""The cache: cells and features by content. It can be deleted at any time; results live elsewhere."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from neuroarena.atomic import replacing

_NOTE = b"neuroarena"


def default_cache() -> Path:
    """Return the folder of the cache: ``NEUROARENA_CACHE``, else the user's cache folder."""
    named = os.environ.get("NEUROARENA_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "neuroarena"


class CellCache:
    """Predictions of finished cells, one parquet file each, found by the cell's key."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, key: str) -> Path:
        """Return the file of a cell."""
        return self.root / "cells" / key[:2] / f"{key}.parquet"

    def __contains__(self, key: str) -> bool:
        return self.path(key).exists()

    def write(self, key: str, predictions: pd.DataFrame, note: dict[str, Any]) -> None:
        """Store the predictions of a cell with a note on how they were made."""
        table = pa.Table.from_pandas(predictions, preserve_index=False)
        table = table.replace_schema_metadata({_NOTE: json.dumps(note, sort_keys=True).encode()})
        with replacing(self.path(key)) as temporary:
            pq.write_table(table, temporary)

    def read_note(self, key: str) -> dict[str, Any]:
        """Return the note of a cell without reading its predictions."""
        metadata = pq.read_schema(self.path(key)).metadata or {}
        note: dict[str, Any] = json.loads(metadata.get(_NOTE, b"{}"))
        return note

    def read(self, key: str) -> tuple[pd.DataFrame, dict[str, Any]]:
        """Return what :meth:`write` stored."""
        table = pq.read_table(self.path(key))
        note = json.loads((table.schema.metadata or {}).get(_NOTE, b"{}"))
        return table.replace_schema_metadata(None).to_pandas(), note
