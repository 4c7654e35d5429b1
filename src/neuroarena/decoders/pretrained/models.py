"""The declaration of a pretrained network: its sizes, and the name and shape of every tensor in a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from neuroarena.errors import InputError
from neuroarena.registry import Registry

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class PretrainedModel:
    """A network whose published checkpoints can be converted, found and loaded.

    A package declares one with an entry point of the group ``neuroarena.pretrained``.

    Attributes
    ----------
    name : str
        What commands, file headers and :class:`~neuroarena.decoders.pretrained.weights.Weights` call it.
    sizes : mapping of str to object
        Size name to whatever `tensors` and `network` are made from. The published one comes first.
    tensors : callable
        ``tensors(shape)`` lists the tensors of a checkpoint in the published order, with their shapes.
    network : callable
        ``network(shape)`` builds the torch module. It is called only where torch is needed.
    wrapping : pair of str, optional
        Prefixes in a fine-tuned checkpoint: of the encoder's tensors, and of a head that is left out.
    """

    name: str
    sizes: Mapping[str, Any]
    tensors: Callable[[Any], Shapes]
    network: Callable[[Any], Any]
    wrapping: tuple[str, str] | None = None

    def shape(self, size: str) -> Any:
        """Return what the network of a named size is made from.

        Raises
        ------
        InputError
            When the model has no such size.
        """
        if size not in self.sizes:
            raise InputError(
                f'{self.name}: there is no size "{size}". Expected one of {", ".join(self.sizes)}.'
            )
        return self.sizes[size]

    def guess_size(self, found: Shapes) -> str:
        """Name the size that the tensors of a checkpoint come closest to.

        The size under which most tensors have their expected name and shape; the published one where
        none fits at all, so that missing tensors are named after it.
        """

        def count_unlike(size: str) -> int:
            return len(set(self.tensors(self.sizes[size]).items()) ^ set(found.items()))

        return min(self.sizes, key=count_unlike) if found else next(iter(self.sizes))

    def check_tensors(self, size: str, found: Shapes, name: str) -> None:
        """Check the names and shapes of a checkpoint's tensors.

        Raises
        ------
        InputError
            Naming `name` (the file) and every missing, misshapen and unexpected tensor (a few of each).
        """
        expected = self.tensors(self.shape(size))
        misshapen = [
            f"{key} (expected {wanted}, got {found[key]})"
            for key, wanted in expected.items()
            if key in found and found[key] != wanted
        ]
        kinds = {
            "missing": [key for key in expected if key not in found],
            "misshapen": misshapen,
            "unexpected": [key for key in found if key not in expected],
        }
        problems = [f"{kind}: {_list_some(items)}" for kind, items in kinds.items() if items]
        if problems:
            raise InputError(
                f"{name}: not the weights of {self.name} ({size}, {len(expected)} tensors). {'; '.join(problems)}. "
                "Pass the complete file that its authors published."
            )


PRETRAINED: Registry[PretrainedModel] = Registry("encoder", "neuroarena.pretrained")


def find_model(name: str) -> PretrainedModel:
    """Return a pretrained model by its name.

    Raises
    ------
    InputError
        When there is no such model; the message lists the known names.

    Examples
    --------
    >>> find_model("brainbert").shape("large").layers
    6
    """
    if name not in PRETRAINED.names():
        raise InputError(f'There is no encoder "{name}". Expected one of {", ".join(PRETRAINED.names())}.')
    return PRETRAINED.get(name)


def linear_shapes(name: str, outputs: int, inputs: int) -> Shapes:
    """List the tensors of a dense layer.

    Examples
    --------
    >>> linear_shapes("head", 2, 3)
    {'head.weight': (2, 3), 'head.bias': (2,)}
    """
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def norm_shapes(name: str, width: int) -> Shapes:
    """List the tensors of a normalisation."""
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}


def _list_some(items: list[str], most: int = 5) -> str:
    rest = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + rest
