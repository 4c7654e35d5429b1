"""One colour scale for all panels of a figure, and its bar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# viridis is read alike by all kinds of colour vision, and in grey.
COLOURS = "viridis"
DIVERGING = "PuOr_r"
NO_VALUE = "#bdbdbd"
# Ticks of the logarithmic scale of the papers, log(AUROC - 0.5).
PUBLISHED_TICKS = (0.51, 0.52, 0.54, 0.58, 0.66, 0.82)
_SMALLEST_RANGE = 0.05


@dataclass(frozen=True)
class Scale:
    """How values become colours.

    Attributes
    ----------
    low, high : float
        The ends of the bar; values beyond them get the colours of the ends.
    label : str
        Quantity and unit, as the bar is labelled.
    logarithmic : bool
        Whether colours follow log(value - 0.5), as in the papers.
    colormap : str
        Of matplotlib.
    """

    low: float
    high: float
    label: str = "AUROC (0.5 is chance)"
    logarithmic: bool = False
    colormap: str = COLOURS

    @classmethod
    def fit(
        cls, values: np.ndarray, label: str = "AUROC (0.5 is chance)", logarithmic: bool = False
    ) -> Scale:
        """Choose a scale from chance to the highest of the values, rounded up to 0.01.

        Examples
        --------
        >>> Scale.fit(np.array([0.48, 0.617, np.nan])).high
        0.62
        """
        finite = np.asarray(values, dtype=float)
        finite = finite[np.isfinite(finite)]
        top = float(finite.max()) if finite.size else 0.5
        high = round(float(np.ceil(max(top, 0.5 + _SMALLEST_RANGE) * 100 - 1e-6) / 100), 2)
        return cls(0.51 if logarithmic else 0.5, high, label, logarithmic)

    @classmethod
    def around_zero(cls, values: np.ndarray, label: str) -> Scale:
        """Choose a scale as far below zero as above it, in two colours."""
        finite = np.abs(np.asarray(values, dtype=float))
        finite = finite[np.isfinite(finite)]
        top = max(1.0, float(np.ceil(finite.max()))) if finite.size else 1.0
        return cls(-top, top, label, colormap=DIVERGING)

    def norm(self) -> Any:
        """Return the norm of matplotlib for this scale."""
        from matplotlib.colors import FuncNorm, Normalize

        if not self.logarithmic:
            return Normalize(self.low, self.high, clip=True)
        forward = lambda value: np.log(np.clip(np.asarray(value, float) - 0.5, 1e-4, None))  # noqa: E731
        inverse = lambda value: np.exp(np.asarray(value, float)) + 0.5  # noqa: E731
        return FuncNorm((forward, inverse), self.low, self.high, clip=True)

    def colours(self, values: np.ndarray) -> np.ndarray:
        """Return colours (n, 4); grey where there is no value."""
        import matplotlib
        from matplotlib.colors import to_rgba

        values = np.asarray(values, dtype=float)
        known = np.where(np.isfinite(values), values, self.low)
        painted: np.ndarray = np.asarray(matplotlib.colormaps[self.colormap](self.norm()(known)))
        painted[~np.isfinite(values)] = to_rgba(NO_VALUE)
        return painted


def add_bar(figure: Figure, axes: Axes, scale: Scale) -> None:
    """Draw the bar of a scale into axes of its own."""
    import matplotlib
    from matplotlib.cm import ScalarMappable

    painted = ScalarMappable(scale.norm(), matplotlib.colormaps[scale.colormap])
    # An area below chance has the colour of the lower end; the arrow says so.
    bar = figure.colorbar(painted, cax=axes, extend="neither" if scale.colormap == DIVERGING else "min")
    bar.set_label(scale.label)
    ticks = (
        [tick for tick in PUBLISHED_TICKS if scale.low <= tick <= scale.high] if scale.logarithmic else None
    )
    if ticks:
        bar.set_ticks(ticks)
        bar.set_ticklabels([f"{tick:.2f}" for tick in ticks])
        bar.ax.minorticks_off()
    bar.outline.set_visible(False)  # type: ignore[operator]
