"""The brain to turn with the mouse: one page, a script of our own, and plotly's script beside them.

Nothing is executed inside the page: the data are a block of JSON, and both scripts are files, so that the page works
under a policy that forbids inline scripts, eval and the network.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.atomic import write_bytes, write_text
from neuroarena.errors import MissingDependency
from neuroarena.maps.pictures.scale import Scale
from neuroarena.maps.pictures.surfaces import Side, cortex

PLOTLY, SCRIPT, STYLE = "plotly.min.js", "brain.js", "map.css"
POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:"
_SIDES: tuple[Side, Side] = ("left", "right")


def brain_data(
    xyz: np.ndarray,
    names: Sequence[str],
    values: np.ndarray,
    significant: np.ndarray,
    tasks: Sequence[str],
    bins: Sequence[str],
    scale: Scale,
) -> dict[str, Any]:
    """Return what the page draws, as plain data.

    Parameters
    ----------
    xyz : array (electrodes, 3)
        MNI305, mm; electrodes without a position are left out.
    names : sequence of str
        What is shown when the mouse is over an electrode.
    values, significant : arrays (tasks, electrodes, bins)
    tasks, bins : sequences of str
    scale : Scale
    """
    rows = np.flatnonzero(np.isfinite(xyz).all(axis=1))
    meshes = []
    for side in _SIDES:
        surface = cortex(side)
        meshes.append(
            {
                "points": surface.points.round(1).T.tolist(),
                "triangles": surface.triangles.T.tolist(),
            }
        )
    return {
        "meshes": meshes,
        "electrodes": {"xyz": xyz[rows].round(1).T.tolist(), "names": [names[int(row)] for row in rows]},
        "values": [_numbers(values[task][rows]) for task in range(len(tasks))],
        "significant": np.asarray(significant, dtype=int)[:, rows].tolist(),
        "tasks": list(tasks),
        "bins": list(bins),
        "scale": {"low": scale.low, "high": scale.high, "label": scale.label},
    }


def _numbers(values: np.ndarray) -> list[list[float | None]]:
    """Return values with three digits, and nothing for NaN, which JSON does not have."""
    return [[round(float(value), 3) if np.isfinite(value) else None for value in row] for row in values]


def write_interactive(path: Path, data: dict[str, Any], title: str, *, simulated: bool) -> None:
    """Write the interactive brain with its scripts beside it.

    Parameters
    ----------
    path : Path
        The page; scripts and style go into its folder, plotly's only if it is not there yet.
    data : dict
        As :func:`brain_data` returns it.
    title : str
    simulated : bool

    Raises
    ------
    MissingDependency
        Without plotly.
    """
    try:
        import plotly
    except ImportError as error:
        raise MissingDependency("plotly", "brain", "The interactive brain") from error
    shared = path.parent / PLOTLY
    if not shared.exists():
        write_bytes(shared, (Path(plotly.__file__).parent / "package_data" / PLOTLY).read_bytes())
    for name in (SCRIPT, STYLE):
        write_text(path.parent / name, files(__package__).joinpath(name).read_text(encoding="utf-8"))
    write_text(path, render_interactive(data, title, simulated=simulated))


def render_interactive(data: dict[str, Any], title: str, *, simulated: bool) -> str:
    """Render the page of the interactive brain."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    # In a block of JSON only the end of the block must not appear.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    source = files(__package__).joinpath("brain.html.j2").read_text(encoding="utf-8")
    return environment.from_string(source).render(
        data=Markup(text),
        title=title,
        simulated=simulated,
        policy=POLICY,
        script=SCRIPT,
        plotly=PLOTLY,
        style=STYLE,
    )
