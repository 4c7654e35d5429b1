"""Write the folder of a simulated twin, with its card, completely or not at all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from neuroarena import atomic
from neuroarena.datasets.card import CARD
from neuroarena.errors import InputError

LEAKS = ("channel", "length", "order")

# Option -> (kind, least, most).
Limits = Mapping[str, tuple[type, float, float]]
# What nearly every twin takes: the seed of its randomness, and how much of what is planted there is.
PLANTED: Limits = {"seed": (int, 0, 2**32 - 1), "strength": (float, 0.0, 10.0)}
# Called after each step of a simulation: steps done, steps in all, what was written.
Progress = Callable[[int, int, str], None]
Writer = Callable[[Path, dict[str, Any]], dict[str, Any]]


def spell_flag(name: str) -> str:
    """Spell an option of a simulation as the command line, its help, errors and the documentation do.

    Examples
    --------
    >>> spell_flag("rate_hz")
    '--rate-hz'
    """
    return "--" + name.replace("_", "-")


def check_options(dataset: str, options: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Check the options of a simulation, and return them in the form the card records.

    Raises
    ------
    InputError
        Naming the option, its allowed values and what it was.
    """
    checked = dict(options)
    for name, (kind, low, high) in limits.items():
        value = options[name]
        numeric = isinstance(value, int if kind is int else (int, float)) and not isinstance(value, bool)
        if not numeric or not low <= value <= high:
            whole = "a whole number" if kind is int else "a number"
            raise InputError(
                f"simulate {dataset}: {spell_flag(name)} must be {whole} from {low:g} to {high:g}, got {value!r}. "
                "Nothing was written."
            )
        # 1 and 1.0 are the same option: the card must not depend on how it was typed.
        checked[name] = kind(value)
    leak = options.get("plant_leak")
    if leak is not None and leak not in LEAKS:
        raise InputError(
            f"simulate {dataset}: --plant-leak must be one of {', '.join(LEAKS)}, got {leak!r}. Nothing was written."
        )
    return checked


def write_twin(
    root: str | Path, generator: str, version: int, options: dict[str, Any], write: Writer
) -> dict[str, Any]:
    """Write a twin beside its place and move it there when complete; leave an up-to-date one as it is.

    Parameters
    ----------
    root : path
        Missing, empty, or an earlier twin of this generator, which is replaced when its options differ.
    generator, version
        Who writes; both are on the card.
    options : dict
        Checked options.
    write : callable
        ``write(folder, options)`` writes the files and returns what else the card says.

    Returns
    -------
    dict
        The card.

    Raises
    ------
    InputError
        When the folder holds something else; nothing is written then.
    """
    place = Path(root)
    before = _card_of(place, generator)
    stated = {"generator": generator, "generator_version": version, "options": options}
    if before is not None and _is_current(place, before, stated):
        return before
    with atomic.building(place) as building:
        said = write(building, options)
        sizes = {
            path.relative_to(building).as_posix(): path.stat().st_size
            for path in sorted(building.rglob("*"))
            if path.is_file()
        }
        card = {"schema_version": 1, "simulated": True, **stated, **said, "files": sizes}
        atomic.write_json(building / CARD, card)
        _take_place(building, place)
    return dict(json.loads((place / CARD).read_text(encoding="utf-8")))


def _card_of(root: Path, generator: str) -> dict[str, Any] | None:
    if not root.exists() or (root.is_dir() and not any(root.iterdir())):
        return None
    try:
        card = dict(json.loads((root / CARD).read_text(encoding="utf-8")))
        ours = card["simulated"] is True and card["generator"] == generator
    except (OSError, ValueError, KeyError, TypeError):
        ours = False
    if not ours:
        raise InputError(
            f"{root}: is not empty and was not written by the {generator} (it has no {CARD} of its own). "
            "Name an empty or a new folder. Nothing was written."
        )
    return card


def _is_current(root: Path, card: dict[str, Any], stated: dict[str, Any]) -> bool:
    same = all(card.get(name) == value for name, value in stated.items())
    files: dict[str, int] = card.get("files", {})
    return same and all(
        (root / name).is_file() and (root / name).stat().st_size == size for name, size in files.items()
    )


def _take_place(building: Path, root: Path) -> None:
    if not root.exists():
        os.replace(building, root)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{root.name}.", suffix=".old", dir=root.parent))
    os.replace(root, aside / root.name)
    os.replace(building, root)
    shutil.rmtree(aside)
