"""A folder of THINGS-EEG2: people, images, epochs and the embeddings of the images."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.datasets.folder import DatasetFolder
from neuroarena.errors import InputError
from neuroarena.families.img.things_eeg2.embeddings import FORMATS, read_embeddings
from neuroarena.families.img.things_eeg2.epochs import Epochs, open_epochs, read_epochs
from neuroarena.families.img.things_eeg2.pickled import read_pickled
from neuroarena.recordings import Recording

PARTS = ("training", "test")
FOLDERS = ("preprocessed_data", "Preprocessed_data_250Hz")
METADATA = ("image_set/image_metadata.npy", "image_metadata.npy", "stimuli/image_metadata.npy")
EMBEDDINGS = "image_embeddings"


class ThingsEEG2(DatasetFolder):
    """Epochs of people who looked at images, as the authors (or NICE, at 250 Hz) publish them.

    Parameters
    ----------
    root : path
        The folder that holds ``preprocessed_data/sub-XX`` (or ``Preprocessed_data_250Hz/sub-XX``),
        ``image_set/image_metadata.npy`` and ``image_embeddings/``.
    embeddings : path, optional
        The file of embeddings; without it, the only one in ``image_embeddings/``.

    Raises
    ------
    InputError
        When the folder does not exist, or holds no person.
    """

    def __init__(self, root: str | Path, embeddings: str | Path | None = None) -> None:
        super().__init__(root)
        self._embeddings = None if embeddings is None else Path(embeddings)
        found = [name for name in FOLDERS if (self.root / name).is_dir()]
        if len(found) != 1:
            what = "both of" if found else "neither of"
            raise InputError(f"{self.root}: holds {what} {' and '.join(FOLDERS)}, expected one of them.")
        self.signals = self.root / found[0]
        self.subjects: tuple[str, ...] = tuple(
            sorted(path.name for path in self.signals.iterdir() if re.fullmatch(r"sub-\d\d+", path.name))
        )
        if not self.subjects:
            raise InputError(f"{self.signals}: holds no folder sub-01, sub-02, ...")

    @functools.cached_property
    def images(self) -> pd.DataFrame:
        """The images in the order of the epochs, training then test.

        Columns: name (file without its suffix), concept (folder), part, number (1-based inside the part).
        """
        path = next((self.root / name for name in METADATA if (self.root / name).is_file()), None)
        if path is None:
            raise InputError(f"{self.root}: lacks {METADATA[0]}, the list of the images.")
        said = read_pickled(path)
        tables = []
        for part, short in zip(PARTS, ("train", "test"), strict=True):
            files = _texts(said, f"{short}_img_files", path)
            concepts = _texts(said, f"{short}_img_concepts", path)
            if len(files) != len(concepts) or not files:
                raise InputError(
                    f"{path}: {len(files)} files, but {len(concepts)} concepts of {part} images."
                )
            names = [Path(file).stem for file in files]
            table = pd.DataFrame({"name": names, "concept": concepts, "part": part})
            tables.append(table.assign(number=np.arange(1, len(names) + 1)))
        images = pd.concat(tables, ignore_index=True)
        twice = images.loc[images["name"].duplicated(), "name"]
        if len(twice):
            raise InputError(
                f'{path}: the image "{twice.iloc[0]}" is listed twice; test images must be unseen.'
            )
        return images

    def names(self, part: str) -> list[str]:
        """Return the names of the images of a part, in the order of its epochs."""
        return self.images.loc[self.images["part"] == part, "name"].tolist()

    def file(self, subject: str, part: str) -> Path:
        """Return the file of one person's epochs of one part."""
        if subject not in self.subjects or part not in PARTS:
            raise InputError(
                f"{self.signals}: has no {part} epochs of {subject}; it has {', '.join(self.subjects)}."
            )
        return self.signals / subject / f"preprocessed_eeg_{part}.npy"

    def epochs(self, subject: str, part: str) -> Epochs:
        """Return one person's epochs of one part, mapped.

        Raises
        ------
        InputError
            When the file is refused, or does not have an entry for every image.
        """
        path = self.file(subject, part)
        epochs = read_epochs(path)
        expected = len(self.names(part))
        if len(epochs.data) != expected:
            raise InputError(f"{path}: holds epochs of {len(epochs.data)} images, expected {expected}.")
        return epochs

    def recording(self, subject: str, part: str) -> Recording:
        """Open one person's epochs of one part as a recording, laid end to end."""
        return open_epochs(self.file(subject, part))

    @functools.cached_property
    def embedding_file(self) -> Path:
        """The file of embeddings."""
        if self._embeddings is not None:
            return self._embeddings
        folder = self.root / EMBEDDINGS
        found = sorted(path for path in folder.glob("*") if path.suffix.lower() in FORMATS)
        if len(found) != 1:
            got = ", ".join(path.name for path in found) or "none"
            raise InputError(
                f"{folder}: expected one file of embeddings ({', '.join(FORMATS)}), got {got}. Name one with "
                "the option embeddings."
            )
        return found[0]

    def embeddings(self) -> Path | np.ndarray:
        """Return the embeddings of all images in their order; see :func:`.embeddings.read_embeddings`."""
        return read_embeddings(self.embedding_file, self.names("training"), self.names("test"))


def _texts(said: Any, key: str, path: Path) -> list[str]:
    if not isinstance(said, dict) or key not in said:
        raise InputError(f'{path}: lacks "{key}", a list of names.')
    values = list(said[key])
    if not all(isinstance(value, str) for value in values):
        raise InputError(f'{path}: "{key}" holds something that is not a name.')
    return [str(value) for value in values]
