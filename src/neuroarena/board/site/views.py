"""Boards side by side on one site: what cannot be compared gets a board of its own instead of a refusal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from neuroarena.benchmarks.faces import face_of
from neuroarena.board.entries import Entry


def separate_views(entries: Iterable[Entry], *, by_definition: bool = True) -> list[Entry]:
    """Put entries of different views of a family onto boards of their own.

    A view is what the face ``views`` of a family calls an entry (multiclass, single electrodes); where a family
    has entries of several definitions, each definition is one besides. It is named in the split of the entry, whose own
    split and view stand in its provenance.

    Parameters
    ----------
    entries : iterable of Entry
    by_definition : bool
        Whether definitions are told apart; otherwise the board decides whether they may stand side by side.
    """
    everything = list(entries)
    definitions: dict[str, set[str]] = {}
    for entry in everything:
        definitions.setdefault(entry.family, set()).add(entry.definition)
    separated = []
    for entry in everything:
        name_view = face_of(entry.family, "views")
        words = [] if name_view is None else [str(name_view(entry))]
        if by_definition and len(definitions[entry.family]) > 1:
            words.append(entry.definition)
        view = ", ".join(word for word in words if word)
        if view:
            known = {**entry.provenance, "split": entry.split, "view": view}
            entry = replace(entry, split=f"{entry.split} · {view}", provenance=known)
        separated.append(entry)
    return separated
