"""Verdicts on models of vision: images are a sample, and so are the neuroids or subjects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.board.entries import Judged
from neuroarena.board.inference import Breaks, Inference, infer_field
from neuroarena.board.selection import Field
from neuroarena.evaluation.levels import plural
from neuroarena.fingerprint import digest
from neuroarena.scoring import COMBINERS, Manifest
from neuroarena.statistics import (
    MINIMUM_LEVELS,
    CrossedDraws,
    Draws,
    cells_of_arrays,
    crossed,
    crossed_draw_intervals,
    crossed_intervals,
    draw_crossed_means,
    draw_crossed_medians,
    moments_of_crossed_draws,
    widen_draws,
)
from neuroarena.statistics.moments import Moments, rescope
from neuroarena.statistics.trees import SharedLevels

IMAGES = "images"
NOT_KEPT = "it is not known what each image adds to the scores"


def infer_models(field: Field, manifest: Manifest, breaks: Breaks) -> Inference | None:
    """Make the verdicts on models from what each image adds to the score of each neuroid or subject.

    With neuroids alone taken as a sample, equally good models are called different in 16 to 45 of 100 comparisons, and
    with subjects alone in 14 to 30.

    Returns
    -------
    Inference or None
        Without verdicts where results do not hold what each image adds to their score, or were judged on different
        images. None where the units alone are a sample: images of solution times, or the neurons of a study of
        properties, whose gratings are no sample of anything.
    """
    medians = COMBINERS.get(manifest.combiner).over == "medians"
    tables = [_contributions(one, medians) for one in field.judged]
    known = [table for table in tables if table is not None and table.index.equals(_images(tables))]
    if len(known) < len(field.judged):
        shown = medians or any(one.entry.predictions is not None for one in field.judged)
        return _without_images(infer_field(field, manifest, breaks)) if shown else None
    cells = {one.entry.team: table.to_numpy() for one, table in zip(field.judged, known, strict=True)}
    infer = _infer_medians if medians else _infer_means
    found, draws = infer(cells, field, manifest, breaks)
    return replace(
        found,
        moments=_name_owners(found.moments, field.judged[0], manifest),
        shared=_share_images(draws, found, known[0].index),
    )


def _infer_medians(
    cells: Mapping[str, np.ndarray], field: Field, manifest: Manifest, breaks: Breaks
) -> tuple[Inference, CrossedDraws]:
    """Judge medians over neuroids, by drawing images, neuroids and both."""
    ceilings = {one.entry.team: _ceiling(one) for one in field.judged}
    function = COMBINERS.get(manifest.combiner).function

    def combine(medians: np.ndarray, team: Any) -> np.ndarray:
        return manifest.sign * np.asarray(function({"raw": medians, "ceiling": np.asarray(ceilings[team])}))

    points = {one.entry.team: one.score for one in field.judged}
    draws = replace(
        draw_crossed_medians(cells, combine, points, nouns=_nouns(manifest)),
        images_per_feature=np.array([_images_per_feature(one) for one in field.judged]),
    )
    return _inference(moments_of_crossed_draws(draws, breaks), crossed_draw_intervals(draws), draws), draws


def _infer_means(
    cells: Mapping[str, np.ndarray], field: Field, manifest: Manifest, breaks: Breaks
) -> tuple[Inference, CrossedDraws]:
    """Judge means over subjects, from the means of images and of subjects."""
    points = {one.entry.team: one.score for one in field.judged}
    table = cells_of_arrays(cells, _nouns(manifest), points)
    draws = draw_crossed_means(table)
    return _inference(crossed(table, tie_break=breaks), crossed_intervals(table), draws), draws


def _inference(moments: Moments, intervals: pd.DataFrame, draws: CrossedDraws) -> Inference:
    random = [at for at, size in enumerate(draws.sizes) if size >= MINIMUM_LEVELS] or [0, 1]
    drawn = draws.both if len(random) == 2 else (draws.first, draws.second)[random[0]]
    fewest = min(draws.sizes[at] for at in random)
    shares = Draws(list(draws.teams), drawn - drawn.mean(axis=0) + draws.point, draws.point, fewest)
    # Drawing both counts the noise of the cells more than once, which widens the draws enough.
    shares = shares if len(random) == 2 else widen_draws(shares)
    noun = " and ".join(draws.nouns[at] for at in random)
    return Inference(moments, intervals, noun, fewest, None, shares)


def _share_images(draws: CrossedDraws, found: Inference, images: pd.Index) -> SharedLevels | None:
    """Return how scores vary over images, which other comparisons may share; None where images are not a sample.

    Draws of as many images are the same for every comparison, because they start from one seed.
    """
    if draws.sizes[0] < MINIMUM_LEVELS:
        return None
    se = found.intervals.loc[list(draws.teams), "se"].to_numpy()
    return SharedLevels(digest([IMAGES, images.tolist()]), draws.teams, draws.first, se)


def _nouns(manifest: Manifest) -> tuple[str, str]:
    return IMAGES, plural(manifest.unit)


def _images(tables: list[pd.DataFrame | None]) -> pd.Index:
    return next((table.index for table in tables if table is not None), pd.Index([]))


def _without_images(found: Inference) -> Inference:
    """Return an inference without verdicts: neuroids or subjects alone do not tell how a score varies over images."""
    moments = replace(rescope(found.moments, NOT_KEPT), n_levels=np.zeros_like(found.moments.n_levels))
    intervals = found.intervals.assign(low=np.nan, high=np.nan)
    return replace(found, moments=moments, intervals=intervals, noun=IMAGES, n_levels=0, drawn=None)


def _contributions(one: Judged, medians: bool) -> pd.DataFrame | None:
    """Return what each image (row) adds to each unit (column), averaged over the splits that hold it out.

    On the scale of correlations for medians, which are normalised afterwards, otherwise on that of the scores.
    """
    table, said = one.entry.predictions, one.entry.provenance.get("reported") or {}
    if table is None or "contributions" not in table.columns:
        return None
    # Results of older versions name the neuroids once.
    names = said.get("contributors", said.get("columns")) or []
    place = {str(name): at for at, name in enumerate(names)}
    if any(unit not in place for unit in one.units) or {len(row) for row in table["contributions"]} != {
        len(names)
    }:
        return None
    scale = 1.0 if medians else _scale(said)
    if scale is None:
        return None
    values = scale * np.stack(table["contributions"].tolist()).astype(np.float64)
    chosen = values[:, [place[unit] for unit in one.units]]
    return pd.DataFrame(chosen, index=pd.Index(table["id"].astype(str), name="image")).groupby(level=0).mean()


def _scale(said: Mapping[str, Any]) -> float | None:
    """Return what correlations are multiplied with to be scores; None where they are not proportional."""
    if said.get("formula") is None:
        return 1.0
    return 1.0 / float(said["ceiling"]) if said["formula"] == "ratio" else None


def _ceiling(one: Judged) -> float:
    return next((float(own[0]) for name, own in one.columns.items() if name.startswith("ceiling")), 1.0)


def _images_per_feature(one: Judged) -> float:
    """Return how many images there were for each fitted feature; 0 where a result does not say it."""
    said = one.entry.provenance.get("reported") or {}
    return float(said.get("fitted_images", 0.0)) / float(said.get("fitted_features", 1.0))


def _name_owners(moments: Moments, one: Judged, manifest: Manifest) -> Moments:
    """Name the animals or subjects for which the verdicts hold, where too few own the neuroids."""
    owners = len(set(one.clusters))
    if manifest.cluster is None or owners >= MINIMUM_LEVELS or owners == len(one.units):
        return moments
    noun = manifest.cluster if owners == 1 else f"{manifest.cluster}s"
    scope = [f"{scope}; for {'this' if owners == 1 else 'these'} {owners} {noun}" for scope in moments.scope]
    return rescope(moments, np.array(scope, dtype=object))
