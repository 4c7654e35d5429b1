"""Check a family of benchmarks: its tasks, its splits and its faces, without any data."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from neuroarena.benchmarks import FAMILIES, Family, WindowShape, judges_models
from neuroarena.benchmarks.faces import FACES, find_face, load_address
from neuroarena.board import Rules
from neuroarena.board.importing import Importer
from neuroarena.checklist import Check
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.scoring import Manifest, Overall

CODE_CONTRACT_METHODS = ("answer", "report", "lay_out")
_PROTOCOL = (
    *("name", "title", "definitions", "judges", "tasks", "splits", "manifest", "window", "load"),
    *("find_task", "task_form"),  # of a family whose tasks are too many to be listed
)


def check_family(name: str) -> list[Check]:
    """Check that a registered family offers what general rooms will ask of it.

    Parameters
    ----------
    name : str
        Its registered name, or ``module:attribute``.

    Returns
    -------
    list of Check
        In the order in which they were made; the details of a failed one say what to fix.

    Raises
    ------
    UnknownName
        With the closest names, when there is no such family.

    Examples
    --------
    >>> all(check.passed for check in check_family("bci"))
    True
    """
    family = FAMILIES.get(name)
    asked: list[tuple[str, Callable[[], Iterator[str]]]] = [
        ("it says who it is", lambda: _identity(family, name)),
        ("every task has rules of its own name and definition", lambda: _manifests(family)),
        ("every task has splits, each named once", lambda: _splits(family)),
        ("every task says what its windows look like", lambda: _windows(family)),
        ("its attributes are spelled as general rooms ask for them", lambda: _spelling(family)),
    ]
    asked += [
        (f'its face "{face}" is {FACES[face]}', lambda face=face: _face(family, face))  # type: ignore[misc]
        for face in FACES
        if getattr(family, face, None) is not None
    ]
    return [_run_check(words, problems) for words, problems in asked]


def _run_check(words: str, problems: Callable[[], Iterator[str]]) -> Check:
    try:
        found = list(problems())
    except NeuroarenaError as error:
        found = [str(error)]
    except Exception as error:  # a third-party family may raise anything
        found = [f"{type(error).__name__}: {error}"]
    return Check(words, not found, "; ".join(found))


def _identity(family: Family, name: str) -> Iterator[str]:
    if ":" not in name and family.name != name:
        yield f'it is registered as "{name}" and calls itself "{family.name}"'
    if not isinstance(family.title, str) or not family.title.strip():
        yield "it has no title"
    if not family.definitions or not all(isinstance(each, str) for each in family.definitions):
        yield f"definitions must be a tuple of texts, the default first, got {family.definitions!r}"


def _tasks(family: Family) -> Iterator[tuple[str, str]]:
    for definition in family.definitions:
        for task in family.tasks(definition):
            yield task, definition


def _manifests(family: Family) -> Iterator[str]:
    for task, definition in _tasks(family):
        manifest = family.manifest(task, definition)
        if not isinstance(manifest, Manifest):
            yield f"manifest({task!r}, {definition!r}) is a {type(manifest).__name__}, not a Manifest"
        elif manifest.name != f"{family.name}/{task}":
            yield f'the rules of {task} are called "{manifest.name}", expected "{family.name}/{task}"'


def _splits(family: Family) -> Iterator[str]:
    for task, definition in _tasks(family):
        splits = family.splits(task, definition)
        if not splits:
            yield f"{task} of {definition} has no split"
        elif len(set(splits)) < len(splits):
            yield f"{task} of {definition} names a split twice: {', '.join(splits)}"


def _windows(family: Family) -> Iterator[str]:
    if judges_models(family):
        return
    for task, definition in _tasks(family):
        window = family.window(task, definition)
        if not isinstance(window, WindowShape):
            yield f"window({task!r}, {definition!r}) is a {type(window).__name__}, not a WindowShape"


def _spelling(family: Family) -> Iterator[str]:
    """Find attributes that look like a misspelled face, which would never be looked up."""
    for attribute in vars(type(family)) | getattr(family, "__dict__", {}):
        if attribute.startswith("_") or attribute in FACES or attribute in _PROTOCOL:
            continue
        close = difflib.get_close_matches(attribute, FACES, n=1, cutoff=0.8)
        if close:
            yield f'"{attribute}" is not a face; did you mean "{close[0]}"?'


def _face(family: Family, name: str) -> Iterator[str]:
    value = find_face(family, name)
    yield from _SHAPES.get(name, _anything)(value)


def _anything(_: Any) -> Iterator[str]:
    return iter(())


def _options(model: Any) -> Iterator[str]:
    if not inspect.isclass(model) or not issubclass(model, BaseModel):
        yield f"expected a pydantic model, got {model!r}"
        return
    if model.model_config.get("extra") != "forbid":
        yield 'unknown options must be refused: ConfigDict(extra="forbid")'
    for option, field in model.model_fields.items():
        if not field.description:
            yield f'the option "{option}" has no description'


def _importers(offered: Any) -> Iterator[str]:
    for key, thing in offered.items():
        importer = load_address(thing, f'the importer "{key}"') if isinstance(thing, str) else thing
        if not isinstance(importer, Importer):
            yield f'"{key}" is a {type(importer).__name__}, not an Importer'


def _functions(offered: Any) -> Iterator[str]:
    if not isinstance(offered, Mapping):
        yield f"expected a mapping of names to functions, got a {type(offered).__name__}"
        return
    for key, function in offered.items():
        if not callable(function) and not (isinstance(function, str) and ":" in function):
            yield f'"{key}" is neither a function nor the address of one'


def _function(value: Any) -> Iterator[str]:
    if not callable(value):
        yield f"expected a function, got a {type(value).__name__}"


def _start_kit(folder: Any) -> Iterator[str]:
    for name in ("kit.toml", "decoder.py.txt"):
        if not (Path(folder) / name).is_file():
            yield f"{folder}: there is no {name}"


def _code_contract(contract: Any) -> Iterator[str]:
    for method in CODE_CONTRACT_METHODS:
        if not callable(getattr(contract, method, None)):
            yield f"it has no method {method}()"


def _rules(offered: Any) -> Iterator[str]:
    for key, values in offered.items():
        try:
            Rules.of(**dict(values))
        except InputError as error:
            yield f"{key}: {error}"


def _overall(value: Any) -> Iterator[str]:
    if not isinstance(value, Overall):
        yield f"expected an Overall, as Overall.from_toml reads it, got a {type(value).__name__}"


_SHAPES: dict[str, Callable[[Any], Iterator[str]]] = {
    "options": _options,
    "importers": _importers,
    "exporters": _functions,
    "columns": _functions,
    "standings": _functions,
    "own_standings": _functions,
    "overall": _overall,
    "start_kit": _start_kit,
    "code_contract": _code_contract,
    "rules": _rules,
    "submission_check": _function,
    "model_check": _function,
    "entry_rules": _function,
    "views": _function,
    "citation": _function,
}
