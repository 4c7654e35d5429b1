"""Skeletons of new datasets."""

from __future__ import annotations

from pathlib import Path

from neuroarena.datasets import DATASETS
from neuroarena.skeletons import SkeletonName, module_templates, write_skeleton


def new_dataset(name: str, folder: Path) -> list[Path]:
    """Write a commented dataset (reader, simulated twin, verifier) and its test into a folder.

    Parameters
    ----------
    name : str
        Words joined by hyphens, underscores or spaces: "my-data".
    folder : Path

    Returns
    -------
    list of Path
        The two files.

    Raises
    ------
    InputError
        When the name cannot be a module name or is taken, or a file of that name exists.
    """
    made = SkeletonName.parse(name, registry=DATASETS)
    templates = module_templates(made, folder, "dataset")
    return write_skeleton(made, __package__, templates, variable=made.module.upper())
