"""Skeletons of new benchmarks, as plugin folders."""

from __future__ import annotations

import keyword
import re
from importlib.resources import files
from pathlib import Path
from string import Template

from neuroarena.atomic import write_text
from neuroarena.errors import InputError

TEMPLATES = {"__init__.py": "init.py.txt", "benchmark.py": "benchmark.py.txt", "test.py": "test.py.txt"}


def new_benchmark(name: str, folder: Path) -> list[Path]:
    """Write a plugin folder with a commented benchmark that works, and its test.

    Parameters
    ----------
    name : str
        Name of the experiment: "MyExperiment" or "my-experiment".
    folder : Path
        The plugin becomes a folder in it, named in lower case with underscores.

    Returns
    -------
    list of Path
        The registration, the benchmark and the test.

    Raises
    ------
    InputError
        When the name cannot become a Python package, or when a folder of that name already exists.
    """
    words = [word for word in re.split(r"[\s_-]+", name) if word]
    package = "_".join(words).lower()
    if not package.isidentifier() or keyword.iskeyword(package):
        raise InputError(
            f'"{name}" cannot become the name of a Python package. '
            "Use letters, digits and hyphens, for example MyExperiment."
        )
    plugin = folder / package
    if plugin.exists():
        raise InputError(
            f"{plugin}: a folder or file of this name already exists. "
            "Nothing was written; choose another name."
        )
    values = {"dataset": "".join(word[:1].upper() + word[1:] for word in words), "package": package}
    written = []
    for target, template in TEMPLATES.items():
        text = files(__package__).joinpath(template).read_text(encoding="utf-8")
        write_text(plugin / target, Template(text).substitute(values))
        written.append(plugin / target)
    return written
