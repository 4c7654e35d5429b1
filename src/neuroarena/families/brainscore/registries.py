"""Names of benchmarks, datasets, stimulus sets, metrics, ceilings and models, and where they come from."""

from __future__ import annotations

import difflib
import importlib
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from neuroarena.errors import UnknownName
from neuroarena.families.brainscore.errors import ConfigError
from neuroarena.registry import Registry

Factory = Callable[..., Any]
# What the command line lists, by kind.
_LISTED = {"model": "decoders", "benchmark": "benchmarks brainscore"}

_HOME = "neuroarena.families.brainscore"


class FactoryRegistry(Registry[Factory]):
    """Factories by name: ``registry["Name"] = factory``, ``@registry.register("Name")``, entry points, plugin folders.

    A factory is called without arguments, those of metrics and ceilings with options, when its name is loaded.

    Parameters
    ----------
    kind : str
        The word used in errors: "benchmark", "metric", ...
    address : str
        ``module:attribute`` of the mapping name -> factory that ships with neuroarena; imported on first use.
    replaceable : bool
        Whether a name that ships with neuroarena may be registered again. Published benchmarks, data and stimuli may:
        code that follows a tutorial registers them with data of its own. A warning reports it.

    Examples
    --------
    >>> shapes = FactoryRegistry("shape", "neuroarena.families.brainscore.definitions:BENCHMARK_FACTORIES")
    >>> shapes["circle"] = lambda: "round"
    >>> shapes.get("circle")()
    'round'
    """

    def __init__(self, kind: str, address: str, replaceable: bool = False) -> None:
        super().__init__(kind, f"neuroarena.brainscore.{kind.replace(' ', '_')}s", {})
        self._address = address
        self._replaceable = replaceable

    def register(self, name: str) -> Callable[[Factory], Factory]:
        """Register the decorated factory under `name`."""

        def keep(factory: Factory) -> Factory:
            self[name] = factory
            return factory

        return keep

    def __setitem__(self, name: str, factory: Factory) -> None:
        """Register a factory.

        Raises
        ------
        ConfigError
            When another file has registered the name, or when it is not a factory. A file that is run again, as a cell
            of a notebook is, may register its own names again.
        """
        if not isinstance(name, str) or not name.strip():
            raise ConfigError(f"A {self.kind} is registered under a name, got {name!r}.")
        if not callable(factory):
            raise ConfigError(
                f'The {self.kind} "{name}" is registered as a {type(factory).__name__}, expected a function or class '
                "that makes it: lambda: ..."
            )
        earlier = self._registered.get(name)
        brought = earlier is None and name in self._brought()
        if (brought and not self._replaceable) or (
            earlier is not None and _source(earlier) != _source(factory)
        ):
            where = _source(earlier) if earlier is not None else "neuroarena"
            raise ConfigError(f'There is already a {self.kind} "{name}", from {where}. Choose another name.')
        if brought:
            warnings.warn(
                f'The {self.kind} "{name}" from {_source(factory)} replaces the one from neuroarena.',
                stacklevel=2,
            )
        self._registered[name] = factory

    def __getitem__(self, name: str) -> Factory:
        return self.get(name)

    def __delitem__(self, name: str) -> None:
        if name not in self._registered:
            raise self._unknown(name)
        del self._registered[name]

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def names(self) -> list[str]:
        """List every known name, sorted; this imports the plugin folders."""
        from neuroarena.families.brainscore.plugins import import_plugins

        import_plugins()
        return sorted({*self._registered, *self._brought(), *self._entry_points()})

    def origin(self, name: str) -> str:
        """Return where a name comes from."""
        if name in self._registered:
            return _source(self._registered[name])
        return "neuroarena" if name in self._brought() else super().origin(name)

    def get(self, name: str) -> Factory:
        """Return the factory of a name; a name with a colon is itself an address.

        Raises
        ------
        UnknownName
            With the closest names, and with the plugin folders that could not be imported.
        """
        if name not in self._registered and name not in self._brought():
            from neuroarena.families.brainscore.plugins import import_plugins

            import_plugins()
        if name in self._registered:
            return self._registered[name]
        if name in self._brought():
            found = self._brought()[name]
            return self._load(name, found) if isinstance(found, str) else found
        points = self._entry_points()
        if name in points:
            return self._load(name, points[name].value)
        if ":" in name:
            return self._load(name, name)
        raise self._unknown(name)

    def _brought(self) -> Mapping[str, str | Factory]:
        module, _, attribute = self._address.partition(":")
        brought: Mapping[str, str | Factory] = getattr(importlib.import_module(module), attribute)
        return brought

    def _unknown(self, name: str) -> UnknownName:
        from neuroarena.families.brainscore.plugins import broken_plugins

        module, _, _ = self._address.partition(":")
        instead = getattr(importlib.import_module(module), "NOT_OFFERED", {}).get(name)
        if instead is not None:
            return UnknownName(f'The {self.kind} "{name}" is not offered. {instead}{self._listed()}')
        if self.kind == "model" and name in _signal_decoders():
            return UnknownName(
                f'"{name}" is a decoder of signals, not a model that is shown stimuli. Models are '
                f"{', '.join(sorted(self.names()))}, or your own as module:attribute.{self._listed()}"
            )
        close = difflib.get_close_matches(name, self.names(), n=3, cutoff=0.5)
        hint = f" Did you mean {' or '.join(chr(34) + match + chr(34) for match in close)}?" if close else ""
        broken = "".join(
            f" The plugin {folder} could not be imported: {why}." for folder, why in broken_plugins().items()
        )
        return UnknownName(
            f'No {self.kind} "{name}" to compare models with brains.{hint}{broken}{self._listed()}'
        )

    def _listed(self) -> str:
        """Return a hint on how to list the names of a registry of this module; other registries get none."""
        if self.kind in _LISTED:
            return f" See: neuroarena list {_LISTED[self.kind]}"
        mine = [name for name, found in globals().items() if found is self]
        return f" See: from {__name__} import {mine[0]}; {mine[0]}.names()" if mine else ""


def _signal_decoders() -> list[str]:
    from neuroarena.decoders import DECODERS

    return DECODERS.names()


def _source(factory: Factory) -> str:
    """Return the file a factory comes from, or its module where there is no file."""
    code = getattr(factory, "__code__", None)
    if code is not None:
        return str(code.co_filename)
    module = getattr(factory, "__module__", None) or type(factory).__module__
    return str(getattr(sys.modules.get(module), "__file__", None) or module)


benchmark_registry = FactoryRegistry(
    "benchmark", f"{_HOME}.definitions:BENCHMARK_FACTORIES", replaceable=True
)
data_registry = FactoryRegistry("dataset", f"{_HOME}.definitions:DATASET_FACTORIES", replaceable=True)
stimulus_set_registry = FactoryRegistry(
    "stimulus set", f"{_HOME}.definitions:STIMULUS_SET_FACTORIES", replaceable=True
)
metric_registry = FactoryRegistry("metric", f"{_HOME}.metrics:METRIC_FACTORIES")
ceiling_registry = FactoryRegistry("ceiling", f"{_HOME}.ceilings:CEILING_FACTORIES")
model_registry = FactoryRegistry("model", f"{_HOME}.definitions:MODEL_FACTORIES")
