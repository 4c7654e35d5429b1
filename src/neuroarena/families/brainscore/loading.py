"""Load things by name, and score a model on a benchmark."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from neuroarena import __version__
from neuroarena.families.brainscore.assemblies import (
    NeuralAssembly,
    PropertyAssembly,
    assembly_digest,
    flat,
)
from neuroarena.families.brainscore.brain_model import BrainModel, check_model, model_name
from neuroarena.families.brainscore.brain_score import Score, as_score
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError
from neuroarena.families.brainscore.registries import (
    FactoryRegistry,
    benchmark_registry,
    ceiling_registry,
    data_registry,
    metric_registry,
    model_registry,
    stimulus_set_registry,
)
from neuroarena.families.brainscore.stimuli import StimulusSet


def _made(registry: FactoryRegistry, name: Any, *arguments: Any, **options: Any) -> Any:
    """Call the factory of a name, or report which options it takes; errors raised within a factory pass through."""
    if not isinstance(name, str):
        raise ConfigError(f"A {registry.kind} is loaded by its name, got {name!r}.")
    factory = registry.get(name)
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):
        # Some builtins do not expose their signature.
        return factory(*arguments, **options)
    try:
        signature.bind(*arguments, **options)
    except TypeError as error:
        takes = ", ".join(signature.parameters) or "no options"
        raise ConfigError(
            f'The {registry.kind} "{name}" cannot be made like this: {error}. It takes {takes}.'
        ) from error
    return factory(*arguments, **options)


def load_benchmark(benchmark: Any, *arguments: Any, **options: Any) -> Any:
    """Load a benchmark by its name; a benchmark itself is returned unchanged.

    Names of other families (``neuroprobe/onset``) are loaded as :func:`neuroarena.load_benchmark` does.

    Raises
    ------
    UnknownName
        With the closest names.
    ConfigError
        When the benchmark's own name differs from the registered one.
    """
    if not isinstance(benchmark, str):
        return benchmark
    if "/" in benchmark and benchmark not in benchmark_registry:
        from neuroarena.benchmarks import load_benchmark as load_other

        return load_other(benchmark, *arguments, **options)
    loaded = _made(benchmark_registry, benchmark, *arguments, **options)
    own = getattr(loaded, "identifier", None)
    if not callable(loaded) or own is None:
        raise ConfigError(
            f'"{benchmark}" is registered with a factory that makes a {type(loaded).__name__}, not a benchmark.'
        )
    if own != benchmark and ":" not in benchmark:
        raise ConfigError(
            f'The benchmark registered as "{benchmark}" calls itself "{own}". Use one name for both.'
        )
    return loaded


def load_dataset(name: str, **options: Any) -> xr.DataArray:
    """Load an assembly by its name: presentation x neuroid [x time_bin], or neuroid x neuronal_property."""
    array = flat(_made(data_registry, name, **options))
    checked: NeuralAssembly | PropertyAssembly
    checked = PropertyAssembly(array) if "neuronal_property" in array.dims else NeuralAssembly(array)
    return checked.array


def load_stimulus_set(name: str, **options: Any) -> StimulusSet:
    """Load a stimulus set by its name."""
    loaded = _made(stimulus_set_registry, name, **options)
    if not isinstance(loaded, StimulusSet):
        raise ConfigError(
            f'"{name}" is registered with a factory that makes a {type(loaded).__name__}, not a StimulusSet.'
        )
    return loaded


def load_metric(metric: Any, *arguments: Any, **options: Any) -> Any:
    """Load a metric by its name, with its options; a metric itself is returned unchanged.

    Ceilings answer to their names too, as in the public package, where they are metrics.
    """
    if not isinstance(metric, str):
        return metric
    other = metric not in metric_registry and metric in ceiling_registry
    return _made(ceiling_registry if other else metric_registry, metric, *arguments, **options)


def load_ceiling(ceiling: Any, *arguments: Any, **options: Any) -> Any:
    """Load a ceiling by its name, with its options; a ceiling itself is returned unchanged."""
    return _made(ceiling_registry, ceiling, *arguments, **options) if isinstance(ceiling, str) else ceiling


def load_model(model: Any, *arguments: Any, **options: Any) -> BrainModel:
    """Load a model by its name; a model itself is returned unchanged.

    ``torchvision/resnet18`` and ``timm/resnet18`` are architectures of those libraries, untrained; ``@FILE`` after the
    name is the file of their weights.

    Raises
    ------
    UnknownName
        With the closest names.
    ConfigError
        When it cannot be recorded from.
    """
    if isinstance(model, str) and model not in model_registry:
        from neuroarena.families.brainscore.models.architectures import is_architecture, load_architecture

        if is_architecture(model):
            return load_architecture(model, *arguments, **options)
    loaded = _made(model_registry, model, *arguments, **options) if isinstance(model, str) else model
    return check_model(loaded)


def score(model: Any, benchmark: Any) -> Score:
    """Score a model on a benchmark; each is a name or the thing itself.

    Returns
    -------
    Score
        ``attrs`` name the model, the benchmark and, where the model names them, the layers it was recorded from;
        ``provenance`` adds versions, the seed of the metric and hashes of the recordings.

    Raises
    ------
    DataQualityError
        When the benchmark returns NaN or infinity.
    """
    candidate, asked = load_model(model), load_benchmark(benchmark)
    if not callable(asked) or not hasattr(asked, "ceiling"):
        raise ConfigError(
            f"A {type(asked).__name__} cannot be called with a model. Expected a Brain-Score benchmark."
        )
    result = as_score(asked(candidate))
    if not math.isfinite(result.value):
        raise DataQualityError(
            f'{asked.identifier}: the score of the model "{model_name(candidate)}" is {result.value}, expected a '
            "finite number. Look for NaN, constant responses or a ceiling of zero in the benchmark."
        )
    result.attrs["model_identifier"] = model_name(candidate)
    result.attrs["benchmark_identifier"] = asked.identifier
    layers = getattr(candidate, "region_layer_map", None)
    if isinstance(layers, Mapping) and layers:
        result.attrs["comment"] = f"layers: {dict(layers)}"
    result.provenance.update(
        {
            "model": model_name(candidate),
            "benchmark": asked.identifier,
            "benchmark_version": asked.version,
            "versions": {"neuroarena": __version__, "numpy": np.__version__, "xarray": xr.__version__},
            "seed": _seed(asked),
            "simulated": bool(getattr(asked, "simulated", False)),
            "data": data_digests(asked),
        }
    )
    return result


def _seed(benchmark: Any) -> int | None:
    """Find the seed of the splits or draws of a benchmark's metric, where it has one."""
    metric = getattr(benchmark, "_similarity_metric", None)
    plan = getattr(metric, "cross_validation", None)
    found = getattr(plan, "random_state", getattr(metric, "seed", None))
    return found if isinstance(found, int) else None


def data_digests(benchmark: Any) -> dict[str, str]:
    """Return the SHA-256 of every assembly of a benchmark, by the name of its attribute."""
    return {
        name: assembly_digest(getattr(benchmark, name))
        for name in ("assembly", "train_assembly", "test_assembly")
        if isinstance(getattr(benchmark, name, None), xr.DataArray)
    }
