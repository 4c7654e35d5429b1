"""Ready competition files, brought by families through the face ``competition``."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from neuroarena.benchmarks.faces import families_with
from neuroarena.errors import InputError
from neuroarena.registry import unknown_name


def list_ready() -> dict[str, Path]:
    """Return the ready competition files by the name of their family.

    The face is the address of a file in the family's package: ``package/file.toml``.
    """
    found = {}
    for family, face in families_with("competition").items():
        package, _, name = str(face).rpartition("/")
        with as_file(files(package).joinpath(name)) as path:
            found[family] = path
    return found


def find_file(asked: str) -> Path:
    """Return the competition file that a path or the name of a ready one leads to.

    Raises
    ------
    InputError
        When there is neither; the closest names are given.
    """
    path = Path(asked)
    if path.is_file():
        return path
    ready = list_ready()
    if asked in ready:
        return ready[asked]
    if path.suffix:
        raise InputError(f"{asked}: there is no such file. Expected a competition file (TOML).")
    raise unknown_name("ready competition", asked, sorted(ready), None)
