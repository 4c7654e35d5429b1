"""Checking a dataset: what it says of itself, its twin, its reader and its verifier, on the smallest twin."""

from __future__ import annotations

import functools
import inspect
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neuroarena.checklist import Check, Point, run_points
from neuroarena.datasets.card import CARD
from neuroarena.datasets.dataset import Dataset
from neuroarena.errors import InputError
from neuroarena.fingerprint import file_digest

_WRITES = "simulate writes a twin and returns its card"


@dataclass(frozen=True)
class _Trial:
    """A dataset, an empty folder for its twins, and the options of the smallest."""

    dataset: Dataset
    scratch: Path
    options: Mapping[str, Any]

    @functools.cached_property
    def twin(self) -> Path:
        place = self.scratch / "twin"
        self.dataset.simulate(place, **self.options)
        return place

    @contextmanager
    def damaged(self) -> Iterator[Path]:
        """Cut the largest file of the twin in half, for a while."""
        largest = max(_files(self.twin), key=lambda path: (path.stat().st_size, path))
        content = largest.read_bytes()
        largest.write_bytes(content[: len(content) // 2])
        try:
            yield largest
        finally:
            largest.write_bytes(content)


def check_dataset(dataset: Dataset, options: Mapping[str, Any] | None = None) -> list[Check]:
    """Check that a dataset keeps its contract; a twin is written to a temporary folder.

    Parameters
    ----------
    dataset : Dataset
    options : mapping, optional
        Options of the twin; by default the dataset's own `tiny`.

    Returns
    -------
    list of Check
        Those after a twin that cannot be written are not run.
    """
    chosen = dict(dataset.tiny if options is None else options)
    with tempfile.TemporaryDirectory(prefix="check-dataset-") as folder:
        trial = _Trial(dataset, Path(folder), chosen)
        return run_points(_POINTS, lambda: trial, vital={_WRITES})


def _says_what_it_is(trial: _Trial) -> str | None:
    empty = [
        name
        for name in ("name", "title", "licence", "description", "origin")
        if not str(getattr(trial.dataset, name)).strip()
    ]
    return f"it has no {', '.join(empty)}" if empty else None


def _can_be_located(trial: _Trial) -> str | None:
    return None if trial.dataset.environment else "it names no environment variable for its folder"


def _options_are_explained(trial: _Trial) -> str | None:
    taken = [
        each.name
        for each in inspect.signature(trial.dataset.simulate).parameters.values()
        if each.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    told = set(trial.dataset.simulate_options)
    if taken and set(taken) != told:
        return (
            f"simulate takes {', '.join(sorted(taken))}; simulate_options explains {', '.join(sorted(told))}"
        )
    return None if "seed" in told else 'there is no option "seed"'


def _writes_a_twin(trial: _Trial) -> str | None:
    card = trial.dataset.simulate(trial.scratch / "twin", **trial.options)
    if card.get("simulated") is not True:
        return f'the card does not say "simulated": true, but {card.get("simulated")!r}'
    absent = [name for name in card.get("files", {}) if not (trial.twin / name).is_file()]
    if absent or not card.get("files"):
        return f"the card lists {absent[0]}, which is not there" if absent else "the card lists no files"
    return None


def _is_left_as_it_is(trial: _Trial) -> str | None:
    before = {path: path.stat().st_mtime_ns for path in _files(trial.twin)}
    trial.dataset.simulate(trial.twin, **trial.options)
    changed = [path for path in _files(trial.twin) if before.get(path) != path.stat().st_mtime_ns]
    return f"{changed[0].name} was written again" if changed else None


def _is_reproducible(trial: _Trial) -> str | None:
    again = trial.scratch / "again"
    trial.dataset.simulate(again, **trial.options)
    for path in _files(trial.twin):
        other = again / path.relative_to(trial.twin)
        if path.name != CARD and (not other.is_file() or file_digest(other) != file_digest(path)):
            return f"{path.relative_to(trial.twin)} differs between two twins of the same seed"
    return None


def _leaves_others_alone(trial: _Trial) -> str | None:
    own = trial.scratch / "own"
    own.mkdir(exist_ok=True)
    (own / "thesis.txt").write_text("years of work", encoding="utf-8")
    try:
        trial.dataset.simulate(own, **trial.options)
    except InputError:
        return None if _files(own) == [own / "thesis.txt"] else "it wrote into a folder that it refused"
    return "a folder that holds something else was not refused"


def _opens(trial: _Trial) -> str | None:
    simulated = getattr(trial.dataset.open(trial.twin), "simulated", None)
    return None if simulated is True else f"its reader says simulated = {simulated!r} of a twin"


def _refuses_no_folder(trial: _Trial) -> str | None:
    missing = trial.scratch / "nothing"
    for what, look in (("open", trial.dataset.open), ("verify", trial.dataset.verify)):
        try:
            found = look(missing)
        except InputError:
            continue
        if what == "open" or not found:
            return f"{what} takes a folder that is not there"
    return None


def _verifies(trial: _Trial) -> str | None:
    problems = trial.dataset.verify(trial.twin)
    return f"{problems[0]}" if problems else None


def _names_damage(trial: _Trial) -> str | None:
    with trial.damaged() as file:
        problems = trial.dataset.verify(trial.twin)
    if not problems:
        return f"it finds nothing wrong where {file.name} is cut in half"
    named = any(file.name in str(problem) or file.stem in str(problem) for problem in problems)
    return None if named else f"it does not name {file.name}, but says: {problems[0]}"


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


_POINTS: tuple[Point[_Trial], ...] = (
    ("it says what it is, where it comes from and under which licence", _says_what_it_is),
    ("its folder can be named by an environment variable", _can_be_located),
    ("every option of the twin is explained, the seed among them", _options_are_explained),
    (_WRITES, _writes_a_twin),
    ("a twin that is current is left as it is", _is_left_as_it_is),
    ("the same seed gives the same files", _is_reproducible),
    ("a folder that holds something else is left alone", _leaves_others_alone),
    ("its reader opens the twin and says that it is simulated", _opens),
    ("a folder that is not there is refused", _refuses_no_folder),
    ("verify finds nothing wrong in the twin", _verifies),
    ("verify names a file that is cut short", _names_damage),
)
