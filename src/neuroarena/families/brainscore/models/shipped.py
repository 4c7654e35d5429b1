"""Two models that come with the package: pixels, and a small network with fixed random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from neuroarena.families.brainscore.models.features import CallableFeatures
from neuroarena.families.brainscore.models.preprocessing import ImagePreprocessing
from neuroarena.families.brainscore.models.region_model import RegionModel
from neuroarena.families.brainscore.models.torch_features import TorchFeatures

if TYPE_CHECKING:
    from PIL.Image import Image

PIXELS = 24
SEED = 20260115
# Layer, input and output channels of its convolution; each halves the width of the image.
STAGES = (("stage1", 3, 16), ("stage2", 16, 24), ("stage3", 24, 32), ("stage4", 32, 48))
REGIONS = {"V1": "stage1", "V2": "stage2", "V4": "stage3", "IT": "stage4"}


def gray_pixels(images: list[Image]) -> npt.NDArray[np.float32]:
    """Return images as 24 x 24 gray values in [0, 1], (images, 576)."""
    from PIL.Image import Resampling

    shown = [image.convert("L").resize((PIXELS, PIXELS), Resampling.BILINEAR) for image in images]
    return np.stack([np.asarray(each, dtype=np.float32).ravel() / 255 for each in shown])


def pixels(**options: Any) -> RegionModel:
    """Gray values for every region: a baseline that other models should exceed."""
    return RegionModel("pixels", CallableFeatures({"pixels": gray_pixels}), None, **options)


def tiny_network() -> Any:
    """Make a convolutional network of four stages with fixed weights, whatever the version of torch.

    Each stage: 3 x 3 convolution, rectification, average pooling by two. Weights are drawn by NumPy from one seed.
    """
    import torch

    rng = np.random.default_rng(SEED)
    network = torch.nn.Sequential()
    for name, inputs, outputs in STAGES:
        convolution = torch.nn.Conv2d(inputs, outputs, 3, padding=1)
        scale = np.sqrt(2.0 / (9 * inputs))
        with torch.no_grad():
            drawn = scale * rng.standard_normal(tuple(convolution.weight.shape))
            convolution.weight.copy_(torch.from_numpy(drawn.astype(np.float32)))
            convolution.bias.copy_(torch.from_numpy((0.1 * rng.standard_normal(outputs)).astype(np.float32)))
        parts = {"convolution": convolution, "rectified": torch.nn.ReLU(), "pooled": torch.nn.AvgPool2d(2)}
        stage = torch.nn.Sequential()
        for part, layer in parts.items():
            stage.add_module(part, layer)
        network.add_module(name, stage)
    return network.eval()


def tiny_cnn(**options: Any) -> RegionModel:
    """Small convolutional network at 64 pixels, one stage per region."""
    features = TorchFeatures(tiny_network(), ImagePreprocessing(64, (0.5, 0.5, 0.5), (0.25, 0.25, 0.25)))
    return RegionModel("tiny-cnn", features, REGIONS, **options)
