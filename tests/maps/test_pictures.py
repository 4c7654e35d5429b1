"""Pictures of maps: nothing overlaps, nothing is cut off, every colour has a bar with its unit."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from neuroarena.maps.pictures import brains, charts, flat, glass, regions
from neuroarena.maps.pictures.scale import Scale
from neuroarena.maps.pictures.surfaces import cortex, project, shown_in

RNG = np.random.default_rng(0)
XYZ = RNG.uniform([-65, -90, -30], [65, 60, 60], (40, 3))
VALUES = 0.5 + 0.15 * RNG.random(40)
COURSES = 0.5 + 0.15 * RNG.random((40, 14))
SCALE = Scale.fit(COURSES)
TITLES = [f"{start:.3f} s" for start in np.arange(14) * 0.125 - 0.375]
OF_TWO = "shared regions (share of all)"
TASKS = ["Sentence Onset", "Head Word Position", "Global Optical Flow", "GPT-2 Surprisal", "nothing"]
CENTRES = np.arange(14) * 0.125 - 0.375
PEAKS = np.array([0.0, 0.3, 0.5, 0.9, np.nan])
REGIONS = {"ctx-lh-superiortemporal": 0.6, "ctx-rh-cuneus": 0.52, "Left-Hippocampus": 0.51}


def curves() -> Any:
    means = np.stack([0.5 + 0.06 * np.exp(-(((CENTRES - peak) / 0.2) ** 2)) for peak in np.nan_to_num(PEAKS)])
    return charts.draw_curves(CENTRES, means, 0.004 + 0 * means, TASKS, [0.52] * 5, list(PEAKS), list(PEAKS))


def ranking() -> Any:
    before = np.where(np.isnan(PEAKS[:, None] + PEAKS), np.nan, PEAKS[:, None] < PEAKS).astype(float)
    return charts.draw_ranking(TASKS, PEAKS, np.c_[PEAKS - 0.1, PEAKS + 0.1], before, list(PEAKS))


def head() -> np.ndarray:
    points = RNG.normal([0, 0, 1.2], 1, (40, 3))
    return 95 * points / np.linalg.norm(points, axis=1, keepdims=True)


FIGURES: dict[str, Callable[[], Any]] = {
    "brain": lambda: brains.draw_brain(XYZ, VALUES, SCALE, VALUES > 0.6),
    "film": lambda: brains.draw_film(XYZ, COURSES, TITLES, SCALE, COURSES > 0.6),
    "glass": lambda: glass.draw_glass(XYZ, VALUES, SCALE, VALUES > 0.6),
    "published scale": lambda: brains.draw_brain(XYZ, VALUES, Scale.fit(VALUES, logarithmic=True)),
    "regions": lambda: regions.draw_regions(REGIONS, SCALE),
    "few regions and bins": lambda: regions.draw_region_bins(
        COURSES[:2], ["ctx-lh-rostralmiddlefrontal", "x"], [3, 14], np.linspace(-0.44, 1.31, 15), SCALE
    ),
    "many regions and bins": lambda: regions.draw_region_bins(
        COURSES[:34],
        [f"ctx-lh-region{row}" for row in range(34)],
        [3] * 34,
        np.linspace(-0.44, 1.31, 15),
        SCALE,
    ),
    "subject space": lambda: flat.draw_subject_space(XYZ, VALUES, SCALE, VALUES > 0.6),
    "positions alone": lambda: flat.draw_subject_space(XYZ, None, None),
    "topographies": lambda: flat.draw_topographies(head(), COURSES, TITLES, SCALE, COURSES > 0.6),
    "curves": curves,
    "ranking": ranking,
    "matrix": lambda: charts.draw_matrix(np.eye(5), TASKS, TASKS, "Pearson correlation", (-1, 1)),
    "coverage": lambda: charts.draw_matrix(
        np.full((5, 12), 3500.0), TASKS, [f"{s}_1" for s in range(12)], "items", (0, 3500), "{:.0f}"
    ),
    "two subjects": lambda: charts.draw_matrix(np.eye(2), list("12"), list("12"), OF_TWO, (0, 1)),
    "film volume": lambda: charts.draw_film_volume(
        np.linspace(0, 100, 500), RNG.random(500), 0.25, 0.75, "the-martian: volume", "volume (RMS)"
    ),
    "counts": lambda: charts.draw_counts(
        list("01234"), np.array([9000, 2, 3, 4, 5]), "faces", "words", "Faces"
    ),
}


def boxes(figure: Any) -> list[tuple[str, Any]]:
    """Return every text that is seen, with its place in pixels."""
    from matplotlib.text import Text

    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    hidden = {id(text) for axes in figure.axes for text in unseen(axes)}
    found = []
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden:
            box = text.get_window_extent(renderer)
            if box.width * box.height > 0:
                found.append((text.get_text(), box))
    return found


def unseen(axes: Any) -> list[Any]:
    """Return the texts that axes hold and do not draw: labels beyond the ends, or of axes that are off."""
    hidden = []
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.majorTicks, *axis.minorTicks):
            if not axes.axison or not low - 1e-9 <= tick.get_loc() <= high + 1e-9:
                hidden += [tick.label1, tick.label2]
        if not axes.axison:
            hidden.append(axis.label)
    return hidden


@pytest.mark.parametrize("name", FIGURES)
def test_no_text_covers_another_and_none_is_cut_off(name: str):
    figure = FIGURES[name]()
    width, height = figure.canvas.get_width_height()
    seen = boxes(figure)
    assert seen
    for text, box in seen:
        inside = box.x0 > -1 and box.y0 > -1 and box.x1 < width + 1 and box.y1 < height + 1
        assert inside, (text, box.bounds, (width, height))
    for (one, first), (two, second) in itertools.combinations(seen, 2):
        # Turned labels are longer than what they cover; their boxes say nothing.
        shared_x = min(first.x1, second.x1) - max(first.x0, second.x0)
        shared_y = min(first.y1, second.y1) - max(first.y0, second.y0)
        overlap = shared_x > 1 and shared_y > 1 and not (is_turned(one, first) or is_turned(two, second))
        assert not overlap, (one, two)


def is_turned(text: str, box: Any) -> bool:
    return len(text) > 3 and box.height > 0.5 * box.width


@pytest.mark.parametrize(
    "name", ["brain", "film", "glass", "regions", "few regions and bins", "subject space", "topographies"]
)
def test_every_colour_has_a_bar_with_its_unit(name: str):
    labels = [axes.get_ylabel() for axes in FIGURES[name]().axes]
    assert labels.count("AUROC (0.5 is chance)") == 1


def test_the_label_of_a_bar_is_no_longer_than_the_bar_beside_two_rows():
    figure = FIGURES["two subjects"]()
    bar = next(axes for axes in figure.axes if axes.get_ylabel() == OF_TWO)
    figure.canvas.draw()
    label = bar.yaxis.label.get_window_extent()
    assert label.height <= bar.get_window_extent().height


def test_what_is_written_above_a_curve_lies_on_no_band():
    flat_curve, errors = np.full((1, 14), 0.51), np.full((1, 14), 0.03)
    figure = charts.draw_curves(CENTRES, flat_curve, errors, ["x"], [0.52], [np.nan])
    figure.canvas.draw()
    text = next(each for each in figure.axes[0].texts if each.get_text() == "peak not resolved")
    top_of_band = figure.axes[0].transData.transform((0.0, 0.54))[1]
    assert text.get_window_extent().y0 > top_of_band


def test_a_bar_says_that_what_is_below_chance_has_the_lowest_colour():
    figure = FIGURES["film"]()
    tips = [axes for axes in figure.axes if axes.get_ylabel().startswith("AUROC")]
    assert tips[0]._colorbar.extend == "min"


def test_regions_over_time_are_labelled_as_asked_and_marked_where_significant():
    marks = np.zeros((2, 14), dtype=bool)
    marks[1, 3] = True
    edges = np.linspace(-0.5, 1.25, 15)
    label = "start of the window, s from the event"
    drawn = regions.draw_region_bins(COURSES[:2], ["one", "two"], [3, 14], edges, SCALE, marks, label).axes[0]
    assert drawn.get_xlabel() == label
    dots = next(line for line in drawn.lines if line.get_marker() == "o")
    assert [dots.get_xdata()[0], dots.get_ydata()[0]] == [pytest.approx(-0.0625), 1]


def test_all_panels_of_a_film_have_one_scale():
    figure = brains.draw_film(XYZ, COURSES, TITLES, SCALE)
    expected = {tuple(colour) for colour in SCALE.colours(COURSES.ravel()).round(6)}
    for axes in figure.axes:
        for drawn in axes.collections:
            if len(drawn.get_offsets()) > 1:
                assert {tuple(colour) for colour in drawn.get_facecolors().round(6)} <= expected


def test_high_and_significant_electrodes_are_drawn_last():
    values = np.array([0.9, 0.6, 0.7])
    points = np.array([[-50.0, 0, 0], [-50.0, 1, 0], [-50.0, 2, 0]])
    figure = brains.draw_brain(points, values, Scale(0.5, 0.9), np.array([False, True, False]))
    drawn = figure.axes[0].collections[0]
    assert np.asarray(drawn.get_offsets())[:, 0].tolist() == [-2.0, 0.0, -1.0]


def test_a_value_that_is_missing_is_grey_and_not_low():
    colours = Scale(0.5, 0.7).colours(np.array([np.nan, 0.5, 0.1]))
    assert len({*colours[0][:3]}) == 1
    assert (colours[1] == colours[2]).all()
    assert (colours[0] != colours[1]).any()


def test_the_front_of_the_brain_is_left_in_the_left_view_and_right_in_the_right_one():
    front = np.array([[-40.0, 60.0, 0.0]])
    assert project(front, "left", "lateral")[0][0] < 0 < project(front, "left", "medial")[0][0]
    assert (
        project(front * [-1, 1, 1], "right", "medial")[0][0]
        < 0
        < project(front * [-1, 1, 1], "right", "lateral")[0][0]
    )


def test_each_panel_shows_its_own_hemisphere_and_depth():
    points = np.array([[-60.0, 0, 0], [-5.0, 0, 0], [-20.0, 0, 0], [60.0, 0, 0]])
    assert shown_in(points, "left", "lateral").tolist() == [True, False, True, False]
    assert shown_in(points, "left", "medial").tolist() == [False, True, True, False]
    assert shown_in(points, "right", "lateral").tolist() == [False, False, False, True]


def test_contacts_of_braintreebank_lie_at_or_within_the_cortex():
    """As measured when the affines were found: the median contact is 3 mm from the pial surface."""
    from scipy.spatial import cKDTree

    from neuroarena.families.neuroprobe.localization import affine, known_contacts
    from neuroarena.maps.placement import transform

    known = known_contacts()
    points = np.concatenate([transform(affine(s), known.loc[s].to_numpy(float)) for s in range(1, 11)])
    vertices = np.concatenate([cortex(side).points for side in ("left", "right")])
    distance, _ = cKDTree(vertices).query(points)
    assert np.median(distance) == pytest.approx(3.0, abs=0.3)
    assert (distance > 10).mean() == pytest.approx(0.014, abs=0.005)


def test_the_superior_frontal_gyrus_is_in_front_of_the_paracentral_lobule():
    """The atlas as it is shipped has the left one, seen from the middle, among parietal regions."""
    found = {name: regions._corners(outline) for name, outline in regions.polygons().items()}
    assert found["superiorfrontal_left"][:, 0].max() > found["paracentral_left"][:, 0].max()
    assert found["superiorparietal_left"][:, 0].max() < found["paracentral_left"][:, 0].max()
