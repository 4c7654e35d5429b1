"""Pictures of the twin: objects on backgrounds, textures and their noise, and gratings, all drawn here."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
GRAY = 128

# Corners of the objects in a square from -1 to 1; the last two are round.
_OBJECTS: dict[str, list[tuple[float, float]]] = {
    "bear": [(-0.9, 0.9), (-0.9, -0.2), (-0.4, -0.9), (0.0, -0.4), (0.4, -0.9), (0.9, -0.2), (0.9, 0.9)],
    "ship2": [(-1.0, 0.1), (1.0, 0.1), (0.6, 0.7), (-0.6, 0.7)],
    "car_astra": [(-1, 0.5), (-1, 0), (-0.5, 0), (-0.3, -0.5), (0.4, -0.5), (0.6, 0), (1, 0), (1, 0.5)],
    "chair0": [(-0.7, -1), (-0.4, -1), (-0.4, 0), (0.7, 0), (0.7, 1), (0.4, 1), (0.4, 0.3), (-0.7, 0.3)],
    "alien": [
        (0, -1),
        (0.3, -0.3),
        (1, -0.3),
        (0.4, 0.2),
        (0.6, 1),
        (0, 0.5),
        (-0.6, 1),
        (-0.4, 0.2),
        (-1, -0.3),
    ],
    "table0": [
        (-1, -0.6),
        (1, -0.6),
        (1, -0.3),
        (0.7, -0.3),
        (0.7, 0.8),
        (0.5, 0.8),
        (0.5, -0.3),
        (-1, -0.3),
    ],
    "face0": [],
    "apple": [],
}
CATEGORIES = {
    "bear": "Animals",
    "ship2": "Boats",
    "car_astra": "Cars",
    "chair0": "Chairs",
    "alien": "Planes",
    "table0": "Tables",
    "face0": "Faces",
    "apple": "Fruits",
}


def draw_object(name: str, place: dict[str, float], rng: np.random.Generator, size: int = 64) -> Pixels:
    """Draw an object somewhere on a random background.

    Parameters
    ----------
    name : str
        One of :data:`CATEGORIES`.
    place : dict
        ``ty`` and ``tz`` (from the centre, in halves of the image; right and up), ``s`` (scale) and ``rxy``
        (degrees counter-clockwise).
    rng : Generator
        Draws colours and background.
    size : int
        Width and height in pixels.

    Returns
    -------
    ndarray of uint8, shape (size, size, 3)
    """
    from PIL import Image, ImageDraw

    # Drawn at twice the size, so that edges are smooth.
    large = 2 * size
    canvas = Image.fromarray(_background(rng, large))
    mask = Image.new("L", (large, large), 0)
    pen = ImageDraw.Draw(mask)
    centre = np.array([1 + place["ty"], 1 - place["tz"]]) * size
    radius = 0.5 * size * place["s"]
    angle = np.deg2rad(place["rxy"])
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])

    def at(points: Any) -> list[tuple[float, float]]:
        return [(float(x), float(y)) for x, y in np.asarray(points, dtype=float) @ turn.T * radius + centre]

    if name == "face0":
        _circle(pen, at([(0, 0)])[0], radius, 255)
        for eye in at([(-0.4, -0.3), (0.4, -0.3), (0, 0.4)]):
            _circle(pen, eye, 0.22 * radius, 0)
    elif name == "apple":
        _circle(pen, at([(0, 0)])[0], 0.8 * radius, 255)
        pen.polygon(at([(0, -0.7), (0.2, -1.2), (0.4, -1.1), (0.15, -0.6)]), fill=255)
    else:
        pen.polygon(at(_OBJECTS[name]), fill=255)
    colour = tuple(int(each) for each in rng.integers(0, 256, 3))
    canvas.paste(Image.new("RGB", (large, large), colour), (0, 0), mask)
    return np.asarray(canvas.resize((size, size), Image.Resampling.BOX))


def draw_texture(family: int, kind: str, sample: int, size: int = 32) -> Pixels:
    """Draw a sample of a texture family, or the noise with its spectrum, behind a round soft aperture.

    Textures are folded stripes, which have edges; noise keeps their amplitudes and draws phases anew.

    Returns
    -------
    ndarray of uint8, shape (size, size, 3)
    """
    rng = np.random.default_rng([family, sample])
    character = np.random.default_rng(family)
    frequency, angle, bend = character.uniform(2, 6), character.uniform(0, np.pi), character.uniform(0.5, 3)
    y, x = np.mgrid[0:size, 0:size] / size
    shift, wave = rng.uniform(0, 2 * np.pi, 2)
    along = x * np.cos(angle) + y * np.sin(angle)
    across = y * np.cos(angle) - x * np.sin(angle)
    folded = np.sin(2 * np.pi * frequency * along + bend * np.sin(2 * np.pi * 2 * across + wave) + shift)
    values = np.sign(folded) * np.abs(folded) ** 0.3 + 0.3 * rng.standard_normal((size, size))
    if kind == "noise":
        amplitude = np.abs(np.fft.rfft2(values - values.mean()))
        phases = np.angle(np.fft.rfft2(rng.standard_normal((size, size))))
        values = np.fft.irfft2(amplitude * np.exp(1j * phases), s=(size, size))
    values = (values - values.mean()) / values.std()
    distance = np.hypot(x - 0.5, y - 0.5)
    aperture = 0.5 * (1 + np.cos(np.pi * np.clip((distance - 0.35) / 0.15, 0, 1)))
    gray = np.clip(GRAY + 50 * values * aperture, 0, 255).round().astype(np.uint8)
    return np.repeat(gray[:, :, None], 3, axis=2)


def draw_grating(
    radius: float,
    spatial_frequency: float,
    orientation: float,
    phase: float,
    position: tuple[float, float] = (0.0, 0.0),
    contrast: float = 1.0,
    degrees: float = 8.0,
    size: int = 64,
) -> Pixels:
    """Draw a round patch of a sinusoidal grating on gray.

    Parameters
    ----------
    radius : float
        In degrees.
    spatial_frequency : float
        In cycles per degree.
    orientation, phase : float
        Degrees; orientation counter-clockwise from horizontal bars.
    position : (float, float)
        y (down) and x (right) of the centre of the patch from the centre of the screen, in degrees.
    contrast : float
        From 0 to 1.
    degrees : float
        Width of the screen.
    size : int
        Width of the screen in pixels.

    Returns
    -------
    ndarray of uint8, shape (size, size, 3)
    """
    ticks = (np.arange(size) + 0.5) / size * degrees - degrees / 2
    y, x = np.meshgrid(ticks - position[0], ticks - position[1], indexing="ij")
    angle = np.deg2rad(orientation)
    across = y * np.cos(angle) + x * np.sin(angle)
    wave = np.cos(2 * np.pi * spatial_frequency * across + np.deg2rad(phase))
    inside = np.hypot(y, x) <= radius
    gray = np.where(inside, 127.5 * (1 + contrast * wave), GRAY).round().astype(np.uint8)
    return np.repeat(gray[:, :, None], 3, axis=2)


def _background(rng: np.random.Generator, size: int) -> Pixels:
    """Draw coloured clouds: coarse random values, enlarged smoothly, at two scales."""
    from PIL import Image

    clouds = np.zeros((size, size, 3))
    for cells, weight in ((4, 0.6), (16, 0.4)):
        coarse = rng.integers(0, 256, (cells, cells, 3), dtype=np.uint8)
        clouds += weight * np.asarray(
            Image.fromarray(coarse).resize((size, size), Image.Resampling.BICUBIC), dtype=np.float64
        )
    return clouds.round().astype(np.uint8)


def _circle(pen: Any, centre: tuple[float, float], radius: float, value: int) -> None:
    x, y = centre
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=value)
