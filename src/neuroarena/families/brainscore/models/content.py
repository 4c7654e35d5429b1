"""Hash what a model is: its weights, its code and its settings, never its name."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import sys
from typing import Any

import numpy as np

from neuroarena.fingerprint import code_fingerprint, digest

# Their code is named by class and version, not read.
KNOWN_PACKAGES = ("torch", "torchvision", "timm")
PLAIN = (bool, int, float, str, type(None))


def describe_content(model: Any) -> dict[str, Any]:
    """Return what a model is, part by part: weights, code, preprocessing and choice of layers, never its name.

    A model of one's own may say it itself: a method ``content()`` that returns plain values, None for a part that
    cannot be known. Without one, nothing is known.
    """
    own = getattr(model, "content", None)
    found = own() if callable(own) else {"code": None}
    return {str(name): value for name, value in found.items()}


def of_callable(thing: Any) -> str | None:
    """Hash a function or a dataclass that can be called; None when its behaviour cannot be determined.

    A lambda, a closure, a bound method or an object with state of its own is anonymous: two of them may look alike
    and behave differently.

    Examples
    --------
    >>> of_callable(lambda image: image) is None
    True
    """
    if isinstance(thing, functools.partial):
        function = of_callable(thing.func)
        try:
            return None if function is None else digest([function, list(thing.args), thing.keywords])
        except (TypeError, ValueError):  # an argument without a plain form
            return None
    try:
        if dataclasses.is_dataclass(thing) and not isinstance(thing, type) and _has_name(type(thing)):
            settings = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
            return digest([type(thing).__qualname__, code_fingerprint(thing), settings])
        if inspect.isfunction(thing) and thing.__closure__ is None and _has_name(thing):
            return digest([thing.__qualname__, code_fingerprint(thing)])
    except (ValueError, TypeError, OSError):  # no source to read, or a setting without a plain form
        return None
    return None


def of_module(module: Any) -> str | None:
    """Hash a torch module: architecture, every weight and buffer, plain attributes, and code that is not torch's.

    Returns
    -------
    str or None
        None when something in it cannot be hashed: a hook, an attribute that is a function or an object, or a class
        typed at a prompt.
    """
    import torch

    parts: list[Any] = [torch.__version__, _versions(module), str(module)]
    for name, each in module.named_modules():
        if each._forward_hooks or each._forward_pre_hooks:
            return None
        code = _code(type(each))
        attributes = _attributes(each)
        if code is None or attributes is None:
            return None
        parts.append([name, code, attributes])
    return digest([*parts, of_weights(module)])


def of_weights(module: Any) -> str:
    """Hash every weight and buffer of a torch module, by name."""
    tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return digest([[name, of_tensor(tensors[name])] for name in sorted(tensors)])


def of_array(values: np.ndarray) -> str:
    """Hash the shape, type and numbers of an array."""
    hashed = hashlib.sha256(repr((values.shape, str(values.dtype))).encode())
    hashed.update(np.ascontiguousarray(values).tobytes())
    return hashed.hexdigest()


def of_tensor(tensor: Any) -> str:
    """Hash the shape, type and bytes of a torch tensor, including types that NumPy does not know."""
    import torch

    raw = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return digest([list(tensor.shape), str(tensor.dtype), of_array(raw)])


def _versions(module: Any) -> dict[str, str]:
    """Return the versions of the packages other than torch whose classes a module is made of."""
    names = {type(each).__module__.split(".")[0] for each in module.modules()} & set(KNOWN_PACKAGES[1:])
    return {name: str(getattr(sys.modules.get(name), "__version__", "")) for name in sorted(names)}


def _has_name(thing: Any) -> bool:
    """Return whether a function or class is at module level; one made inside a function may differ each time."""
    return "<" not in thing.__qualname__


def _code(kind: type) -> str | None:
    if kind.__module__.split(".")[0] in KNOWN_PACKAGES:
        return f"{kind.__module__}.{kind.__qualname__}"
    if not _has_name(kind):
        return None
    try:
        return digest([kind.__qualname__, code_fingerprint(kind)])
    except (ValueError, OSError):
        return None


def _attributes(module: Any) -> dict[str, Any] | None:
    """Return the attributes that may change what a module does; None when one has no plain form."""
    import torch

    found: dict[str, Any] = {}
    own = set(vars(torch.nn.Module()))
    for name, value in vars(module).items():
        if name in own or isinstance(value, torch.nn.Module):
            continue
        plain = _plain(value)
        if plain is None:
            return None
        found[name] = plain
    return found


def _plain(value: Any) -> list[Any] | None:
    """Return a value in a form that can be hashed, or None."""
    import torch

    if isinstance(value, PLAIN):
        return ["plain", repr(value)]
    if isinstance(value, torch.Tensor):
        return ["tensor", of_tensor(value)]
    if isinstance(value, np.ndarray) and value.dtype != object:
        return ["array", of_array(value)]
    if isinstance(value, torch.dtype | torch.device):
        return ["torch", str(value)]
    if isinstance(value, list | tuple | set | frozenset):
        parts = [_plain(each) for each in value]
        return None if None in parts else ["several", parts]
    if isinstance(value, dict):
        pairs = [[repr(key), _plain(each)] for key, each in value.items()]
        return None if any(pair[1] is None for pair in pairs) else ["mapping", pairs]
    if isinstance(value, functools.partial):
        parts = [_plain(value.func), _plain(value.args), _plain(value.keywords)]
        return None if None in parts else ["partial", parts]
    if isinstance(value, type) and value.__module__.split(".")[0] in KNOWN_PACKAGES:
        return ["class", f"{value.__module__}.{value.__qualname__}"]
    if inspect.isroutine(value) and (getattr(value, "__module__", None) or "").startswith("torch"):
        return ["torch", value.__qualname__]
    function = of_callable(value)
    return None if function is None else ["function", function]
