"""What a dataset is to the rest of the package: how to find it, open it, check it and simulate it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from neuroarena.datasets.fetch_plan import FetchPlan
from neuroarena.errors import InputError
from neuroarena.recordings.content import describe_unfetched

Reader = TypeVar("Reader")
FetchPlanner = Callable[[Sequence[str] | None, Sequence[str] | None, str | None], FetchPlan]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in a dataset's folder.

    Attributes
    ----------
    file : str
        Path inside the folder.
    what : str
        One sentence: what is wrong, what was expected, what was found.
    """

    file: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"

    @classmethod
    def of(cls, error: InputError, root: str | Path, file: str = ".") -> Problem:
        """Make a problem of a refusal; most begin with the path of the file, which is then the one named.

        Examples
        --------
        >>> str(Problem.of(InputError("data/a.npy: is cut short."), "data"))
        'a.npy: is cut short.'
        """
        message = str(error)
        if message.startswith(f"{root}/"):
            file, _, message = message.removeprefix(f"{root}/").partition(": ")
        return cls(file, message.removeprefix(f"{root}: "))


@dataclass(frozen=True)
class Dataset:
    """A dataset that the package can read and simulate.

    Attributes
    ----------
    name : str
        Its name in the registry.
    title : str
        Its full name.
    licence : str
        Licence of the real data.
    description : str
        What was recorded, in a sentence or two.
    origin : str
        Where the real data come from.
    environment : tuple of str
        Environment variables that may hold the folder of the real data.
    open : callable
        ``open(root)`` returns the reader of a folder.
    simulate : callable
        ``simulate(root, **options)`` writes a simulated twin and returns its card.
    verify : callable
        ``verify(root)`` lists what is wrong in a folder; an empty list when nothing is.
    simulate_options : mapping of str to str
        Options of `simulate` with a line of help each.
    tiny : mapping
        Options of the smallest twin that its benchmarks can be bound to: for checks and trials.
    fetch_plan : callable, optional
        ``fetch_plan(subjects, sessions, url)`` lists the files to fetch for some subjects or sessions (None:
        all that the other allows) from the dataset's server or a mirror; absent when there is no server.
    tables_plan : callable, optional
        As `fetch_plan`, for small published tables that are not with the recordings; absent when there are none.
    preprocess : callable, optional
        ``preprocess(raw, out, progress)`` turns the raw release into the copy that benchmarks read; absent when
        they read what is published.
    """

    name: str
    title: str
    licence: str
    description: str
    origin: str
    environment: tuple[str, ...]
    open: Callable[[str | Path], Any]
    simulate: Callable[..., dict[str, Any]]
    verify: Callable[[str | Path], list[Problem]]
    simulate_options: Mapping[str, str] = field(default_factory=dict)
    tiny: Mapping[str, Any] = field(default_factory=dict)
    fetch_plan: FetchPlanner | None = None
    tables_plan: FetchPlanner | None = None
    preprocess: Callable[..., dict[str, Any]] | None = None


def find_problems(dataset: Dataset, root: str | Path) -> list[Problem]:
    """List what is wrong in a dataset's folder; an empty list means that it is good.

    Where files lack their content (DataLad, git-annex, Git LFS), that is the one problem, with their number: each of
    them would otherwise be reported as broken.
    """
    unfetched = describe_unfetched(root)
    return dataset.verify(root) if unfetched is None else [Problem(".", unfetched)]


def locate_folder(dataset: Dataset, root: str | Path | None = None) -> Path:
    """Find the folder of a dataset: as given, from its environment variable, or below $NEUROARENA_DATA.

    Raises
    ------
    InputError
        When there is no such folder; the message lists every way to name or make one.
    """
    candidates: list[tuple[str, Path]] = []
    if root is not None:
        candidates.append(("the given folder", Path(root)))
    else:
        for variable in dataset.environment:
            if os.environ.get(variable):
                candidates.append((f"${variable}", Path(os.environ[variable])))
        if os.environ.get("NEUROARENA_DATA"):
            below = Path(os.environ["NEUROARENA_DATA"]) / dataset.name
            candidates.append((f"$NEUROARENA_DATA/{dataset.name}", below))
    # The first way that was used decides: a wrong variable is an error, not a reason to look elsewhere.
    if candidates and candidates[0][1].is_dir():
        return candidates[0][1]
    found = (
        f"{candidates[0][0]} is {candidates[0][1]}, which is not a folder"
        if candidates
        else "no folder was named"
    )
    variables = " or ".join(f"${name}" for name in dataset.environment)
    raise InputError(
        f"{dataset.title} was not found: {found}. Name its folder, set {variables} to it, or set $NEUROARENA_DATA "
        f"to the folder that holds {dataset.name}/. To make a simulated one: "
        f"neuroarena data simulate {dataset.name} DIR"
    )


def open_dataset(dataset: Dataset, root: str | Path | None, reader: Callable[[str], Reader]) -> Reader:
    """Find the folder of a dataset and open it with its reader; a refusal names the dataset.

    Raises
    ------
    InputError
        When there is no such folder, or it holds something else.
    """
    folder = locate_folder(dataset, root)
    try:
        return reader(str(folder))
    except InputError as error:
        raise InputError(f"{error} Here the dataset {dataset.name} is needed.") from error
