"""Write the files of the twin: netCDF assemblies, tables of stimuli and flat zips of their pictures.

Nothing here is shared with the readers, which use xarray; these files are written through h5netcdf's own interface.
"""

from __future__ import annotations

import csv
import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.errors import MissingDependency

Coordinates = Mapping[str, tuple[str, Sequence[Any] | np.ndarray]]
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)


def write_assembly(
    folder: Path,
    identifier: str,
    values: np.ndarray,
    dims: Sequence[str],
    coordinates: Coordinates,
    attributes: Mapping[str, Any],
) -> Path:
    """Write one data variable with flat coordinates as ``assy_<identifier>.nc``.

    Parameters
    ----------
    folder : Path
    identifier : str
        Dots become underscores in the name of the file.
    values : ndarray
        One axis per dim.
    dims : sequence of str
    coordinates : mapping of str to (dim, values)
        Texts or numbers.
    attributes : mapping
        Texts, numbers and arrays of numbers.
    """
    try:
        import h5netcdf
    except ImportError:
        raise MissingDependency("h5netcdf", "vision", "Simulating Brain-Score assemblies") from None
    path = folder / f"assy_{identifier.replace('.', '_')}.nc"
    with h5netcdf.File(path, "w") as file:
        file.dimensions = dict(zip(dims, values.shape, strict=True))
        names = " ".join(coordinates)
        made = file.create_variable(
            "data", tuple(dims), values.dtype, data=values, compression="gzip", compression_opts=4
        )
        made.attrs["coordinates"] = names
        for key, value in {**attributes, "identifier": identifier}.items():
            made.attrs[key] = value
        for name, (dim, each) in coordinates.items():
            _write_coordinate(file, name, dim, np.asarray(each))
    return path


def _write_coordinate(file: Any, name: str, dim: str, values: np.ndarray) -> None:
    import h5py

    if values.dtype.kind in "UO":
        text = np.array([str(value) for value in values], dtype=object)
        file.create_variable(name, (dim,), h5py.string_dtype(), data=text)
    else:
        file.create_variable(name, (dim,), values.dtype, data=values)


def write_stimuli(
    folder: Path, identifier: str, rows: Sequence[Mapping[str, Any]], pictures: Sequence[bytes]
) -> None:
    """Write ``stimulus_<identifier>.csv`` and its flat zip; each row names its file in ``filename``."""
    base = folder / f"stimulus_{identifier.replace('.', '_')}"
    with zipfile.ZipFile(f"{base}.zip", "w", zipfile.ZIP_STORED) as archive:
        for row, picture in zip(rows, pictures, strict=True):
            archive.writestr(zipfile.ZipInfo(str(row["filename"]), _ZIP_DATE), picture)
    text = io.StringIO()
    table = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    Path(f"{base}.csv").write_text(text.getvalue(), encoding="utf-8")


def png(pixels: np.ndarray) -> bytes:
    """Return pixels (height, width, 3) as the bytes of a PNG file."""
    from PIL import Image

    written = io.BytesIO()
    Image.fromarray(pixels).save(written, format="PNG")
    return written.getvalue()


def sha1(content: bytes) -> str:
    """Return the SHA-1 of a file, which the published stimulus sets use as id."""
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()
