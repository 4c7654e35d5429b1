"""The style of all plots, and figures as reproducible SVG text."""

from __future__ import annotations

import contextlib
import io
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito (2008), without the yellow, which is hard to see on white. Different for every kind of
# colour vision; markers differ too, so that colour is never the only sign.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
ENTRY, FLOOR, ORGANISER, SIMULATED = "#0072B2", "#7F7F7F", "#D55E00", "#A0287D"
GREY = "#595959"

STYLE: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.edgecolor": "#888888",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 9,
    "xtick.color": "#333333",
    "ytick.color": "#333333",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    # A team may be called "$x$": no name is ever read as a formula.
    "text.parse_math": False,
    "text.usetex": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "neuroarena",
    "path.simplify": False,
}

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"


@contextlib.contextmanager
def style() -> Iterator[None]:
    """Draw in the house's style, whatever the user's own settings are."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        # rcdefaults would otherwise let the backend be chosen again, and a window with it.
        wanted: Any = {**STYLE, "backend": "agg"}
        matplotlib.rcParams.update(wanted)
        yield


def new_figure(width: float, height: float) -> Figure:
    """Make an empty figure of a size in inches, without touching any global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=100)
    FigureCanvasAgg(figure)
    return figure


def place(figure: Figure, left: float, bottom: float, right: float, top: float) -> Axes:
    """Add axes with margins in inches."""
    width, height = (float(side) for side in figure.get_size_inches())
    return figure.add_axes(
        (left / width, bottom / height, (width - left - right) / width, (height - bottom - top) / height)
    )


def heading(figure: Figure, text: str) -> None:
    """Head a figure at its left edge, where there is room however narrow the axes are."""
    height = float(figure.get_size_inches()[1])
    figure.text(
        0.1 / float(figure.get_size_inches()[0]),
        1 - 0.1 / height,
        text,
        va="top",
        fontsize=10,
        fontweight="bold",
    )


def mark_simulated(figure: Figure) -> None:
    """Write "simulated" into the corner of a figure."""
    figure.text(
        0.995, 0.995, "simulated", ha="right", va="top", fontsize=8.5, fontweight="bold", color=SIMULATED
    )


def svg_text(figure: Figure, prefix: str, description: str) -> str:
    """Return a figure as SVG to put into a page.

    Parameters
    ----------
    figure : Figure
    prefix : str
        Put before every id, so that two figures on one page do not share any.
    description : str
        The alternative text.

    Returns
    -------
    str
        One ``<svg>`` element without date or generator; the same figure gives the same text.
    """
    buffer = io.StringIO()
    with style():
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    root = ET.fromstring(buffer.getvalue())
    for metadata in root.findall(f"{{{SVG}}}metadata"):
        root.remove(metadata)
    for element in root.iter():
        _prefix_ids(element, prefix)
    root.set("role", "img")
    root.set("aria-label", description)
    root.attrib.pop("height", None)
    root.set("width", f"{figure.get_size_inches()[0] * 96:.0f}")
    root.set("preserveAspectRatio", "xMidYMid meet")
    return ET.tostring(root, encoding="unicode")


def _prefix_ids(element: ET.Element, prefix: str) -> None:
    for name, value in list(element.attrib.items()):
        if name == "id":
            element.set(name, f"{prefix}-{value}")
        elif name in ("href", f"{{{XLINK}}}href") and value.startswith("#"):
            element.set(name, f"#{prefix}-{value[1:]}")
        elif "url(#" in value:
            element.set(name, value.replace("url(#", f"url(#{prefix}-"))
