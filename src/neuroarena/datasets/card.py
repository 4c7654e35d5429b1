"""The card of a simulated twin: the one rule by which a folder counts as simulated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from neuroarena.errors import InputError

CARD = "simulated.json"


def read_card(root: str | Path) -> dict[str, Any] | None:
    """Read the card of a simulated twin; None for a folder without a card, which holds real data.

    Raises
    ------
    InputError
        When there is a card that cannot be read, or that does not say `simulated`: such a folder counts as neither.
    """
    path = Path(root) / CARD
    if not path.exists():
        return None
    try:
        card = dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"{path}: cannot be read as the card of a simulated dataset: {error}. Simulate it again."
        ) from error
    if card.get("simulated") is not True:
        raise InputError(f'{path}: expected the card of a simulated dataset, which says "simulated": true.')
    return card


def stamp_folder(root: str | Path) -> tuple[str, int]:
    """Return where a folder really lies and when it was last written, so that an opened one is not kept too long.

    A relative path means another folder after a change of directory, and a twin may be written anew in its place.
    """
    place = Path(root).resolve()
    card = place / CARD
    newest = card if card.exists() else place
    return str(place), newest.stat().st_mtime_ns if newest.exists() else 0
