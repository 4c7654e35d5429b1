"""Assemblies on disk: netCDF-4 files with one variable and flat coordinates."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from neuroarena.atomic import building
from neuroarena.errors import MissingDependency
from neuroarena.families.brainscore.assemblies import (
    NeuralAssembly,
    PropertyAssembly,
    flat,
    join_stimuli,
)
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError, named
from neuroarena.families.brainscore.stimuli import StimulusSet

VARIABLE = "data"
# What xarray calls an array that was written without a name.
ANONYMOUS = "__xarray_dataarray_variable__"
OTHER_DIMS = {
    "event": "These are times of single spikes: count them in time bins first.",
    "choice": "These are choices or probabilities of a behaviour, which neural benchmarks do not read.",
    "stimulus_path": "These are activations of a model, not recordings: use PrecomputedFeatures.",
}


def file_identifier(identifier: str) -> str:
    """Return an identifier as file names hold it: dots are underscores.

    Examples
    --------
    >>> file_identifier("dicarlo.MajajHong2015.public")
    'dicarlo_MajajHong2015_public'
    """
    if not identifier or any(character in identifier for character in "/\\:\0"):
        raise ConfigError(f'The identifier "{identifier}" cannot be part of a file name.')
    return identifier.replace(".", "_")


def check_sha1(path: str | Path, sha1: str | None) -> Path:
    """Check that a file exists and, where a SHA-1 is given, that its content matches.

    Raises
    ------
    ConfigError
        When the file does not exist.
    DataQualityError
        When its content has another hash.
    """
    path = Path(path)
    if not path.is_file():
        raise ConfigError(f"{path}: this file does not exist.")
    if sha1 is not None:
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, "sha1").hexdigest()
        if found != sha1.lower():
            raise DataQualityError(f"{path}: the SHA-1 is {found}, expected {sha1}. Download the file again.")
    return path


def read_assembly(
    path: str | Path, stimulus_set: StimulusSet | None = None, sha1: str | None = None
) -> xr.DataArray:
    """Read an assembly from a netCDF file.

    Parameters
    ----------
    path : str or Path
        Holds one data variable of any name, and flat coordinates. Groups beside it are ignored.
    stimulus_set : StimulusSet, optional
        Its columns are joined to the presentations by stimulus id; the file's own columns take precedence.
    sha1 : str, optional
        Checked before the file is opened.

    Returns
    -------
    DataArray
        Checked: presentation x neuroid [x time_bin], or neuroid x neuronal_property.

    Raises
    ------
    ConfigError, DataQualityError, AlignmentError
        Naming the file and what is wrong with it.
    """
    _check_library()
    path = check_sha1(path, sha1)
    try:
        with xr.open_dataset(path, engine="h5netcdf") as opened:
            names = list(opened.data_vars)
            if len(names) != 1:
                raise ConfigError(
                    f"{path}: holds {len(names)} data variables ({named(names)}), expected exactly one."
                )
            array = opened[names[0]].load()
            array.attrs = {**opened.attrs, **array.attrs}
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise ConfigError(f"{path}: cannot be read as netCDF-4: {error}.") from error
    named_well = array.name not in (VARIABLE, ANONYMOUS)
    array.attrs.setdefault("identifier", array.name if named_well else path.stem.removeprefix("assy_"))
    try:
        if "neuronal_property" in array.dims:
            checked = PropertyAssembly(array).array
            if stimulus_set is not None:
                checked.attrs["stimulus_set"] = stimulus_set
            return checked
        checked = NeuralAssembly(_name_neuroids(array)).array
        # Tables of stimuli hold ids as text; a file that holds them as numbers must not fail to match.
        ids = [str(each) for each in checked["stimulus_id"].values]
        checked = checked.assign_coords(stimulus_id=("presentation", np.array(ids, dtype=object)))
        return checked if stimulus_set is None else join_stimuli(checked, stimulus_set)
    except (ConfigError, DataQualityError) as error:
        raise type(error)(f"{path}: {error}{_explain_dims(array)}") from error


def _name_neuroids(array: xr.DataArray) -> xr.DataArray:
    """Read the decoders of a population as its neuroids: solution times are given for each decoder."""
    if set(array.dims) != {"presentation", "decoder"}:
        return array
    decoders = array["decoder"].values if "decoder" in array.coords else np.arange(array.sizes["decoder"])
    renamed = array.drop_vars("decoder", errors="ignore").rename(decoder="neuroid")
    return renamed.assign_coords(
        neuroid_id=("neuroid", decoders), decoder=("neuroid", [str(each) for each in decoders])
    )


def _explain_dims(array: xr.DataArray) -> str:
    """Describe what a file with other dims holds, where its dims tell."""
    found = [meaning for dim, meaning in OTHER_DIMS.items() if dim in array.dims]
    return f" {found[0]}" if found else ""


def write_assembly(assembly: Any, folder: str | Path, identifier: str | None = None) -> Path:
    """Write an assembly as ``assy_<identifier>.nc``, whole or not at all.

    Attributes that netCDF cannot hold (the stimulus set itself) are left out; missing texts become "".

    Parameters
    ----------
    assembly : DataArray, NeuralAssembly or PropertyAssembly
    folder : str or Path
    identifier : str, optional
        Without it, ``attrs["identifier"]``.

    Returns
    -------
    Path
    """
    array = flat(assembly)
    name = identifier or array.attrs.get("identifier")
    if not isinstance(name, str):
        raise ConfigError(
            "An assembly needs an identifier to be written under: pass one, or set it in attrs."
        )
    checked = (PropertyAssembly if "neuronal_property" in array.dims else NeuralAssembly)(array).array
    checked = checked.copy(deep=False)
    checked.attrs = {**_plain_attributes(checked.attrs), "identifier": name}
    # An identifier found in the stimulus set is worth keeping: the set itself lives in files of its own.
    stimuli = array.attrs.get("stimulus_set")
    if isinstance(stimuli, StimulusSet) and stimuli.identifier is not None:
        checked.attrs["stimulus_set_identifier"] = stimuli.identifier
    for key, coord in list(checked.coords.items()):
        if coord.dtype == object or pd.api.types.is_string_dtype(coord.dtype):
            checked = checked.assign_coords({key: (coord.dims, _texts(coord.values))})
    _check_library()
    path = Path(folder) / f"assy_{file_identifier(name)}.nc"
    with building(path) as workshop:
        # In a folder that is ours: HDF5 locks what it writes, and would refuse a file that is locked already.
        made = workshop / path.name
        checked.rename(VARIABLE).to_dataset().to_netcdf(
            made, engine="h5netcdf", encoding={VARIABLE: {"zlib": True, "complevel": 9}}
        )
        with made.open("rb") as written:
            os.fsync(written.fileno())
        os.replace(made, path)
    return path


def _check_library() -> None:
    if importlib.util.find_spec("h5netcdf") is None:
        raise MissingDependency("h5netcdf", "vision", "An assembly in a netCDF file")


def _texts(values: np.ndarray) -> np.ndarray:
    return np.array(["" if pd.isna(each) else str(each) for each in values.ravel()], dtype=object).reshape(
        values.shape
    )


def _plain_attributes(attrs: dict[Any, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in attrs.items():
        numeric = isinstance(value, np.ndarray | list | tuple) and np.asarray(value).dtype.kind in "iuf"
        if numeric:
            kept[str(key)] = np.asarray(value)
        elif isinstance(value, str | int | float | np.number) and not isinstance(value, bool):
            kept[str(key)] = value
    return kept
