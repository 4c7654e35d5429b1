"""``benchmark.toml``: a benchmark of one's own recordings as a file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from neuroarena.benchmarks.benchmark import Benchmark
from neuroarena.benchmarks.own.definition import Definition, Texts, read_rules
from neuroarena.benchmarks.own.making import make_benchmark
from neuroarena.benchmarks.own.sources import Reading, find_pieces
from neuroarena.benchmarks.own.stacks import Cutting, find_stacks
from neuroarena.errors import InputError


class BenchmarkFile(Definition):
    """What a file of a benchmark holds: the rules, and where the data are.

    Parameters
    ----------
    data : str or tuple of str
        A BIDS folder, a folder of files, files or patterns; relative to the file itself, or to ``--data DIR``.
    epochs : bool
        Whether the files hold epochs, cut already, rather than recordings.
    events : str, optional
        A table of events (.tsv, .csv, .parquet) where they are not in the recordings.
    names : str, optional
        What the names of files say, as in ``S{subject}R{run}``.
    task, subjects : optional
        Only these recordings of a BIDS folder.
    stim_channel : str, optional
        The channel of markers that events are taken from.
    """

    data: str | Texts
    epochs: bool = False
    events: str | None = None
    names: str | None = None
    task: str | None = None
    subjects: Texts | None = None
    stim_channel: str | None = None


# Keys that are never the value of an event, a column or the name of a split.
_NEVER_VALUES = ("data", "split", "window_s", "metric", "names", "band_hz", "resample_hz", "channels")
_PLACES = ("data", "epochs", "events", "names", "task", "subjects", "stim_channel")


def read_benchmark_file(path: str | Path) -> BenchmarkFile:
    """Read and check a file of a benchmark, without looking at the data.

    Raises
    ------
    InputError
        Naming the file, the key or the line, and what to write.
    """
    file = Path(path)
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError(
            f"{file}: there is no such file. Write one with: neuroarena new benchmark NAME, or "
            "neuroarena data describe FOLDER"
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{file}: cannot be read as TOML: {error}.") from error
    _refuse_swallowed(given, file)
    found: BenchmarkFile = read_rules(BenchmarkFile, {"name": file.stem, **given}, str(file))
    return found


def _refuse_swallowed(given: dict[str, Any], file: Path) -> None:
    """Refuse a key that stands below a [table] and therefore belongs to it, which TOML does silently."""
    for table in ("classes", "where", "split"):
        inside = given.get(table)
        for key in inside if isinstance(inside, dict) else ():
            if key in _NEVER_VALUES and key not in given:
                raise InputError(
                    f'{file}: the key "{key}" stands below [{table}] and belongs to that table. '
                    f"Move it above the first line in brackets."
                )


def _refuse_unused(asked: BenchmarkFile, where: str) -> None:
    """Refuse what says how recordings are read, where the files hold epochs."""
    for key in ("events", "task", "subjects", "stim_channel"):
        if getattr(asked, key) is not None:
            raise InputError(f'{where}: the key "{key}" is for recordings; these are epochs (epochs = true).')


def load_benchmark_file(path: str | Path, data: str | Path | None = None) -> Benchmark:
    """Make the benchmark that a file describes.

    Parameters
    ----------
    path : path
    data : path, optional
        Where the file's relative paths begin; by default the folder of the file.

    Raises
    ------
    InputError
        Whatever is wrong with the file or its data, by name.
    """
    asked = read_benchmark_file(path)
    folder = Path(path).absolute().parent if data is None else Path(data)
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder. Expected the one where the data of {path} lie.")
    definition = Definition.model_validate(asked.model_dump(exclude=set(_PLACES), exclude_unset=True))
    listed = list(asked.data) if isinstance(asked.data, tuple) else asked.data
    if asked.epochs:
        listed = [listed] if isinstance(listed, str) else listed
        _refuse_unused(asked, str(path))
        pieces = find_stacks(listed, Cutting(names=asked.names, folder=folder).owned_as(definition))
    else:
        told = {name: getattr(asked, name) for name in _PLACES[2:]}
        pieces = find_pieces(listed, Reading(folder=folder, montage=definition.montage, **told))
    return make_benchmark(pieces, definition, str(path))
