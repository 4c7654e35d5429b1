"""Features of any torch module, by the name of a layer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from neuroarena.errors import MissingDependency
from neuroarena.families.brainscore.assemblies import TimeBins
from neuroarena.families.brainscore.errors import ConfigError, named
from neuroarena.families.brainscore.models import content
from neuroarena.families.brainscore.models.features import Features, FeatureSource
from neuroarena.families.brainscore.models.preprocessing import ImagePreprocessing
from neuroarena.families.brainscore.models.time_bins import check_bins
from neuroarena.fingerprint import digest

if TYPE_CHECKING:
    from PIL.Image import Image


class TorchFeatures(FeatureSource):
    """Outputs of the layers of a torch module, taken by hooks while it runs.

    Parameters
    ----------
    module : torch.nn.Module
        The network; it is run in evaluation mode without gradients and left in the mode it was in.
    preprocessing : callable, optional
        ``preprocessing(image) -> array or tensor (channels, height, width)``; by default 224 pixels and the mean and
        deviation of ImageNet.
    times : list of (start, end), optional
        In ms, for recurrent networks: a layer is run once for each of these time bins in one pass.
    device : str
        Device to run on.
    token : str, optional
        Names the preprocessing when its behaviour cannot be determined (a lambda, a transform object). Change it when
        the preprocessing changes; without it such features are not cached.

    Raises
    ------
    MissingDependency
        When torch is not installed.
    ConfigError
        When `module` is not a torch module.
    """

    def __init__(
        self,
        module: Any,
        preprocessing: Callable[[Image], Any] | None = None,
        times: TimeBins | None = None,
        device: str = "cpu",
        token: str | None = None,
    ) -> None:
        torch = _torch()
        if not isinstance(module, torch.nn.Module):
            raise ConfigError(f"Expected a torch.nn.Module, got a {type(module).__name__}.")
        self.module = module.to(device)
        self.preprocessing = preprocessing if preprocessing is not None else ImagePreprocessing()
        self.times = check_bins(times) or None
        self.device = device
        self.token = token
        self.layers = [name for name, _ in module.named_modules() if name]

    def batch(self, images: list[Image], layer: str) -> Features:
        """Return the outputs of a layer for a few images, float32 (images, ...[, time])."""
        return self.batch_layers(images, [layer])[layer]

    def batch_layers(self, images: list[Image], layers: Sequence[str]) -> dict[str, Features]:
        """Return the outputs of several layers for a few images, in one pass."""
        taken = self._run(images, layers)
        return {layer: self._joined(taken[layer], layer) for layer in layers}

    def order_of(self, image: Image, layers: Sequence[str]) -> list[str]:
        """Return those of the layers that run once for an image and return a tensor, in the order they run."""
        torch = _torch()
        finished: list[str] = []
        hooks = [
            self.module.get_submodule(layer).register_forward_hook(
                lambda _module, _inputs, output, layer=layer: finished.append(
                    layer if isinstance(output, torch.Tensor) and output.ndim > 1 else f"not {layer}"
                )
            )
            for layer in layers
        ]
        self._pass([image], hooks)
        return [layer for layer in finished if finished.count(layer) == 1 and layer in set(layers)]

    def prepare(self, images: list[Image]) -> Any:
        """Return a few images as the network takes them, (images, channels, height, width)."""
        return np.stack([np.asarray(self.preprocessing(image), dtype=np.float32) for image in images])

    def _run(self, images: list[Image], layers: Sequence[str]) -> dict[str, list[Any]]:
        taken: dict[str, list[Any]] = {layer: [] for layer in layers}
        hooks = []
        for layer in taken:
            self.check_layer(layer)
            hooks.append(
                self.module.get_submodule(layer).register_forward_hook(
                    lambda _module, _inputs, output, layer=layer: taken[layer].append(_tensor(output, layer))
                )
            )
        self._pass(images, hooks)
        return taken

    def _pass(self, images: list[Image], hooks: list[Any]) -> None:
        """Show images to the network, and remove the hooks whatever happens."""
        torch = _torch()
        try:
            with torch.no_grad(), evaluating(self.module):
                self.module(torch.as_tensor(self.prepare(images)).to(self.device))
        finally:
            for hook in hooks:
                hook.remove()

    def _joined(self, taken: list[Any], layer: str) -> Features:
        """Return the one output of a layer, or its outputs over time on a last axis."""
        if not taken:
            raise ConfigError(
                f'The layer "{layer}" does not run when the network looks at an image. Choose another.'
            )
        if self.times is None and len(taken) > 1:
            raise ConfigError(
                f'The layer "{layer}" runs {len(taken)} times in one pass. '
                "Pass their time bins: times=[(start, end), ...] in ms."
            )
        arrays = [np.asarray(each.float().cpu().numpy()) for each in taken]
        return arrays[0] if self.times is None else np.stack(arrays, axis=-1)

    def fingerprint(self) -> str | None:
        """Hash weights, code and preprocessing; None when one of them cannot be hashed."""
        network, prepared = content.of_module(self.module), self._prepared()
        if network is None or prepared is None:
            return None
        return digest([network, prepared, self.times])

    def content(self) -> dict[str, Any]:
        """Return the hashes of weights, of the network with its code, and of the preprocessing."""
        return {
            "weights": content.of_weights(self.module),
            "network": content.of_module(self.module),
            "preprocessing": self._prepared(),
            "times": [list(each) for each in self.times or ()],
        }

    def _prepared(self) -> str | None:
        return f"token:{self.token}" if self.token else content.of_callable(self.preprocessing)

    def check_layer(self, layer: str) -> None:
        """Refuse a layer that does not exist, and name the wrong part of its path."""
        if layer in self.layers:
            return
        known, parent = self.module, ""
        for part in layer.split("."):
            children = dict(known.named_children())
            if part not in children:
                where = f'"{parent}"' if parent else "the network"
                raise ConfigError(
                    f'There is no layer "{layer}": {where} has no part "{part}"; it has {named(children, 8) or "none"}.'
                )
            known, parent = children[part], f"{parent}.{part}" if parent else part


@contextlib.contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """Put a module into evaluation mode, and afterwards restore the mode of each of its parts."""
    modes = {part: part.training for part in module.modules()}
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes.items():
            part.training = mode


def _tensor(output: Any, layer: str) -> Any:
    """Return the tensor of a layer's output; of several, the first."""
    torch = _torch()
    first = output[0] if isinstance(output, list | tuple) and output else output
    if not isinstance(first, torch.Tensor):
        raise ConfigError(f'The layer "{layer}" returns a {type(output).__name__}, expected a tensor.')
    # A copy: an in-place rectification would change the output after it was taken.
    return first.detach().clone()


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise MissingDependency("torch", "torch", "Recording from a torch module") from None
    return torch
