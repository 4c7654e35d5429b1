"""What a page is made of: sections with pictures and tables, as plain values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# How atlases are called on the page, by the column of a grid's electrodes.
ATLASES = {"region_dk": "Desikan-Killiany", "region_destrieux": "Destrieux"}


@dataclass(frozen=True)
class Picture:
    """A picture that is drawn when the page is written.

    Attributes
    ----------
    name : str
        Of its file, without ending; unique on the page.
    title : str
    caption : str
        What is seen, how it was chosen, and what is significant.
    draw : callable
        Makes the figure.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], Figure]


@dataclass(frozen=True)
class Table:
    """A table of texts; the numbers behind it are in a file beside the page.

    Attributes
    ----------
    caption : str
    header : tuple of str
    rows : list of tuples of str
    """

    caption: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes
    ----------
    key : str
        Its address on the page.
    title : str
    text : tuple of str
        Paragraphs.
    pictures : tuple of Picture
    tables : tuple of Table
    files : mapping of str to DataFrame
        Tables written beside the page, by the name of their file.
    folded : bool
        Whether it is shown closed, to be opened by a click.
    """

    key: str
    title: str
    text: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    files: dict[str, pd.DataFrame] = field(default_factory=dict)
    folded: bool = False
