"""The views of Neuroprobe: binary or multiclass, all electrodes at once or one at a time, each on its own board."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from neuroarena.board.entries import Entry
from neuroarena.families.neuroprobe.submissions import read_submission


def name_view(entry: Entry) -> str:
    """Return which view of a task an entry belongs to; nothing for binary tasks on all electrodes of the lite subset.

    Scores of different views are not comparable: other items, other classes, or other units.
    """
    options = entry.provenance.get("options") or {}
    words = ["multiclass"] if options.get("multiclass") else []
    if options.get("level") == "electrode" or options.get("electrode"):
        words.append("single electrodes")
    subset = options.get("subset")
    if subset not in (None, "lite"):
        words.append(f"{subset} subset")
    return ", ".join(words)


def sort_folders(folders: Sequence[Path]) -> list[tuple[list[Path], dict[str, Any]]]:
    """Sort submission folders into what can stand on one board: one definition and one level each.

    Returns
    -------
    list of (list of Path, dict)
        Folders, and the options of the importer to read them with.
    """
    read = [(folder, read_submission(folder)) for folder in folders]
    found: list[tuple[list[Path], dict[str, Any]]] = []
    for level in ("population", "electrode"):
        for definition in sorted({one.definition for _, one in read}, reverse=True):
            own = [
                folder
                for folder, one in read
                if one.definition == definition and (one.scores["level"] == level).any()
            ]
            if own:
                found.append((own, {"level": level}))
    return found
