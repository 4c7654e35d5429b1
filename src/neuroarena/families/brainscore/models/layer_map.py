"""Choose which layer of a model stands for which region of the brain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import ConfigError, named
from neuroarena.families.brainscore.models.region_model import RegionModel


@dataclass(frozen=True)
class LayerChoice:
    """The layer chosen for each region, and every score the choice rests on.

    Attributes
    ----------
    region_layer_map : dict of region to layer
    scores : DataFrame
        Columns region, layer, score, error, benchmark; one row per layer that was tried.
    """

    region_layer_map: dict[str, str]
    scores: pd.DataFrame


def choose_layers(
    model: RegionModel,
    benchmarks: Mapping[str, Callable[[Any], Score]] | Sequence[Any],
    layers: Sequence[str] | None = None,
) -> LayerChoice:
    """Choose for each region the layer that scores best on a public benchmark of it.

    The benchmarks' own cross-validation guards each score; still, the best of many overestimates itself,
    so report the model on recordings other than those that chose the layer. The stimuli of a benchmark are shown once,
    for all layers together: their features are in memory at the same time, and a reduction keeps them small.

    Parameters
    ----------
    model : RegionModel
        Its own map is neither used nor changed; its reduction and cache are used.
    benchmarks : mapping of region to benchmark, or sequence of benchmarks with a `region`
        Called with the model; a higher score is better.
    layers : sequence of str, optional
        Layers to try, earlier ones win ties; all by default.

    Returns
    -------
    LayerChoice

    Raises
    ------
    ConfigError
        When there is nothing to choose from, or when a layer does not exist.
    """
    named_benchmarks = _by_region(benchmarks)
    tried = list(layers) if layers is not None else list(model.features.layers)
    if not tried or not named_benchmarks:
        raise ConfigError("Choosing layers needs at least one layer and one benchmark.")
    for layer in tried:
        model.features.check_layer(layer)
    rows = []
    search = with_layers(model, {})
    # Every layer is recorded in the one pass that the first of them takes, and held for this benchmark only.
    search._together = tried
    for region, benchmark in named_benchmarks.items():
        search._held.clear()
        for layer in tried:
            score = benchmark(with_layers(search, {region: layer}))
            rows.append(
                {
                    "region": region,
                    "layer": layer,
                    "score": float(score),
                    "error": score.error,
                    "benchmark": getattr(benchmark, "identifier", region),
                }
            )
    table = pd.DataFrame(rows)
    best = table.loc[table.groupby("region", sort=False)["score"].idxmax()]
    return LayerChoice(dict(zip(best["region"], best["layer"], strict=True)), table)


def with_layers(model: RegionModel, region_layer_map: Mapping[str, str]) -> RegionModel:
    """Return the same model with other layers for regions; features, components and cache are shared."""
    twin = RegionModel(
        model.identifier,
        model.features,
        region_layer_map,
        model.visual_degrees(),
        model.batch_size,
        model.reduction,
        model.cache if model.cache is not None else False,
        model.microsaccades,
    )
    twin._projections = model._projections
    twin._together, twin._held = model._together, model._held
    return twin


def _by_region(benchmarks: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    if isinstance(benchmarks, Mapping):
        return dict(benchmarks)
    regions = [getattr(benchmark, "region", None) for benchmark in benchmarks]
    if None in regions or len(set(regions)) != len(regions):
        raise ConfigError(
            f"Every benchmark needs a region of its own, got {named(regions)}. "
            "Pass a mapping of region to benchmark."
        )
    return dict(zip([str(region) for region in regions], benchmarks, strict=True))
