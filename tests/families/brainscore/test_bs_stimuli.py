"""Stimulus sets, and images on a model's screen, pixel by pixel."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tiny_recordings import recordings, stimuli

from neuroarena.families.brainscore import place_on_screen
from neuroarena.families.brainscore.errors import ConfigError
from neuroarena.families.brainscore.screen import place_image
from neuroarena.families.brainscore.stimuli import StimulusSet, stimuli_from_paths


def noise(width: int, height: int, mode: str = "RGB") -> Image.Image:
    channels = len(Image.new(mode, (1, 1)).getbands())
    pixels = np.random.default_rng(1).integers(0, 256, (height, width, channels), dtype=np.uint8)
    return Image.fromarray(pixels.squeeze() if channels == 1 else pixels, mode=None)


@pytest.fixture
def files(tmp_path):
    paths = {}
    for name in ("a", "b"):
        paths[name] = tmp_path / f"{name}.png"
        noise(12, 8).save(paths[name])
    return StimulusSet(pd.DataFrame({"image_id": ["a", "b"], "degrees": [8, 4]}), paths, "files")


def test_a_set_gives_ids_columns_files_and_images(files):
    assert files.ids == list(files) == ["a", "b"]
    assert len(files) == 2
    assert files["degrees"].tolist() == [8, 4]
    assert files.get_stimulus("a").name == files.stimulus_paths["a"].name == "a.png"
    assert files.image("b").size == (12, 8)
    assert files.select(["b"]).ids == ["b"]
    assert files.select(["b"]).identifier == "files"


def test_a_set_in_the_attributes_of_an_array_stays_small():
    array = recordings()
    assert "StimulusSet('tiny', 60 stimuli)" in repr(array)
    assert array.copy(deep=True).stimulus_set is array.stimulus_set


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: StimulusSet(pd.DataFrame({"name": ["a"]})), 'column "stimulus_id" is missing'),
        (
            lambda: StimulusSet(pd.DataFrame({"stimulus_id": ["a", "a"]}), {"a": "x"}),
            '"a" occurs more than once',
        ),
        (
            lambda: StimulusSet(pd.DataFrame({"stimulus_id": ["a", None]}), {"a": "x"}),
            "row 1 has no stimulus_id",
        ),
        (lambda: StimulusSet(pd.DataFrame({"stimulus_id": ["a", "b"]}), images={"a": 0}), '"b" have neither'),
        (
            lambda: StimulusSet(pd.DataFrame({"stimulus_id": ["a"]}), {"a": "gone.png"}, "X"),
            r'"X": the files "gone\.png" do',
        ),
        (lambda: stimuli().get_stimulus("im000"), "is held in memory"),
        (lambda: stimuli().image("nobody"), 'no stimulus "nobody"'),
        (lambda: stimuli().select(["im000", "nobody"]), 'no stimulus "nobody"'),
        (lambda: stimuli()["colour"], 'no column "colour"'),
    ],
)
def test_what_a_set_lacks_is_named(make, said):
    with pytest.raises(ConfigError, match=said):
        make()


def test_a_file_that_is_no_image_is_named(tmp_path):
    (tmp_path / "a.png").write_text("no image")
    with pytest.raises(ConfigError, match=r"a\.png: the image of stimulus .* cannot be read"):
        stimuli_from_paths([tmp_path / "a.png"]).image(str(tmp_path / "a.png"))


def test_a_digest_follows_bytes_and_placement_not_names(files, tmp_path):
    assert files.digest("a") == files.digest("b")
    noise(8, 8).save(tmp_path / "c.png")
    other = stimuli_from_paths([tmp_path / "c.png"])
    assert other.digest(other.ids[0]) != files.digest("a")
    placed = place_on_screen(files, 16)
    assert placed.digest("a") != files.digest("a")
    assert placed.digest("a") != placed.digest("b")
    assert stimuli().digest("im000") != stimuli().digest("im001")


@pytest.mark.parametrize(
    ("size", "source", "target", "canvas", "box"),
    [
        ((256, 256), 8, 14, (448, 448), (96, 96, 352, 352)),
        ((101, 75), 8, 12, (152, 112), (26, 18, 127, 93)),
        ((10, 10), 4, 4.4, (11, 11), (0, 0, 10, 10)),
        ((3, 3), 2, 3, (4, 4), (0, 0, 3, 3)),
    ],
)
def test_a_larger_screen_pads_with_gray_without_resampling(size, source, target, canvas, box):
    image = noise(*size)
    placed = place_image(image, target / source)
    assert placed.size == canvas
    assert placed.mode == "RGB"
    pixels, inside = np.asarray(placed), np.zeros(canvas[::-1], dtype=bool)
    inside[box[1] : box[3], box[0] : box[2]] = True
    np.testing.assert_array_equal(pixels[inside], np.asarray(image).reshape(-1, 3))
    assert (pixels[~inside] == 128).all()


@pytest.mark.parametrize(
    ("size", "ratio", "canvas", "corner"),
    [
        ((256, 256), 0.75, (192, 192), (32, 32)),
        ((101, 75), 0.5, (50, 38), (26, 18)),
        ((5, 4), 0.6, (3, 2), (1, 1)),
    ],
)
@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA"])
def test_a_smaller_screen_shows_the_centre_in_the_images_own_mode(size, ratio, canvas, corner, mode):
    image = noise(*size, mode)
    placed = place_image(image, ratio)
    assert (placed.size, placed.mode) == (canvas, mode)
    left, top = corner
    expected = np.asarray(image)[top : top + canvas[1], left : left + canvas[0]]
    np.testing.assert_array_equal(np.asarray(placed), expected)


def test_gray_images_become_colour_and_transparency_shows_the_screen():
    placed = place_image(Image.new("L", (2, 2), 200), 2)
    assert np.asarray(placed)[1, 1].tolist() == [200, 200, 200]
    half = Image.new("RGBA", (2, 2), (255, 255, 255, 0))
    half.putpixel((0, 0), (10, 20, 30, 255))
    pixels = np.asarray(place_image(half, 2, (1, 2, 3)))
    assert pixels[1, 1].tolist() == [10, 20, 30]
    assert pixels[2, 2].tolist() == pixels[0, 0].tolist() == [1, 2, 3]


@given(st.integers(1, 40), st.integers(1, 40), st.floats(0.2, 4))
def test_canvas_and_offsets_are_rounded_half_to_even(width, height, ratio):
    canvas = tuple(int(np.rint(ratio * length)) for length in (width, height))
    if min(canvas) < 1:
        with pytest.raises(ConfigError, match="leaves nothing"):
            place_image(noise(width, height), ratio)
        return
    placed = place_image(noise(width, height), ratio)
    assert placed.size == canvas
    if ratio >= 1:
        left, top = (int(np.rint((new - old) / 2)) for new, old in zip(canvas, (width, height), strict=True))
        inside = np.asarray(placed)[top : top + height, left : left + width]
        np.testing.assert_array_equal(inside, np.asarray(noise(width, height)))


def test_the_same_degrees_give_the_same_set():
    shown = stimuli()
    assert place_on_screen(shown, target_visual_degrees=8, source_visual_degrees=8) is shown


def test_a_placed_set_says_so_and_opens_placed_images(files):
    placed = place_on_screen(files, target_visual_degrees=8)
    assert placed.image("a").size == (12, 8)
    assert placed.image("b").size == (24, 16)
    assert placed["degrees"].tolist() == [8, 8]
    assert placed.identifier == "files--target8.00--sourcecolumn"
    assert files["degrees"].tolist() == [8, 4]
    assert place_on_screen(placed, 8) is placed
    assert place_on_screen(stimuli(), 4, 8).identifier == "tiny--target4.00--source8.00"
    assert placed.select(["b"]).image("b").size == (24, 16)


def test_nothing_is_written_before_it_is_asked_for_and_then_png(files, tmp_path):
    before = sorted(tmp_path.iterdir())
    placed = place_on_screen(files, target_visual_degrees=8)
    placed.image("b")
    assert sorted(tmp_path.iterdir()) == before
    written = placed.write_images(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.png", "b.png"]
    with Image.open(written["b"]) as image:
        assert image.format == "PNG"
        np.testing.assert_array_equal(np.asarray(image), np.asarray(placed.image("b")))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: place_on_screen(stimuli(degrees=8), 8, 8),
            'both by source_visual_degrees and by a column "degrees"',
        ),
        (lambda: place_on_screen(stimuli(), 8), "neither by source_visual_degrees nor by"),
        (lambda: place_on_screen(stimuli(), 0, 8), 'degrees of "target" are not a positive number'),
        (lambda: place_on_screen(stimuli(degrees=float("nan")), 8), '"im000", "im001", "im002" and 57 more'),
        (lambda: place_on_screen(place_on_screen(stimuli(), 8, 4), 4), "is already on a screen"),
    ],
)
def test_a_size_said_twice_or_not_at_all_is_refused(call, said):
    with pytest.raises(ConfigError, match=said):
        call()


def test_an_id_that_cannot_be_a_file_name_is_refused(tmp_path):
    shown = StimulusSet(
        pd.DataFrame({"stimulus_id": ["../up"]}), images={"../up": np.zeros((2, 2, 3), np.uint8)}
    )
    with pytest.raises(ConfigError, match=r'"\.\./up" cannot be a file name'):
        shown.write_images(tmp_path / "out")
    assert not (tmp_path / "up.png").exists()
