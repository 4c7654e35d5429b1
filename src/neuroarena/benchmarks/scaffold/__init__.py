"""Skeletons of new families of benchmarks, and of a benchmark over a folder of EEG."""

from __future__ import annotations

from pathlib import Path

from neuroarena.benchmarks.names import FAMILIES
from neuroarena.datasets import DATASETS
from neuroarena.datasets.scaffold import new_dataset
from neuroarena.skeletons import SkeletonName, module_templates, write_skeleton


def new_family(name: str, folder: Path) -> list[Path]:
    """Write a package with a family of benchmarks, its dataset, tests and the entry points that register both.

    Parameters
    ----------
    name : str
        Words joined by hyphens, underscores or spaces: "my-family".
    folder : Path
        The package becomes a folder in it.

    Returns
    -------
    list of Path
        pyproject.toml, the family and its test, the dataset and its test.

    Raises
    ------
    InputError
        When the name cannot be a module name or is taken, or a file of that name exists.
    """
    made = SkeletonName.parse(name, registry=FAMILIES)
    data = f"{name} data"
    SkeletonName.parse(data, registry=DATASETS)  # both names are checked before the first file is written
    place = folder / made.module
    templates = {
        place / "pyproject.toml": "pyproject.toml.txt",
        **module_templates(made, place, "family"),
    }
    written = write_skeleton(
        made,
        __package__,
        templates,
        project=made.module.replace("_", "-"),
        data_class=f"{made.class_name}Data",
    )
    return written + new_dataset(data, place)


def new_eeg_benchmark(name: str, folder: Path) -> list[Path]:
    """Write a benchmark over files of EEG, and its test: one file of TOML, two splits.

    Parameters and refusals are those of :func:`neuroarena.datasets.scaffold.new_dataset`.
    """
    made = SkeletonName.parse(name, registry=FAMILIES)
    templates = {
        folder / f"{made.module}.toml": "eeg.toml.txt",
        folder / f"test_{made.module}.py": "test_eeg.py.txt",
    }
    return write_skeleton(made, __package__, templates)
