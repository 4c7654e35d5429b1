"""Finding and reading the files that a user supplies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

import xarray as xr

from neuroarena.datasets.dataset import locate_folder
from neuroarena.errors import InputError
from neuroarena.families.brainscore.assembly_files import file_identifier, read_assembly
from neuroarena.families.brainscore.errors import ConfigError
from neuroarena.families.brainscore.stimuli import StimulusSet
from neuroarena.families.brainscore.stimulus_files import read_stimulus_set
from neuroarena.families.brainscore.vision import DATASET, STUDIES, VisionFolder

B = TypeVar("B")


def vision_folder(data: str | Path | None = None) -> VisionFolder:
    """Find the folder of assemblies and stimuli: as given, $NEUROARENA_BRAINSCORE, or below $NEUROARENA_DATA."""
    return VisionFolder(locate_folder(DATASET, data))


def read_study(name: str, data: str | Path | None = None) -> xr.DataArray:
    """Read the assembly of a study, joined with its stimuli.

    Returns
    -------
    DataArray
        presentation x neuroid [x time_bin], or neuroid x neuronal_property; ``attrs["simulated"]`` says whether it
        comes from a simulated twin.

    Raises
    ------
    InputError, ConfigError, DataQualityError, AlignmentError
        Naming the folder, the file or the stimulus that is missing or wrong.
    """
    folder, study = vision_folder(data), STUDIES[name]
    if not (folder.root / study.file).is_file():
        raise ConfigError(
            f"{folder.root}: there is no {study.file}, which holds the recordings of {name}. "
            f"See: neuroarena data verify {DATASET.name} {folder.root}"
        )
    array = read_assembly(folder.root / study.file, read_stimuli(study.stimuli, folder.root))
    array.attrs["simulated"] = folder.simulated
    return array


def read_stimuli(identifier: str, data: str | Path | None = None) -> StimulusSet:
    """Read a stimulus set; its zip is unpacked next to it the first time."""
    root = vision_folder(data).root
    csv = root / f"stimulus_{file_identifier(identifier)}.csv"
    try:
        return read_stimulus_set(csv, identifier=identifier)
    except OSError as error:
        raise ConfigError(
            f"{csv.with_suffix('.zip')}: cannot be unpacked next to itself ({error.strerror}). "
            "Copy the folder to a place you can write to."
        ) from error


def neurons_in(array: xr.DataArray, region: str) -> xr.DataArray:
    """Keep the neuroids of one region.

    Raises
    ------
    ConfigError
        When there are none.
    """
    chosen = array.isel(neuroid=array["region"].values == region)
    if not chosen.sizes["neuroid"]:
        raise ConfigError(f"{array.attrs.get('identifier')}: there is no neuroid of region {region}.")
    return chosen


def mark_simulated(benchmark: B, simulated: bool) -> B:
    """Mark whether a benchmark's recordings are simulated; results inherit the mark."""
    benchmark.simulated = simulated  # type: ignore[attr-defined]
    return benchmark


def plain_folder(data: str | Path | None, variable: str, name: str, files: tuple[str, ...]) -> Path:
    """Find a folder that holds some files: as given, by its variable, or below $NEUROARENA_DATA.

    Raises
    ------
    InputError
        When no folder was named, or when a file is not in it.
    """
    below = os.environ.get("NEUROARENA_DATA")
    said = data or os.environ.get(variable) or (Path(below) / name if below else None)
    if said is None:
        raise InputError(
            f"{name} was not found: no folder was named. Pass data=FOLDER, or set ${variable} to the folder with "
            f"{', '.join(files)}."
        )
    for file in files:
        if not (Path(said) / file).is_file():
            raise InputError(f"{said}: {file}, which {name} needs, is missing.")
    return Path(said)
