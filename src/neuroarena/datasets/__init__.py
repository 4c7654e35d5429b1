"""Datasets: their real on-disk layout, how to find them, and their simulated twins."""

from __future__ import annotations

from pathlib import Path

from neuroarena.datasets.dataset import Dataset, Problem, locate_folder
from neuroarena.datasets.dataset_check import check_dataset
from neuroarena.registry import Registry

__all__ = ["DATASETS", "Dataset", "Problem", "check_dataset", "load_dataset", "locate"]

DATASETS: Registry[Dataset] = Registry("dataset", "neuroarena.datasets")


def load_dataset(name: str) -> Dataset:
    """Return the dataset called `name`.

    Raises
    ------
    UnknownName
        With the closest names, when there is no such dataset.

    Examples
    --------
    >>> load_dataset("braintreebank").title
    'BrainTreebank'
    """
    return DATASETS.get(name)


def locate(dataset_name: str, root: str | Path | None = None) -> Path:
    """Find the folder of a dataset on this machine.

    Parameters
    ----------
    dataset_name : str
        The dataset's name.
    root : path, optional
        The folder, when it is known; otherwise the dataset's environment variables are consulted, then
        $NEUROARENA_DATA.

    Raises
    ------
    InputError
        When there is no such folder; the message lists every way to name or make one.
    """
    return locate_folder(load_dataset(dataset_name), root)
