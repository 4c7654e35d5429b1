"""Faces of a family: what it offers in addition to tasks, looked up by general rooms that do not know its name.

A face is a plain attribute of the family object: a value, a function, or the address of one (``module:attribute``),
which is imported on first use. A family may have as many or as few as it needs.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from neuroarena.benchmarks.benchmark import Family
from neuroarena.benchmarks.names import FAMILIES
from neuroarena.errors import InputError
from neuroarena.registry import unknown_name

_ADDRESS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
# Face -> what it is, for `check family` and the documentation.
FACES: dict[str, str] = {
    "options": "a pydantic model of the options of `load`",
    "code_contract": "how the sandbox talks to a code submission",
    "importers": "readers of results published elsewhere, by name",
    "exporters": "writers of results in other formats, by name",
    "start_kit": "folder of a small project to begin with",
    "page": "the page of documentation",
    "overall": "how the tasks become one number",
    "rules": "ranking rules, by name",
    "columns": "extra columns of a board",
    "citation": "how the data of a task are cited, as BibTeX",
    "views": "which view of a task an entry belongs to, each on a board of its own beside the others",
    "inference": "how the verdicts of a task are made, where levels left out one by one are not enough",
    "entry_rules": "what makes an entry void, beyond its own run",
    "standings": "boards over several tracks, by name",
    "own_standings": "boards over the family's own tasks, by name, shown beneath every board of them",
    "known_leaks": "kinds of links that `check leaks` may find by design, and why",
    "not_rankable": "tasks whose answers can be had on public data without listening, each with the reason",
    "submission_check": "how a submission in the family's own form is checked",
    "pretraining_rules": "what a model may have been pretrained on",
    "competition": "a ready competition file",
    "paper": "figures and tables of the family's papers",
    "maps": "analyses that only the family's papers define",
    "model_check": "how a model that is shown stimuli is checked, by its name",
    "models": "models that are shown stimuli, by name, each with a description",
    "scaffold": "skeletons that `neuroarena new benchmark --kind` writes, by kind",
    "zoo_imports": "what must be called before a zoo of networks can be imported",
    "demo": "what `neuroarena demo` runs",
}


def find_face(family: Family, name: str) -> Any:
    """Return a face of a family, imported if necessary; None when the family does not have it.

    Raises
    ------
    InputError
        When the face is the address of something that cannot be imported.
    """
    value = getattr(family, name, None)
    if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
        return value
    return load_address(value, f'The face "{name}" of the family "{family.name}"')


def load_address(address: str, what: str) -> Any:
    """Import what an address (``module:attribute``) leads to.

    Parameters
    ----------
    address : str
    what : str
        What it should be, as the error says it.

    Raises
    ------
    InputError
        When there is nothing at this address.
    """
    module, _, attribute = address.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"{what} cannot be loaded from {address}: {error}.") from error


def families_with(name: str) -> dict[str, Any]:
    """Return the families that have a face, by name, with the face."""
    found = {family: find_face(FAMILIES.get(family), name) for family in FAMILIES.names()}
    return {family: face for family, face in found.items() if face is not None}


def named_faces(name: str) -> dict[str, Any]:
    """Return everything that families offer by name under one face: importers, exporters, rules, ...

    Raises
    ------
    InputError
        When two families offer the same name.
    """
    offered: dict[str, Any] = {}
    for family, things in families_with(name).items():
        for key, thing in things.items():
            if key in offered:
                raise InputError(f'Two families offer {name} called "{key}"; the second is "{family}".')
            offered[key] = thing
    return offered


def face_of(family: str, name: str) -> Any:
    """Return a face of the family of a name; None when there is no such family, or it does not have the face."""
    return find_face(FAMILIES.get(family), name) if family in FAMILIES.names() else None


def choose_face(name: str, key: str, kind: str, plural: str | None = None) -> Any:
    """Return one of the things that families offer by name.

    Parameters
    ----------
    name : str
        Of the face.
    key : str
        Which of the things it offers.
    kind : str
        What they are, as errors say it.
    plural : str, optional
        The word that ``neuroarena list`` takes, where it lists them.

    Raises
    ------
    UnknownName
        With the closest names.
    """
    offered = named_faces(name)
    if key not in offered:
        raise unknown_name(kind, key, sorted(offered), plural)
    thing = offered[key]
    return load_address(thing, f'The {kind} "{key}"') if isinstance(thing, str) else thing
