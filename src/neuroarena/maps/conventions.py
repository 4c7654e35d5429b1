"""What a map's figures choose and how they show it; ours by default, a paper's own on request."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Conventions:
    """Choices behind the figures of a map.

    Attributes
    ----------
    name : str
        Empty for ours; else whose choices they are, written above the figures.
    same_data : bool
        Whether electrodes and bins are chosen on the data that are shown, which lifts chance.
    label_starts : bool
        Whether times are the starts of windows rather than their centres.
    logarithmic : bool
        Whether colours follow log(AUROC - 0.5).
    log_floor : float, optional
        Time courses average log(AUROC - floor) where it is given, and AUROC otherwise.
    most_electrodes : int
        Electrodes of a time course, where there are as many.
    share : float
        Of all electrodes, the share that stands in a time course; 1 for `most_electrodes` whatever their number.
    caption : str
        What a reader of a figure must know about these choices; one or two sentences.
    """

    name: str = ""
    same_data: bool = False
    label_starts: bool = False
    logarithmic: bool = False
    log_floor: float | None = None
    most_electrodes: int = 100
    share: float = 0.10
    caption: str = ""

    @property
    def time_column(self) -> str:
        """Column of a grid's bins that times are read from."""
        return "start_s" if self.label_starts else "centre_s"

    @property
    def axis_label(self) -> str:
        """Label of an axis of time."""
        return f"{'start' if self.label_starts else 'centre'} of the window, s from the event"


OURS = Conventions()
