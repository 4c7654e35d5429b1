"""Check a folder of Brain-Score assemblies, real or simulated, file by file."""

from __future__ import annotations

import csv
import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.datasets.dataset import Problem
from neuroarena.errors import InputError
from neuroarena.families.brainscore.vision.facts import FIRST_SHOWN, STUDIES, Study, stimulus_table
from neuroarena.families.brainscore.vision.folder import VisionFolder
from neuroarena.recordings.hdf5_handle import Hdf5Handle


def verify(root: str | Path) -> list[Problem]:
    """List what is missing or inconsistent in a folder; an empty list means that it is good.

    A folder need not hold every study, but it must hold one, and each with its stimuli. The published files of
    MajajHong2015 and FreemanZiemba2013 are also checked by their SHA-1.

    Parameters
    ----------
    root : path
        The folder.
    """
    try:
        folder = VisionFolder(root)
    except InputError as error:
        return [Problem.of(error, root)]
    there = [study for study in STUDIES.values() if (folder.root / study.file).is_file()]
    problems = list(folder.check_files())
    if not there:
        names = ", ".join(study.file for study in STUDIES.values())
        problems.append(Problem(".", f"there is no assembly here. Expected one of {names}."))
    tables: dict[str, list[dict[str, str]] | None] = {}
    wanted = [study.stimuli for study in there]
    wanted += FIRST_SHOWN if any(study.of_properties for study in there) else ()
    for identifier in dict.fromkeys(wanted):
        tables[identifier], found = _stimuli(folder.root, identifier)
        problems += found
    for study in there:
        problems += _assembly_problems(folder, study, tables[study.stimuli])
    return problems


def _stimuli(root: Path, identifier: str) -> tuple[list[dict[str, str]] | None, list[Problem]]:
    """Read a table of stimuli and check the zip beside it."""
    name = stimulus_table(identifier)
    zipped = f"{name.removesuffix('.csv')}.zip"
    try:
        with open(root / name, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        return None, [Problem(name, f"cannot be read: {error}.")]
    columns = set(rows[0]) if rows else set()
    if not columns & {"stimulus_id", "image_id"} or "filename" not in columns:
        return None, [Problem(name, "has no rows, or lacks stimulus_id (or image_id) or filename.")]
    ids = [_key(row) for row in rows]
    problems = []
    if len(set(ids)) != len(ids):
        problems.append(Problem(name, f'the stimulus "{_twice(ids)}" occurs more than once.'))
    wanted = {row["filename"] for row in rows}
    try:
        with zipfile.ZipFile(root / zipped) as archive:
            members = archive.namelist()
            bad = archive.testzip()
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        return rows, [*problems, Problem(zipped, f"cannot be read as a zip archive: {error}.")]
    if bad is not None:
        problems.append(Problem(zipped, f'the file "{bad}" is damaged.'))
    if set(members) != wanted or len(members) != len(wanted):
        one = sorted(set(members) ^ wanted) or [_twice(members)]
        problems.append(Problem(zipped, f'its files must be exactly those of {name}; "{one[0]}" differs.'))
    return rows, problems


def _assembly_problems(
    folder: VisionFolder, study: Study, rows: list[dict[str, str]] | None
) -> Iterator[Problem]:
    path = folder.root / study.file
    if not folder.simulated and study.sha1 is not None:
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, lambda: hashlib.sha1(usedforsecurity=False)).hexdigest()
        if found != study.sha1:
            yield Problem(study.file, f"the SHA-1 is {found}, but the published file has {study.sha1}.")
    try:
        with Hdf5Handle(path) as file:
            yield from _content_problems(file, study, rows)
    except InputError as error:
        yield Problem.of(error, path.name, study.file)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        yield Problem(study.file, f"cannot be read as netCDF-4: {error}.")


def _content_problems(file: Any, study: Study, rows: list[dict[str, str]] | None) -> Iterator[Problem]:
    import h5py

    arrays = {name: each for name, each in file.items() if isinstance(each, h5py.Dataset)}
    data = [name for name, each in arrays.items() if each.ndim >= 2]
    if len(data) != 1:
        yield Problem(study.file, f"holds {len(data)} arrays of two or more dims, expected exactly one.")
        return
    for name in (*(() if study.of_decoders else ("neuroid_id",)), *study.coordinates):
        if name not in arrays:
            yield Problem(study.file, f'the coordinate "{name}" is missing.')
    if "region" in arrays:
        absent = sorted(set(study.regions) - set(_texts(arrays["region"])))
        if absent:
            yield Problem(study.file, f"there is no neuroid of {', '.join(absent)}.")
    values = arrays[data[0]]
    if values.dtype.kind == "f" and np.isinf(values[()]).any():
        yield Problem(study.file, "holds infinity.")
    if rows is None:
        return
    lacking = [name for name in study.columns if name not in rows[0]]
    if lacking:
        yield Problem(study.table, f'the column "{lacking[0]}" is missing.')
    if not study.of_properties:
        yield from _unknown_stimuli(arrays, study, {_key(row) for row in rows})


def _unknown_stimuli(arrays: dict[str, Any], study: Study, known: set[str]) -> Iterator[Problem]:
    name = next((each for each in ("stimulus_id", "image_id") if each in arrays), None)
    if name is None:
        yield Problem(study.file, 'the coordinate "stimulus_id" (or "image_id") is missing.')
        return
    unknown = sorted(set(_texts(arrays[name])) - known)
    if unknown:
        yield Problem(
            study.file,
            f'shows {len(unknown)} stimuli that {study.table} does not hold, such as "{unknown[0]}".',
        )


def _texts(dataset: Any) -> list[str]:
    return [each.decode("utf-8", "replace") if isinstance(each, bytes) else str(each) for each in dataset[()]]


def _key(row: dict[str, str]) -> str:
    return row["stimulus_id"] if row.get("stimulus_id") is not None else row["image_id"]


def _twice(names: list[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return ""
