"""Features of images, computed batch by batch: by a function, or by anything with the same contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from neuroarena.families.brainscore.assemblies import TimeBins
from neuroarena.families.brainscore.errors import ConfigError, named
from neuroarena.families.brainscore.models import content
from neuroarena.families.brainscore.models.time_bins import check_bins
from neuroarena.families.brainscore.stimuli import StimulusSet
from neuroarena.fingerprint import digest

if TYPE_CHECKING:
    from PIL.Image import Image

Features = npt.NDArray[np.floating]


class FeatureSource:
    """Turns images into features of a named layer.

    Attributes
    ----------
    layers : list of str
        Names of the layers that can be recorded from.
    times : list of (start, end) or None
        In ms: the time bins of the last axis of the features; None where they have no time.
    """

    layers: list[str]
    times: TimeBins | None = None

    def batch(self, images: list[Image], layer: str) -> Features:
        """Return the features of a few images, (images, ...[, time])."""
        raise NotImplementedError

    def batch_layers(self, images: list[Image], layers: Sequence[str]) -> dict[str, Features]:
        """Return the features of several layers for a few images; in one pass, where the source can."""
        return {layer: self.batch(images, layer) for layer in layers}

    def fingerprint(self) -> str | None:
        """Hash everything the features depend on; None, which disables caching, when that cannot be known."""
        return None

    def content(self) -> dict[str, Any]:
        """Return what the features are made of, part by part; None for a part that cannot be known."""
        return {"features": self.fingerprint()}

    def check_layer(self, layer: str) -> None:
        """Refuse a layer that does not exist, and suggest the closest names."""
        if layer not in self.layers:
            import difflib

            close = difflib.get_close_matches(layer, self.layers, n=3, cutoff=0.3) or self.layers
            raise ConfigError(f'There is no layer "{layer}". Did you mean one of {named(close, 5)}?')


class CallableFeatures(FeatureSource):
    """Features computed by plain functions of a list of images.

    Parameters
    ----------
    functions : callable or mapping of layer to callable
        ``function(images) -> array (images, ...)``; a single function is the layer "output".
    times : list of (start, end), optional
        In ms, when the last axis of the features is time.
    token : str, optional
        Names the content, for functions whose behaviour cannot be determined (lambdas, closures, objects). Change it
        whenever they change. Without it such functions are not cached.

    Examples
    --------
    >>> CallableFeatures(lambda images: np.array([image.size for image in images])).layers
    ['output']
    """

    def __init__(
        self,
        functions: Callable[[list[Image]], Any] | Mapping[str, Callable[[list[Image]], Any]],
        times: TimeBins | None = None,
        token: str | None = None,
    ) -> None:
        self.functions = dict(functions) if isinstance(functions, Mapping) else {"output": functions}
        wrong = [name for name, function in self.functions.items() if not callable(function)]
        if wrong or not self.functions:
            raise ConfigError(
                f"Features need a function of images; {named(wrong) or 'nothing'} was given instead."
            )
        self.layers = list(self.functions)
        self.times = check_bins(times) or None
        self.token = token

    def batch(self, images: list[Image], layer: str) -> Features:
        """Return the features of a few images, (images, ...[, time])."""
        self.check_layer(layer)
        values = np.asarray(self.functions[layer](images))
        if values.dtype.kind != "f":
            values = values.astype(np.float32)
        return values

    def fingerprint(self) -> str | None:
        """Hash the functions, or return the token."""
        if self.token is not None:
            return f"token:{self.token}"
        parts = {name: content.of_callable(function) for name, function in self.functions.items()}
        if None in parts.values():
            return None
        return digest([sorted(parts.items()), self.times])


def layer_batches(
    source: FeatureSource, stimuli: StimulusSet, layers: Sequence[str], size: int
) -> Iterator[tuple[slice, dict[str, Features]]]:
    """Yield features one batch of stimuli at a time, as (rows, {layer: features}); images are opened with their batch.

    Raises
    ------
    ConfigError
        When the features of a batch do not have one row per image.
    """
    ids = stimuli.ids
    for start in range(0, len(ids), size):
        rows = slice(start, min(start + size, len(ids)))
        images = [stimuli.image(key) for key in ids[rows]]
        found = source.batch_layers(images, layers)
        for layer, values in found.items():
            _check_batch(source, values, layer, len(images))
        yield rows, found


def _check_batch(source: FeatureSource, values: Features, layer: str, count: int) -> None:
    if values.ndim < 2 or len(values) != count:
        raise ConfigError(
            f'The layer "{layer}" returned the shape {values.shape} for {count} images; expected one row per image.'
        )
    if source.times is not None and values.shape[-1] != len(source.times):
        raise ConfigError(
            f'The layer "{layer}" returned {values.shape[-1]} time steps, expected {len(source.times)}: '
            "one per time bin."
        )
