"""From an image to the array a network takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class ImagePreprocessing:
    """Resize to a square, scale to [0, 1], subtract a mean and divide by a deviation, colour by colour.

    Parameters
    ----------
    size : int
        Width and height in pixels; the aspect ratio is not preserved.
    mean, std : tuple of float
        Of red, green and blue; the defaults are those networks trained on ImageNet expect.

    Examples
    --------
    >>> from PIL import Image
    >>> ImagePreprocessing(size=8, mean=(0, 0, 0), std=(1, 1, 1))(Image.new("RGB", (20, 10), (255, 0, 0))).shape
    (3, 8, 8)
    """

    size: int = 224
    mean: tuple[float, float, float] = (0.485, 0.456, 0.406)
    std: tuple[float, float, float] = (0.229, 0.224, 0.225)

    def __call__(self, image: Image) -> npt.NDArray[np.float32]:
        """Return an image as float32 (3, size, size)."""
        from PIL.Image import Resampling

        shown = image.convert("RGB").resize((self.size, self.size), Resampling.BILINEAR)
        values = np.asarray(shown, dtype=np.float32).transpose(2, 0, 1) / np.float32(255)
        mean, std = (np.array(each, dtype=np.float32)[:, None, None] for each in (self.mean, self.std))
        result: npt.NDArray[np.float32] = (values - mean) / std
        return result
