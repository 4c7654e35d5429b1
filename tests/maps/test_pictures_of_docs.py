"""The pictures of the documentation are what one command draws."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_on_maps_shows_the_pictures_that_the_command_draws():
    shown = runpy.run_path(str(ROOT / "tools" / "pictures.py"))["SHOWN"].values()
    used = re.findall(r"images/(maps-[\w-]+)\.png", (ROOT / "docs" / "maps.md").read_text(encoding="utf-8"))
    assert (
        sorted(shown) == sorted(used) == sorted(path.stem for path in (ROOT / "docs/images").glob("maps-*"))
    )


@pytest.mark.drill
def test_the_pictures_of_the_docs_are_those_that_are_drawn_today(tmp_path: Path):
    from matplotlib.image import imread

    for path in runpy.run_path(str(ROOT / "tools" / "pictures.py"))["draw"](tmp_path):
        kept, drawn = imread(ROOT / "docs" / "images" / path.name), imread(path)
        assert kept.shape == drawn.shape, path.name
        # Letters may be drawn a little differently by another version of matplotlib.
        assert np.abs(kept - drawn).mean() < 0.01, path.name
