"""Stimulus sets: which images were shown, where they are, and how large they appeared."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from neuroarena.atomic import replacing
from neuroarena.families.brainscore.errors import ConfigError, named
from neuroarena.fingerprint import digest, file_digest

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, eq=False, repr=False)
class StimulusSet:
    """A table of stimuli with their images, which are opened on demand.

    Parameters
    ----------
    table : DataFrame
        One row per stimulus: ``stimulus_id`` (unique; an old ``image_id`` is copied to it), optionally ``degrees``
        (visual size), and any metadata.
    paths : mapping of id to path
        The image files. Every stimulus needs one, or an entry in `images`.
    identifier : str, optional
        Name of the set.
    images : mapping of id to image
        Images in memory: PIL images, or arrays (height, width[, 3]) of uint8.
    placement : Placement, optional
        What :func:`place_on_screen` does to each image when it is opened.

    Raises
    ------
    ConfigError
        When an id is missing or duplicated, or when a stimulus has no image or no file; the message names it.

    Examples
    --------
    >>> gray = np.full((4, 6, 3), 128, np.uint8)
    >>> stimuli = StimulusSet(pd.DataFrame({"stimulus_id": ["a"], "degrees": [8]}), images={"a": gray})
    >>> stimuli.image("a").size
    (6, 4)
    """

    table: pd.DataFrame
    paths: Mapping[Any, str | Path] = field(default_factory=dict)
    identifier: str | None = None
    images: Mapping[Any, Any] = field(default_factory=dict)
    placement: Callable[[Any, Image], Image] | None = None

    def __post_init__(self) -> None:
        """Check the ids and that every stimulus has an image."""
        table = self.table.reset_index(drop=True)
        if "stimulus_id" not in table.columns and "image_id" in table.columns:
            table = table.assign(stimulus_id=table["image_id"])
        if "stimulus_id" not in table.columns:
            raise ConfigError(
                f'{self.name}: the column "stimulus_id" is missing; there are {named(table.columns, 8)}.'
            )
        if table["stimulus_id"].isna().any():
            raise ConfigError(
                f"{self.name}: row {int(table['stimulus_id'].isna().argmax())} has no stimulus_id."
            )
        twice = table.loc[table["stimulus_id"].duplicated(), "stimulus_id"]
        if len(twice):
            raise ConfigError(f"{self.name}: the stimulus_id {named(twice)} occurs more than once.")
        without = [key for key in table["stimulus_id"] if key not in self.paths and key not in self.images]
        if without:
            raise ConfigError(f"{self.name}: the stimuli {named(without)} have neither a file nor an image.")
        paths = {key: Path(self.paths[key]) for key in table["stimulus_id"] if key in self.paths}
        lost = [path for path in paths.values() if not path.is_file()]
        if lost:
            raise ConfigError(f"{self.name}: the files {named(lost)} do not exist.")
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "paths", paths)

    @property
    def name(self) -> str:
        """Name used in messages."""
        return f'stimulus set "{self.identifier}"' if self.identifier else "stimulus set"

    @property
    def ids(self) -> list[Any]:
        """The stimulus ids, in the order of the table."""
        return list(self.table["stimulus_id"])

    @property
    def stimulus_paths(self) -> dict[Any, Path]:
        """Stimulus id -> file of the original image."""
        return {key: Path(path) for key, path in self.paths.items()}

    def __repr__(self) -> str:
        # Arrays show their attributes, the stimulus set among them: thousands of paths would bury the rest.
        return f"StimulusSet({self.identifier!r}, {len(self)} stimuli)"

    def __deepcopy__(self, memo: dict[int, Any]) -> StimulusSet:
        # Deep copies of an assembly share its stimuli, which never change.
        return self

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.ids)

    def __getitem__(self, column: str) -> pd.Series:
        """Return a column of the table."""
        if column not in self.table.columns:
            raise ConfigError(f'{self.name}: no column "{column}"; there are {named(self.table.columns, 8)}.')
        return self.table[column]

    def get_stimulus(self, stimulus_id: Any) -> Path:
        """Return the file of the original image.

        Raises
        ------
        ConfigError
            When there is no such stimulus, or when its image is held in memory.
        """
        self._check(stimulus_id)
        if stimulus_id not in self.paths:
            raise ConfigError(f'{self.name}: the stimulus "{stimulus_id}" is held in memory; use image().')
        return Path(self.paths[stimulus_id])

    def image(self, stimulus_id: Any) -> Image:
        """Open an image as it is shown: read from its file or memory, and placed on the screen."""
        from PIL import Image as images

        self._check(stimulus_id)
        if stimulus_id in self.images:
            given = self.images[stimulus_id]
            image: Image = (
                images.fromarray(np.asarray(given)) if isinstance(given, np.ndarray) else given.copy()
            )
        else:
            image = _read_image(Path(self.paths[stimulus_id]), stimulus_id)
        return image if self.placement is None else self.placement(stimulus_id, image)

    def digest(self, stimulus_id: Any) -> str:
        """Return a hash of what is shown: of the file's bytes or the pixels, and of the placement.

        Two stimuli with the same digest look the same to a model, whatever their ids.
        """
        self._check(stimulus_id)
        if stimulus_id in self.images:
            pixels = np.asarray(self.images[stimulus_id])
            content = hashlib.sha256(pixels.tobytes()).hexdigest()
            source: list[Any] = [content, list(pixels.shape), str(pixels.dtype)]
        else:
            source = [file_digest(self.paths[stimulus_id])]
        return digest([source, None if self.placement is None else self.placement.describe(stimulus_id)])  # type: ignore[attr-defined]

    def select(self, stimulus_ids: Sequence[Any]) -> StimulusSet:
        """Return a set of the chosen stimuli, in the order given; images and placement are kept."""
        for key in stimulus_ids:
            self._check(key)
        at = pd.Index(self.table["stimulus_id"]).get_indexer(pd.Index(list(stimulus_ids)))
        return replace(self, table=self.table.iloc[at])

    def write_images(self, folder: str | Path) -> dict[Any, Path]:
        """Write every image, as it is shown, as ``<stimulus_id>.png`` and return the paths.

        Raises
        ------
        ConfigError
            When a stimulus id cannot be a file name.
        """
        written = {}
        for key in self.ids:
            path = Path(folder) / f"{file_stem(key)}.png"
            with replacing(path) as temporary:
                self.image(key).save(temporary, format="PNG")
            written[key] = path
        return written

    def _check(self, stimulus_id: Any) -> None:
        if stimulus_id not in self.paths and stimulus_id not in self.images:
            raise ConfigError(f'{self.name}: no stimulus "{stimulus_id}".')


def stimuli_from_paths(paths: Sequence[str | Path], identifier: str | None = None) -> StimulusSet:
    """Make a set from image files; the id of a stimulus is its path as given."""
    ids = [str(path) for path in paths]
    return StimulusSet(pd.DataFrame({"stimulus_id": ids}), dict(zip(ids, paths, strict=True)), identifier)


def file_stem(stimulus_id: Any) -> str:
    """Return a stimulus id as part of a file name, or refuse it."""
    text = str(stimulus_id)
    if not text or text.startswith(".") or any(character in text for character in "/\\:\0"):
        raise ConfigError(
            f'The stimulus id "{text}" cannot be a file name: it is empty, contains / \\ or :, or starts with a dot.'
        )
    return text


def _read_image(path: Path, stimulus_id: Any) -> Image:
    from PIL import Image as images

    try:
        with images.open(path) as image:
            image.load()
            return image
    except (OSError, ValueError, SyntaxError, images.DecompressionBombError) as error:
        raise ConfigError(
            f'{path}: the image of stimulus "{stimulus_id}" cannot be read: {error}.'
        ) from error
