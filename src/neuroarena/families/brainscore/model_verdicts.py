"""Verdicts on models of vision: images and neuroids are both a sample, and a score varies with either."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.board.entries import Judged
from neuroarena.board.inference import Breaks, Inference, infer_field
from neuroarena.board.selection import Field
from neuroarena.scoring import COMBINERS, Manifest
from neuroarena.statistics import (
    MINIMUM_LEVELS,
    Draws,
    crossed_draw_intervals,
    draw_crossed_medians,
    moments_of_crossed_draws,
)
from neuroarena.statistics.moments import Moments, rescope

NOUNS = ("images", "neuroids")
NOT_KEPT = "it is not known what each image adds to the scores"


def infer_models(field: Field, manifest: Manifest, breaks: Breaks) -> Inference | None:
    """Make the verdicts on models from what each image adds to the correlation of each neuroid.

    With neuroids alone taken as a sample, equally good models are called different in 16 to 45 of 100 comparisons.

    Returns
    -------
    Inference or None
        None where the score is not one of images and neuroids or subjects. Without verdicts where it is one, and
        results do not hold what each image adds to it, or were judged on different images.
    """
    medians = COMBINERS.get(manifest.combiner).over == "medians"
    tables = [_contributions(one) for one in field.judged] if medians else []
    known = [table for table in tables if table is not None and table.index.equals(_images(tables))]
    if len(known) < len(field.judged):
        seen = medians or any(_compares_dissimilarities(one) for one in field.judged)
        return _without_images(infer_field(field, manifest, breaks)) if seen else None
    cells = {one.entry.team: table.to_numpy() for one, table in zip(field.judged, known, strict=True)}
    ceilings = {one.entry.team: _ceiling(one) for one in field.judged}
    function = COMBINERS.get(manifest.combiner).function

    def combine(medians: np.ndarray, team: Any) -> np.ndarray:
        return manifest.sign * np.asarray(function({"raw": medians, "ceiling": np.asarray(ceilings[team])}))

    points = {one.entry.team: one.score for one in field.judged}
    draws = draw_crossed_medians(cells, combine, points, nouns=NOUNS)
    random = [at for at, size in enumerate(draws.sizes) if size >= MINIMUM_LEVELS] or [0, 1]
    return Inference(
        _name_owners(moments_of_crossed_draws(draws, breaks), field.judged[0], manifest),
        crossed_draw_intervals(draws),
        " and ".join(NOUNS[at] for at in random),
        min(draws.sizes[at] for at in random),
        None,
        Draws(
            list(draws.teams),
            draws.both - draws.both.mean(axis=0) + draws.point,
            draws.point,
            min(draws.sizes),
        ),
    )


def _images(tables: list[pd.DataFrame | None]) -> pd.Index:
    return next((table.index for table in tables if table is not None), pd.Index([]))


def _compares_dissimilarities(one: Judged) -> bool:
    table = one.entry.predictions
    return table is not None and bool((table["split"] == "dissimilarities").any())


def _without_images(found: Inference) -> Inference:
    """Return an inference without verdicts: neuroids or subjects alone do not tell how a score varies over images."""
    moments = replace(rescope(found.moments, NOT_KEPT), n_levels=np.zeros_like(found.moments.n_levels))
    intervals = found.intervals.assign(low=np.nan, high=np.nan)
    return replace(found, moments=moments, intervals=intervals, noun=NOUNS[0], n_levels=0, drawn=None)


def _contributions(one: Judged) -> pd.DataFrame | None:
    """Return what each image (row) adds to each neuroid (column), averaged over the splits that hold it out."""
    table, columns = one.entry.predictions, one.entry.provenance.get("columns")
    if table is None or "contributions" not in table.columns or columns is None:
        return None
    place = {str(name): at for at, name in enumerate(columns)}
    if any(unit not in place for unit in one.units):
        return None
    values = np.stack(table["contributions"].tolist()).astype(np.float64)
    if values.shape[1] != len(columns):
        return None
    chosen = values[:, [place[unit] for unit in one.units]]
    return pd.DataFrame(chosen, index=pd.Index(table["id"].astype(str), name="image")).groupby(level=0).mean()


def _ceiling(one: Judged) -> float:
    return next((float(own[0]) for name, own in one.columns.items() if name.startswith("ceiling")), 1.0)


def _name_owners(moments: Moments, one: Judged, manifest: Manifest) -> Moments:
    """Say for which animals or subjects the verdicts hold, where too few own the neuroids."""
    owners = len(set(one.clusters))
    if manifest.cluster is None or owners >= MINIMUM_LEVELS or owners == len(one.units):
        return moments
    noun = manifest.cluster if owners == 1 else f"{manifest.cluster}s"
    scope = [f"{scope}; for {'this' if owners == 1 else 'these'} {owners} {noun}" for scope in moments.scope]
    return rescope(moments, np.array(scope, dtype=object))
