"""Skeletons of new benchmarks, as plugin folders."""

from __future__ import annotations

from pathlib import Path

from neuroarena.errors import InputError
from neuroarena.skeletons import SkeletonName, write_skeleton

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
    made = SkeletonName.parse(name, "package")
    plugin = folder / made.module
    if plugin.exists():
        raise InputError(f"{plugin}: there is a folder or file of this name already. Nothing was written.")
    templates = {plugin / target: template for target, template in TEMPLATES.items()}
    return write_skeleton(made, __package__, templates)


SCAFFOLD = {"brainscore": new_benchmark}
