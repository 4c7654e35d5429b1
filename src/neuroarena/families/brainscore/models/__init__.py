"""Models of vision: features of networks, functions or tables, recorded from like a brain."""

from __future__ import annotations

from neuroarena.families.brainscore.models.architectures import load_architecture
from neuroarena.families.brainscore.models.cache import FeatureCache
from neuroarena.families.brainscore.models.commitment import (
    ModelCommitment,
    PytorchWrapper,
    load_preprocess_images,
)
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
    "ModelCommitment",
    "PrecomputedFeatures",
    "PytorchWrapper",
    "Reduction",
    "RegionModel",
    "TorchFeatures",
    "choose_layers",
    "load_architecture",
    "load_preprocess_images",
    "pixels",
    "tiny_cnn",
    "tiny_network",
    "with_layers",
]
