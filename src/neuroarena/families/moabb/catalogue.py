"""Datasets and paradigms of MOABB by name, and where its files are."""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from neuroarena.errors import InputError, MissingDependency
from neuroarena.registry import unknown_name

# Windows of a filter bank are stacks of windows, and these two ask no question.
_NOT_PARADIGMS = ("FilterBank", "Base", "FixedInterval")


def import_moabb(part: str) -> Any:
    """Import a part of MOABB, which takes seconds.

    Raises
    ------
    MissingDependency
        When it is not installed.
    """
    try:
        return importlib.import_module(f"moabb.{part}")
    except ImportError as error:
        raise MissingDependency("MOABB", "moabb", f"A benchmark of MOABB ({error})") from error


def dataset_classes() -> dict[str, type]:
    """Return MOABB's datasets by name, its simulated ones too."""
    base = import_moabb("datasets.base").BaseDataset
    found: dict[str, type] = {}
    for part in ("datasets", "datasets.fake"):
        for name, thing in vars(import_moabb(part)).items():
            if inspect.isclass(thing) and issubclass(thing, base) and not name.startswith("Base"):
                found[name] = thing
    return found


def paradigm_classes() -> dict[str, type]:
    """Return MOABB's paradigms by name; filter banks and windows without a question are not among them."""
    base = import_moabb("paradigms.base").BaseParadigm
    return {
        name: thing
        for name, thing in vars(import_moabb("paradigms")).items()
        if inspect.isclass(thing) and issubclass(thing, base) and not name.startswith(_NOT_PARADIGMS)
    }


def find_names(task: str) -> tuple[str, str]:
    """Return the dataset and the paradigm that ``DATASET-PARADIGM`` names, as MOABB spells them.

    Raises
    ------
    InputError
        For another form, with the closest names for an unknown dataset or paradigm.
    """
    dataset, _, paradigm = task.rpartition("-")
    if not dataset:
        raise InputError(
            f'"moabb/{task}" is not DATASET-PARADIGM. Expected a name such as moabb/BNCI2014_001-LeftRightImagery.'
        )
    datasets, paradigms = dataset_classes(), paradigm_classes()
    # Papers write BNCI2014-001, and classes are called BNCI2014_001.
    dataset = dataset if dataset in datasets else dataset.replace("-", "_")
    for kind, name, known in (("dataset", dataset, datasets), ("paradigm", paradigm, paradigms)):
        if name not in known:
            raise unknown_name(f"{kind} of MOABB", name, sorted(known), "benchmarks moabb")
    return dataset, paradigm


def make_pair(task: str, parameters: Mapping[str, Any]) -> tuple[Any, Any]:
    """Make the dataset and the paradigm of a task.

    Raises
    ------
    InputError
        For a parameter that the paradigm does not have or accept, or a dataset that is not made for it.
    """
    named = find_names(task)
    dataset_class, paradigm_class = dataset_classes()[named[0]], paradigm_classes()[named[1]]
    taken = inspect.signature(paradigm_class).parameters
    # Some paradigms pass what they do not name themselves on to the class they are derived from.
    passes = any(each.kind is each.VAR_KEYWORD for each in taken.values())
    wrong = [name for name in parameters if name not in taken and not passes]
    if wrong:
        raise InputError(f'The paradigm {named[1]} of MOABB has no parameter "{wrong[0]}". Leave it out.')
    # A simulated dataset without a seed is another one every time.
    seed = {"seed": 0} if "seed" in inspect.signature(dataset_class).parameters else {}
    try:
        dataset, paradigm = dataset_class(**seed), paradigm_class(**parameters)
    except (TypeError, ValueError, AssertionError) as error:
        raise InputError(f"moabb/{task}: MOABB refuses these parameters: {error}") from error
    check_pair(dataset, paradigm)
    return dataset, paradigm


def check_pair(dataset: Any, paradigm: Any) -> None:
    """Refuse a paradigm that cannot be asked of a dataset.

    Raises
    ------
    InputError
    """
    words = f"{type(dataset).__name__} and {type(paradigm).__name__}"
    for low, high in paradigm.filters:
        if low is not None and high is not None and low >= high:
            # MNE would remove what lies between them, without a word.
            raise InputError(
                f"{words}: the band of {low:g} to {high:g} Hz is empty. Set fmin and fmax, both."
            )
    try:
        paradigm.prepare_process(dataset)
        fits = paradigm.is_valid(dataset)
    except (TypeError, ValueError, AssertionError) as error:
        raise InputError(f"{words} do not fit together: {error}") from error
    if not fits:
        raise InputError(
            f"{words} do not fit together: the dataset is one of {dataset.paradigm}, with the events "
            f"{', '.join(map(str, dataset.event_id))}. Choose another paradigm, or events that it has."
        )


@contextmanager
def files_at(folder: str | None) -> Iterator[None]:
    """Let MOABB look for its files in a folder, and leave the user's configuration of MNE as it was."""
    if folder is None:
        yield
        return
    if not os.path.isdir(folder):
        raise InputError(
            f"{folder}: there is no such folder. Expected MOABB's files, as MNE_DATA names them."
        )
    import mne

    before = {key: value for key, value in (mne.get_config() or {}).items() if _is_place(key)}
    environment = {key: os.environ.get(key) for key in {*before, "MNE_DATA"}}
    place = os.path.abspath(folder)
    os.environ.update(dict.fromkeys(environment, place))
    try:
        yield
    finally:
        for key in [each for each in (mne.get_config() or {}) if _is_place(each) and each not in before]:
            os.environ.pop(key, None)
            mne.set_config(key, None, set_env=False)
        for key, value in environment.items():
            os.environ.pop(key, None)
            if value is not None:
                os.environ[key] = value


def _is_place(key: str) -> bool:
    return key.startswith("MNE_DATASETS_") and key.endswith("_PATH")
