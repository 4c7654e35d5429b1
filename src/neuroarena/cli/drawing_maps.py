"""Draw a map that was computed: all pictures, and the page that explains them."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from neuroarena.maps.conventions import Conventions
    from neuroarena.maps.grid import MapGrid

AsPublished = Annotated[
    bool,
    typer.Option(
        "--as-published",
        help="Draw with the choices of the family's papers: starts of windows, their scale, electrodes chosen on the "
        "data that are shown. The page says so.",
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label", metavar="centre|start", help="Which time of a window figures show; by default its centre."
    ),
]
With = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="NAME",
        help="Add a part of the family's own to the page; needs --data. Repeat it for several.",
    ),
]


def draw_map(
    grid: MapGrid, out: Path, *, as_published: bool, label: str | None, wanted: list[str], data: str | None
) -> Path:
    """Write the page of a map and return it.

    Raises
    ------
    InputError
        For a label that does not exist or that the published choices contradict, a part that the family does not have,
        data of which it draws nothing, or published choices of a family that has none.
    """
    from neuroarena.evaluation import TerminalProgress
    from neuroarena.maps.page import write_map_page

    family = _family_of(grid)
    conventions = _choose_conventions(family, as_published, label)
    extras = _make_sections(family, grid, wanted, data)
    with TerminalProgress() as progress:
        return write_map_page(
            grid,
            out,
            conventions=conventions,
            titles=family.titles if family else None,
            extras=extras,
            progress=progress,
        )


def _family_of(grid: MapGrid) -> Any:
    """Return the face `maps` of the family whose map it is; None for one of somebody's own recordings."""
    from neuroarena.benchmarks.faces import face_of

    names = grid.provenance.get("benchmarks") or []
    # The name of one's own recordings need not be that of a benchmark.
    family = re.split("[@/]", str(names[0]))[0] if names else ""
    return face_of(family, "maps") if family else None


def _choose_conventions(family: Any, as_published: bool, label: str | None) -> Conventions:
    from neuroarena.errors import InputError
    from neuroarena.maps.conventions import OURS

    if label not in (None, "centre", "start"):
        raise InputError(f'--label is centre or start, got "{label}".')
    if not as_published:
        return dataclasses.replace(OURS, label_starts=label == "start")
    if family is None or family.conventions is None:
        raise InputError(
            "--as-published: this map belongs to no family with published choices. Draw it without the switch."
        )
    conventions: Conventions = family.conventions
    if label is not None and conventions.label_starts != (label == "start"):
        published = "start" if conventions.label_starts else "centre"
        raise InputError(f"--as-published labels windows by their {published}. Leave out --label {label}.")
    return conventions


def _make_sections(family: Any, grid: MapGrid, wanted: list[str], data: str | None) -> list[Any]:
    from neuroarena.errors import InputError

    offered = dict(family.sections) if family else {}
    foreign = [name for name in wanted if name not in offered]
    if foreign:
        known = ", ".join(offered) or "nothing"
        raise InputError(f'--with "{foreign[0]}": the family of this map offers {known}.')
    if data is not None and not offered:
        raise InputError(
            "--data cannot be used with this map: its family adds nothing to the page. Leave it out."
        )
    usual = list(family.usual) if family and data is not None else []
    return [offered[name](grid, data) for name in dict.fromkeys([*usual, *wanted])]
