"""What a decoder is, as data: its parameters and a fingerprint of the code that gives them meaning."""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import inspect
from typing import Any

from neuroarena.decoders import Decoder
from neuroarena.features import FeatureChain
from neuroarena.fingerprint import code_fingerprint, digest

# A new release of any of these may move the last digits of a prediction.
LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch")


@dataclasses.dataclass(frozen=True)
class Identity:
    """A decoder's type, parameters and code; `key` is None when it cannot be told apart from another.

    A decoder without a key is evaluated, but none of its results are kept in the cache.
    """

    type: str
    parameters: dict[str, Any]
    code: str | None
    reason: str | None = None

    @functools.cached_property
    def key(self) -> str | None:
        """SHA-256 over all of it, with the versions of the libraries beneath."""
        if self.code is None:
            return None
        return digest([self.type, self.parameters, self.code, library_versions()])


def identify(decoder: Decoder) -> Identity:
    """Describe a decoder so that equal descriptions mean equal predictions."""
    kind = _type_name(type(decoder))
    try:
        parameters = {name: _plain(value) for name, value in sorted(_own_values(decoder).items())}
        return Identity(kind, parameters, code_fingerprint(type(decoder)))
    except (TypeError, ValueError) as error:
        return Identity(kind, {}, None, str(error))


@functools.cache
def library_versions() -> dict[str, str]:
    """Return the versions of the numerical libraries that are installed."""
    versions = {}
    for library in LIBRARIES:
        try:
            versions[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _type_name(kind: type) -> str:
    module = "__main__" if kind.__module__ == "__mp_main__" else kind.__module__
    return f"{module}.{kind.__qualname__}"


def _own_values(thing: Any) -> dict[str, Any]:
    """Return the attributes that were set from outside; by convention, learned ones end in an underscore."""
    if hasattr(thing, "__dict__"):
        return {name: value for name, value in vars(thing).items() if not name.endswith("_")}
    return {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}


def _plain(value: Any) -> Any:
    """Turn a parameter into JSON, or raise TypeError when it has no plain form."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, FeatureChain):
        return {"features": value.parameters(), "code": value.fingerprint()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in sorted(value.items())}
    if inspect.isclass(value) or inspect.isroutine(value):
        if "<" in value.__qualname__:
            raise TypeError(
                f"{value.__qualname__} is a local function, which cannot be told from another of its name"
            )
        return {"callable": f"{value.__module__}.{value.__qualname__}", "code": code_fingerprint(value)}
    if hasattr(value, "get_params"):
        return {"estimator": _type_name(type(value)), "parameters": _plain(value.get_params(deep=False))}
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return value.item()
    if dataclasses.is_dataclass(value):
        return {
            "type": _type_name(type(value)),
            "values": _plain(_own_values(value)),
            "code": code_fingerprint(value),
        }
    raise TypeError(f"a parameter of type {_type_name(type(value))} has no plain form")
