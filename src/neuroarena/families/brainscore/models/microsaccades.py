"""Trials that differ: small shifts of the image, as eyes make while they look."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from neuroarena.families.brainscore.stimuli import StimulusSet

if TYPE_CHECKING:
    from PIL.Image import Image

# Degrees by which the last trial is shifted.
EXTENT = 0.05


def shift_of_trial(trial: int, trials: int, extent: float = EXTENT) -> tuple[float, float]:
    """Return the shift of a trial in degrees, (x, y): points of a spiral, the first of them at its centre.

    Examples
    --------
    >>> shift_of_trial(0, 10), [round(each, 4) for each in shift_of_trial(5, 20)]
    ((0.0, 0.0), [-0.025, 0.0])
    """
    share = math.sqrt(trial / trials)
    radius, angle = share * extent, 2 * math.pi * share
    return radius * math.cos(angle), radius * math.sin(angle)


@dataclass(frozen=True, eq=False)
class Shifted:
    """A placement of images, and then a shift: bilinear, with the edge repeated.

    Attributes
    ----------
    shift : tuple of float
        In degrees, (x, y).
    visual_degrees : float
        Width of the screen.
    placement : callable, optional
        What is done to an image before.
    """

    shift: tuple[float, float]
    visual_degrees: float
    placement: Callable[[Any, Image], Image] | None = None

    def __call__(self, stimulus_id: Any, image: Image) -> Image:
        """Place one image and shift it."""
        placed = image if self.placement is None else self.placement(stimulus_id, image)
        return placed if self.shift == (0.0, 0.0) else shift_image(placed, self.shift, self.visual_degrees)

    def describe(self, stimulus_id: Any) -> list[Any]:
        """Describe what is done to one image, for its digest."""
        before = None if self.placement is None else self.placement.describe(stimulus_id)  # type: ignore[attr-defined]
        return ["shifted", list(self.shift), self.visual_degrees, before]


def shift_image(image: Image, shift: tuple[float, float], visual_degrees: float) -> Image:
    """Shift an image by degrees; what comes in at an edge repeats the edge."""
    from PIL import Image as images
    from scipy.ndimage import shift as moved

    pixels = np.asarray(image.convert("RGB"), dtype=np.float32)
    x, y = (each * image.width / visual_degrees for each in shift)
    values = moved(pixels, (y, x, 0), order=1, mode="nearest")
    return images.fromarray(np.clip(np.rint(values), 0, 255).astype(np.uint8))


def show_trials(stimuli: StimulusSet, trials: int, visual_degrees: float) -> list[StimulusSet]:
    """Return the stimuli as each trial shows them."""
    return [
        replace(stimuli, placement=Shifted(shift_of_trial(trial, trials), visual_degrees, stimuli.placement))
        for trial in range(trials)
    ]
