"""A commitment of layers to regions: by depth, or in the two classes that authors of Brain-Score models know."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from neuroarena.families.brainscore.errors import ConfigError, named
from neuroarena.families.brainscore.models.preprocessing import ImagePreprocessing
from neuroarena.families.brainscore.models.region_model import RegionModel
from neuroarena.families.brainscore.models.torch_features import TorchFeatures
from neuroarena.families.brainscore.stimuli import StimulusSet

REGIONS = ("V1", "V2", "V4", "IT")
FEWEST_STAGES = 6
# Where along the stages a region lies, as a share of their number.
DEPTHS = (0.2, 0.4, 0.6, 0.9)
# The benchmark that a region's layer is chosen with, where no layer was committed to it.
CHOSEN_ON = {
    "V1": "FreemanZiemba2013.V1-pls",
    "V2": "FreemanZiemba2013.V2-pls",
    "V4": "MajajHong2015.V4-pls",
    "IT": "MajajHong2015.IT-pls",
}


def commit_by_depth(features: TorchFeatures) -> dict[str, str]:
    """Spread the regions over the stages of a network, in the order in which an image passes them.

    Stages are the parts with weights; while there are fewer than six, the one with most weights is replaced by its own
    parts. Those that run once and return a tensor count, and the last one, which classifies, is left out.

    Raises
    ------
    ConfigError
        When no stage of the network runs once.
    """
    from PIL import Image

    stages = _weighted_parts(features.module, "")
    while len(stages) < FEWEST_STAGES:
        parts = {name: _weighted_parts(features.module.get_submodule(name), name) for name in stages}
        large = [name for name in stages if parts[name]]
        if not large:
            break
        widest = max(large, key=lambda name: _count_weights(features.module.get_submodule(name)))
        at = stages.index(widest)
        stages[at : at + 1] = parts[widest]
    usable = features.order_of(Image.new("RGB", (64, 64), (128, 128, 128)), stages)
    usable = usable[:-1] if len(usable) > 1 else usable
    if not usable:
        raise ConfigError("No stage of the network runs exactly once. Pass region_layer_map.")
    return {
        region: usable[min(int(depth * len(usable)), len(usable) - 1)]
        for region, depth in zip(REGIONS, DEPTHS, strict=True)
    }


def _weighted_parts(module: Any, name: str) -> list[str]:
    """Return the direct parts of a module that hold a kernel or a matrix, by their full names."""
    return [
        f"{name}.{part}" if name else part
        for part, child in module.named_children()
        if any(weight.ndim > 1 for weight in child.parameters())
    ]


def _count_weights(module: Any) -> int:
    return sum(weight.numel() for weight in module.parameters())


def load_preprocess_images(
    image_filepaths: Sequence[Any],
    image_size: int,
    normalize_mean: Sequence[float] = ImagePreprocessing.mean,
    normalize_std: Sequence[float] = ImagePreprocessing.std,
) -> np.ndarray:
    """Return images as a network takes them, float32 (images, 3, size, size); images are paths or opened images."""
    from PIL import Image

    prepare = ImagePreprocessing(image_size, tuple(normalize_mean), tuple(normalize_std))  # type: ignore[arg-type]
    opened = [Image.open(each) if isinstance(each, str | Path) else each for each in image_filepaths]
    return np.stack([prepare(image) for image in opened])


class PytorchWrapper(TorchFeatures):
    """A torch module with its preprocessing: what gives the activations of a model.

    Parameters
    ----------
    model : torch.nn.Module
    preprocessing : callable
        ``preprocessing(images) -> array (images, 3, height, width)``, such as
        ``functools.partial(load_preprocess_images, image_size=224)``. Images are opened already.
    identifier : str, optional
        Name of the model; by default that of the module's class.
    batch_size : int
        Number of images in memory at a time.
    token : str, optional
        Names the preprocessing where it cannot be hashed; see :class:`TorchFeatures`.
    """

    def __init__(
        self,
        model: Any,
        preprocessing: Callable[[list[Any]], Any],
        identifier: str | None = None,
        batch_size: int = 64,
        token: str | None = None,
    ) -> None:
        super().__init__(model, preprocessing, token=token)  # type: ignore[arg-type]
        self.identifier = identifier or type(model).__name__
        self.batch_size = batch_size

    def prepare(self, images: list[Any]) -> np.ndarray:
        """Return a few images as the network takes them: they are prepared together."""
        return np.asarray(self.preprocessing(images), dtype=np.float32)  # type: ignore[arg-type]

    def __call__(self, stimuli: StimulusSet | Sequence[str | Path], layers: Sequence[str]) -> xr.DataArray:
        """Return the activations of several layers side by side, presentation x neuroid."""
        parts = []
        for layer in layers:
            model = RegionModel(
                self.identifier, self, {"layer": layer}, batch_size=self.batch_size, cache=False
            )
            model.start_recording("layer")
            found = model.look_at(stimuli)
            own = [name for name in found.coords if found[name].dims == ("neuroid",)]
            parts.append(found.drop_vars([name for name in own if str(name).startswith("channel")]))
        return parts[0] if len(parts) == 1 else xr.concat(parts, dim="neuroid")


class ModelCommitment(RegionModel):
    """A model whose layers are committed to regions.

    Parameters
    ----------
    identifier : str
    activations_model : FeatureSource
        A :class:`PytorchWrapper`, or any other source of features.
    layers : sequence of str
        Layers that may stand for a region.
    behavioral_readout_layer : str, optional
        Kept as an attribute; neural benchmarks do not read it.
    region_layer_map : mapping of region to layer, optional
        The commitment. For a region without one, the layer that scores best on a public benchmark of it is chosen when
        it is first recorded from, with a warning: a layer chosen on recordings is too good a guess of them.
    visual_degrees : float
    **options
        Of :class:`RegionModel`.

    Raises
    ------
    ConfigError
        When a layer does not exist.
    """

    def __init__(
        self,
        identifier: str,
        activations_model: Any,
        layers: Sequence[str],
        behavioral_readout_layer: str | None = None,
        region_layer_map: Mapping[str, str] | None = None,
        visual_degrees: float = 8,
        **options: Any,
    ) -> None:
        for layer in (*layers, *([behavioral_readout_layer] if behavioral_readout_layer else [])):
            activations_model.check_layer(layer)
        options.setdefault("batch_size", getattr(activations_model, "batch_size", 64))
        super().__init__(identifier, activations_model, region_layer_map, visual_degrees, **options)
        self.layers = list(layers)
        self.behavioral_readout_layer = behavioral_readout_layer

    def start_recording(self, region: str, time_bins: Any = None) -> None:
        """Record the layer of a region; one without a commitment gets it now."""
        if region not in self.region_layer_map and len(self.layers) > 1:
            self.region_layer_map[region] = self._choose(region)
        elif region not in self.region_layer_map and self.layers:
            self.region_layer_map[region] = self.layers[0]
        super().start_recording(region, time_bins)

    def _choose(self, region: str) -> str:
        from neuroarena.families.brainscore.loading import load_benchmark
        from neuroarena.families.brainscore.models.layer_map import choose_layers

        if region not in CHOSEN_ON:
            raise ConfigError(
                f'{self.identifier}: no layer stands for the region "{region}", and layers are chosen by data for '
                f"{named(CHOSEN_ON)} only. Pass region_layer_map."
            )
        choice = choose_layers(self, {region: load_benchmark(CHOSEN_ON[region])}, self.layers)
        warnings.warn(
            f"{self.identifier}: {choice.region_layer_map[region]} was chosen for {region} on {CHOSEN_ON[region]}. "
            "Report scores on other recordings.",
            stacklevel=3,
        )
        return choice.region_layer_map[region]
