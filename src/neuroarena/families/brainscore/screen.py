"""Place images on a model's screen: padded with gray or cropped around the centre, never resampled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from neuroarena.families.brainscore.errors import ConfigError, named
from neuroarena.families.brainscore.stimuli import StimulusSet

if TYPE_CHECKING:
    from PIL.Image import Image

GRAY = (128, 128, 128)


@dataclass(frozen=True, eq=False)
class Placement:
    """How each image of a set is placed on the screen.

    Attributes
    ----------
    target_degrees : float
        Width of the model's visual field.
    source_degrees : mapping of id to float
        Visual size of each image.
    background : tuple of int
        Colour of the screen.
    """

    target_degrees: float
    source_degrees: Mapping[Any, float]
    background: tuple[int, int, int] = GRAY

    def __call__(self, stimulus_id: Any, image: Image) -> Image:
        """Place one image."""
        degrees = self.source_degrees[stimulus_id]
        if degrees == self.target_degrees:
            return image
        return place_image(image, self.target_degrees / degrees, self.background)

    def describe(self, stimulus_id: Any) -> list[Any]:
        """Describe what is done to one image, for its digest."""
        degrees = self.source_degrees[stimulus_id]
        return (
            ["as it is"]
            if degrees == self.target_degrees
            else [self.target_degrees / degrees, *self.background]
        )


def place_image(image: Image, ratio: float, background: tuple[int, int, int] = GRAY) -> Image:
    """Place one image on a screen of `ratio` times its size.

    Parameters
    ----------
    image : PIL image
    ratio : float
        Visual field of the model / visual size of the image.
    background : tuple of int
        Colour around a padded image, and behind a transparent one.

    Returns
    -------
    PIL image
        Ratio at or above 1: RGB, the image in the centre. Below 1: the centre of the image, mode kept.
        Sizes and offsets are rounded half to even; no pixel is resampled.

    Examples
    --------
    >>> from PIL import Image
    >>> place_image(Image.new("RGB", (101, 75)), 1.5).size
    (152, 112)
    """
    from PIL import Image as images

    width, height = (round(ratio * length) for length in image.size)
    if width < 1 or height < 1:
        raise ConfigError(f"An image of {image.size} pixels at ratio {ratio:g} leaves nothing to show.")
    left, top = round((width - image.width) / 2), round((height - image.height) / 2)
    if ratio < 1:
        left, top = round((image.width - width) / 2), round((image.height - height) / 2)
        return image.crop((left, top, left + width, top + height))
    screen = images.new("RGB", (width, height), background)
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        seen = image.convert("RGBA")
        screen.paste(seen.convert("RGB"), (left, top), seen.getchannel("A"))
    else:
        screen.paste(image.convert("RGB"), (left, top))
    return screen


def place_on_screen(
    stimulus_set: StimulusSet,
    target_visual_degrees: float,
    source_visual_degrees: float | None = None,
    background: tuple[int, int, int] = GRAY,
) -> StimulusSet:
    """Show a stimulus set on a screen of another visual size.

    Nothing is computed or written here: an image is placed when it is opened. ``write_images`` of the result
    writes them as PNG.

    Parameters
    ----------
    stimulus_set : StimulusSet
    target_visual_degrees : float
        Visual field of the model.
    source_visual_degrees : float, optional
        Visual size of every image in the experiment. State it either here or in the column ``degrees``, not both.
    background : tuple of int
        Colour of the screen.

    Returns
    -------
    StimulusSet
        The given set itself where nothing has to change; otherwise one with ``degrees`` at the target.

    Raises
    ------
    ConfigError
        When the visual size is stated twice, not at all, or is not positive; when the set is already on a screen.
    """
    degrees = _source_degrees(stimulus_set, source_visual_degrees)
    target = float(target_visual_degrees)
    wrong = [key for key, value in {"target": target, **degrees}.items() if not 0 < value < float("inf")]
    if wrong:
        raise ConfigError(
            f"{stimulus_set.name}: the visual degrees of {named(wrong)} are not a positive number."
        )
    if all(value == target for value in degrees.values()):
        return stimulus_set
    if stimulus_set.placement is not None:
        raise ConfigError(f"{stimulus_set.name}: the set is already on a screen. Place the original set.")
    identifier = stimulus_set.identifier
    if identifier is not None:
        source = f"{source_visual_degrees:.2f}" if source_visual_degrees is not None else "column"
        identifier = f"{identifier}--target{target:.2f}--source{source}"
    return replace(
        stimulus_set,
        table=stimulus_set.table.assign(degrees=target),
        identifier=identifier,
        placement=Placement(target, degrees, background),
    )


def _source_degrees(stimulus_set: StimulusSet, given: float | None) -> dict[Any, float]:
    column = "degrees" in stimulus_set.table.columns
    if (given is not None) == column:
        problem = (
            "both by source_visual_degrees and by" if column else "neither by source_visual_degrees nor by"
        )
        raise ConfigError(
            f'{stimulus_set.name}: the visual size is stated {problem} a column "degrees". State it once.'
        )
    if given is not None:
        return dict.fromkeys(stimulus_set.ids, float(given))
    return {key: float(value) for key, value in zip(stimulus_set.ids, stimulus_set["degrees"], strict=True)}
