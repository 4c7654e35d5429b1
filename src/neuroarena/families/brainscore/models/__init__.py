"""Models of vision: features of networks, functions or tables, recorded from like a brain."""

from __future__ import annotations

from neuroarena.families.brainscore.models.cache import FeatureCache
from neuroarena.families.brainscore.models.features import CallableFeatures, FeatureSource
from neuroarena.families.brainscore.models.layer_map import LayerChoice, choose_layers, with_layers
from neuroarena.families.brainscore.models.pca import Reduction
from neuroarena.families.brainscore.models.precomputed import PrecomputedFeatures
from neuroarena.families.brainscore.models.preprocessing import ImagePreprocessing
from neuroarena.families.brainscore.models.region_model import RegionModel
from neuroarena.families.brainscore.models.shipped import pixels, tiny_cnn, tiny_network
from neuroarena.families.brainscore.models.torch_features import TorchFeatures

__all__ = [
    "CallableFeatures",
    "FeatureCache",
    "FeatureSource",
    "ImagePreprocessing",
    "LayerChoice",
    "PrecomputedFeatures",
    "Reduction",
    "RegionModel",
    "TorchFeatures",
    "choose_layers",
    "pixels",
    "tiny_cnn",
    "tiny_network",
    "with_layers",
]
