"""The grid: AUROC by task, session, electrode and time bin, with its null; and the one file that holds it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from neuroarena.atomic import building
from neuroarena.errors import InputError, MissingDependency

SCHEMA_VERSION = 1
GRID_FILE = "grid.nc"
CELL = ("task", "session", "electrode", "bin")
VARIABLES: dict[str, tuple[str, ...]] = {
    "auroc": CELL,
    "fold_auroc": (*CELL, "fold"),
    "null_mean": CELL,
    "null_sd": CELL,
    "null_q95": CELL,
    "p_max": CELL,
    "p_fdr": ("task", "session", "electrode"),
    "p_cluster": CELL,
    "null_max": ("task", "session", "draw"),
    "n_test": ("task", "session"),
    "label_tau": ("task", "session"),
}
ELECTRODE_COLUMNS = ("name", "subject", "x", "y", "z", "space")
BIN_COLUMNS = ("start_s", "centre_s", "end_s")
# Draws of the null are kept as whole numbers of this many steps between 0 and 1: exact to 8e-6.
_STEPS = 65535


@dataclass(frozen=True)
class MapGrid:
    """When and where: the AUROC of every electrode and time bin, and what its null says.

    Parameters
    ----------
    data : xarray.Dataset
        Variables of :data:`VARIABLES`. Dimensions: `task`, `session`, `electrode` (ids such as ``3/T1``), `bin`,
        `fold`, `draw`. Cells without a value are NaN: an electrode belongs to the sessions of its own subject, and not
        every session has every task. Coordinates: `session_subject` on sessions; the columns of
        :data:`ELECTRODE_COLUMNS` and any number of ``region...`` columns on electrodes; :data:`BIN_COLUMNS` in seconds
        from the event on bins. ``p_fdr`` has no bins: it is about an electrode. Where the truth was planted, also
        ``planted`` (task, electrode) and ``planted_peak_s`` (task,).
    nulls : mapping of (task, session) to array (draws, folds, electrodes, bins)
        AUROC of each draw; electrodes are those of the session, in the order of the grid. Read only when asked for.

    Examples
    --------
    >>> from neuroarena.maps import simulate_grid
    >>> grid = simulate_grid(0)
    >>> grid.tasks, grid.simulated, grid.data["auroc"].dims
    (('sound', 'word', 'face', 'nothing'), True, ('task', 'session', 'electrode', 'bin'))
    """

    data: xr.Dataset
    nulls: Mapping[tuple[str, str], np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, dims in VARIABLES.items():
            if name not in self.data or self.data[name].dims != dims:
                found = self.data[name].dims if name in self.data else "nothing"
                raise InputError(f"A map needs {name} with the dimensions {dims}, found {found}.")
        lacking = [
            name
            for name in ("task", "session", "electrode", "session_subject", *ELECTRODE_COLUMNS, *BIN_COLUMNS)
            if name not in self.data.coords
        ]
        if lacking:
            raise InputError(f"A map lacks the coordinates {', '.join(lacking)}.")

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in their order."""
        return tuple(map(str, self.data["task"].values))

    @property
    def sessions(self) -> tuple[str, ...]:
        """The sessions, in their order."""
        return tuple(map(str, self.data["session"].values))

    @property
    def electrodes(self) -> pd.DataFrame:
        """One row per electrode: its id as index, name, subject, x, y, z, space, and columns of regions."""
        columns = [*ELECTRODE_COLUMNS, *self.region_columns]
        table = {column: self.data.coords[column].values for column in columns}
        return pd.DataFrame(table, index=pd.Index(self.data["electrode"].values, name="electrode"))

    @property
    def region_columns(self) -> tuple[str, ...]:
        """Names of the electrode columns that hold regions, such as ``region`` or ``region_dk``."""
        on_electrodes = [name for name, each in self.data.coords.items() if each.dims == ("electrode",)]
        return tuple(sorted(str(name) for name in on_electrodes if str(name).startswith("region")))

    @property
    def bins(self) -> pd.DataFrame:
        """One row per time bin: start, centre and end of its window in seconds from the event."""
        return pd.DataFrame({column: self.data.coords[column].values for column in BIN_COLUMNS})

    @property
    def simulated(self) -> bool:
        """Whether the data are simulated; shown wherever the map is shown."""
        return bool(self.data.attrs.get("simulated", 0))

    @property
    def split(self) -> str:
        """Name of the split."""
        return str(self.data.attrs.get("split", ""))

    @property
    def permutations(self) -> int:
        """Draws of the null; 0 for a map without one, whose p values are NaN."""
        return int(self.data.sizes["draw"])

    @property
    def provenance(self) -> dict[str, Any]:
        """What the map was made of: benchmark, split hash, features, window, seed, versions."""
        told: dict[str, Any] = json.loads(self.data.attrs.get("provenance", "{}"))
        return told

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences a reader must see beside the map, such as labels that are too slow for the null."""
        return tuple(json.loads(self.data.attrs.get("notes", "[]")))

    def electrodes_of(self, session: str) -> np.ndarray:
        """Return the places of a session's electrodes on the axis of electrodes."""
        subject = self.data["session_subject"].sel(session=session).item()
        return np.flatnonzero(self.data["subject"].values == subject)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Iterate over (task, session) for which there is a map."""
        known = np.isfinite(self.data["auroc"].values).any(axis=(2, 3))
        for row, task in enumerate(self.tasks):
            for column, session in enumerate(self.sessions):
                if known[row, column]:
                    yield task, session

    def null(self, task: str, session: str) -> np.ndarray:
        """Return the draws of the null of one map: array (draws, folds, electrodes of the session, bins).

        It is NaN for electrodes of the subject that this session lacks, as the map itself is.

        Raises
        ------
        InputError
            When the map has none.
        """
        if (task, session) not in self.nulls:
            raise InputError(
                f"The map has no null of {task} in session {session}. Compute it with --null 1000."
            )
        draws = np.array(self.nulls[task, session], dtype=np.float32)
        observed = self.data["auroc"].sel(task=task, session=session).values[self.electrodes_of(session)]
        # The file holds whole numbers, which cannot say that there is nothing.
        draws[:, :, np.isnan(observed).all(axis=1)] = np.nan
        return draws


def write_grid(grid: MapGrid, path: str | Path) -> Path:
    """Write a grid as one netCDF-4 file, whole or not at all.

    Parameters
    ----------
    grid : MapGrid
    path : path
        A file that ends in .nc, or a folder, in which it is called ``grid.nc``.

    Returns
    -------
    Path
        The file.
    """
    path = _grid_path(path)
    data = grid.data.copy()
    data.attrs = {**data.attrs, "schema_version": SCHEMA_VERSION}
    packed = {
        str(name): {"zlib": True, "complevel": 4} for name in data.data_vars if data[name].dtype.kind == "f"
    }
    with building(path) as workshop:
        # In a folder that is ours: HDF5 locks what it writes, and would refuse a file that is locked already.
        made = workshop / path.name
        data.to_netcdf(made, engine="h5netcdf", encoding=packed)
        for row, task in enumerate(grid.tasks):
            for column, session in enumerate(grid.sessions):
                if (task, session) in grid.nulls:
                    _pack(grid.null(task, session)).to_netcdf(
                        made, mode="a", group=_group(row, column), engine="h5netcdf"
                    )
        with made.open("rb") as written:
            os.fsync(written.fileno())
        os.replace(made, path)
    return path


def read_grid(path: str | Path) -> MapGrid:
    """Read a grid; draws of the null stay in the file until they are asked for.

    Raises
    ------
    InputError
        When the file is missing, is not a map, or was written by a newer version.
    """
    path = _grid_path(path)
    if not path.is_file():
        raise InputError(
            f"{path}: there is no such map. Compute one with: neuroarena map BENCHMARK --out DIR"
        )
    try:
        with xr.open_dataset(path, engine="h5netcdf") as opened:
            data = opened.load()
    except ModuleNotFoundError:
        raise MissingDependency("h5netcdf", "brain", "A map") from None
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise InputError(f"{path}: cannot be read as a map: {error}.") from error
    version = data.attrs.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InputError(
            f"{path}: a map of version {version}, expected {SCHEMA_VERSION}. Compute it again with this version."
        )
    texts = {name: each.astype(object) for name, each in data.coords.items() if each.dtype.kind in "OUT"}
    data = data.assign_coords(texts)
    try:
        bare = MapGrid(data)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return MapGrid(data, _StoredNulls(path, bare.tasks, bare.sessions))


class _StoredNulls(Mapping[tuple[str, str], np.ndarray]):
    """The draws of a grid's null, read from its file one (task, session) at a time."""

    def __init__(self, path: Path, tasks: tuple[str, ...], sessions: tuple[str, ...]) -> None:
        import h5py

        self._path = path
        with h5py.File(path, "r") as file:
            self._groups = {
                (task, session): _group(row, column)
                for row, task in enumerate(tasks)
                for column, session in enumerate(sessions)
                if _group(row, column) in file
            }

    def __getitem__(self, key: tuple[str, str]) -> np.ndarray:
        with xr.open_dataset(self._path, group=self._groups[key], engine="h5netcdf") as opened:
            steps: np.ndarray = opened["steps"].values
        return steps.astype(np.float32) / _STEPS

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)


def _grid_path(path: str | Path) -> Path:
    path = Path(path)
    return path if path.suffix == ".nc" else path / GRID_FILE


def _group(task: int, session: int) -> str:
    # By their places: a name may hold characters that a group cannot.
    return f"null/task{task}/session{session}"


def _pack(draws: np.ndarray) -> xr.Dataset:
    steps = np.rint(np.clip(np.nan_to_num(draws), 0.0, 1.0) * _STEPS).astype(np.uint16)
    return xr.Dataset({"steps": (("draw", "fold", "electrode_of_session", "bin"), steps)})
