"""Start kits: a small project for each track, written into an empty folder."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path
from string import Template

from neuroarena.atomic import write_text
from neuroarena.benchmarks.faces import families_with
from neuroarena.errors import InputError
from neuroarena.registry import unknown_name

# Template -> name in the kit; a track's own template takes precedence over the shared one.
FILES = {
    "README.md.txt": "README.md",
    "decoder.py.txt": "decoder.py",
    "encoder.py.txt": "mine/encoder.py",
    "kit_test.py.txt": "test_decoder.py",
}


def write_kit(track: str, folder: Path) -> list[Path]:
    """Write the start kit of a track.

    Parameters
    ----------
    track : str
        A family that provides a start kit (its face ``start_kit``).
    folder : Path
        Missing or empty.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    UnknownName
        With the closest track.
    InputError
        When the folder holds something; nothing is written then.
    """
    kits = families_with("start_kit")
    if track not in kits:
        raise unknown_name("start kit", track, kits, None)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"{folder}: is not an empty folder. Name an empty or a new one. Nothing was written."
        )
    shared, own = files(__package__), kits[track]
    values = tomllib.loads(own.joinpath("kit.toml").read_text(encoding="utf-8"))
    values = {name: str(value).strip() for name, value in values.items()}
    written = []
    for template, name in FILES.items():
        source = own.joinpath(template)
        if not source.is_file():
            source = shared.joinpath(template)
        if source.is_file():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, Template(source.read_text(encoding="utf-8")).substitute(values))
            written.append(path)
    return written
