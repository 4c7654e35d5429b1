"""The image track as a benchmark family."""

from __future__ import annotations

import functools
from importlib.resources import as_file, files
from pathlib import Path

from pydantic import Field

from neuroarena.benchmarks.benchmark import Benchmark, WindowShape
from neuroarena.benchmarks.codebook import Codebook
from neuroarena.benchmarks.options import FamilyOptions
from neuroarena.datasets.dataset import locate_folder
from neuroarena.errors import InputError
from neuroarena.families.img.examples import open_part, things_examples, unseen_images
from neuroarena.families.img.things_eeg2 import DATASET, ThingsEEG2
from neuroarena.recordings import channel_table
from neuroarena.scoring import Manifest, manifests_from_toml

DEFINITIONS = ("2026",)
TOP = 5
_BACK = (
    "Pz",
    "P3",
    "P7",
    "O1",
    "Oz",
    "O2",
    "P4",
    "P8",
    "P1",
    "P5",
    "PO7",
    "PO3",
    "POz",
    "PO4",
    "PO8",
    "P6",
    "P2",
)


class ImgOptions(FamilyOptions):
    """What can be chosen of the image track."""

    subjects: tuple[str, ...] | None = Field(
        default=None, description="Only these people, such as sub-01; the split hash then differs."
    )
    embeddings: str | None = Field(
        default=None,
        description="File of the embeddings; by default the only one in the folder image_embeddings.",
    )


_DEFAULTS = ImgOptions()


class Img:
    """Which image was seen, among images that no decoder was trained on."""

    name = "img"
    title = "EEG-to-image: held-out images ranked from a single epoch"
    definitions = DEFINITIONS
    code_contract = "neuroarena.evaluation.model_contract:CONTRACT"
    start_kit = Path(__file__).with_name("startkit")
    options = ImgOptions
    entry_rules = "neuroarena.families.img.people:name_people"

    def tasks(self, definition: str) -> tuple[str, ...]:
        """List the tasks in their canonical order."""
        return tuple(_manifests(definition))

    def splits(self, task: str, definition: str) -> tuple[str, ...]:
        """List the splits of a task, the default first."""
        return ("unseen-images",)

    def manifest(self, task: str, definition: str) -> Manifest:
        """Return the rules of a task."""
        return _manifests(definition)[task]

    def window(self, task: str, definition: str) -> WindowShape:
        """Describe the windows: one second of the 17 channels at the back, at 100 Hz."""
        return WindowShape(channel_table(_BACK, kind="eeg"), 100.0, 100)

    def load(
        self, task: str, definition: str, data: str | None = None, options: ImgOptions = _DEFAULTS
    ) -> Benchmark:
        """Bind a task to a folder of THINGS-EEG2.

        Parameters
        ----------
        task : {"things-eeg2"}
        definition : str
        data : str, optional
            The folder; without it, where ``NEUROARENA_THINGS_EEG2`` or ``NEUROARENA_DATA`` point.
        options : ImgOptions

        Raises
        ------
        InputError
            For people that are not in the folder, and for embeddings that do not fit the images.
        """
        dataset = ThingsEEG2(locate_folder(DATASET, data), options.embeddings)
        chosen = _chosen_people(dataset, options.subjects)
        book = Codebook(dataset.images["name"].tolist(), dataset.embeddings(), str(dataset.embedding_file))
        manifest, notes = _fitted_to(self.manifest(task, definition), dataset, book)
        return Benchmark(
            manifest=manifest,
            make_examples=functools.partial(things_examples, dataset, chosen),
            split_rules={"unseen-images": unseen_images},
            open_recording=functools.partial(open_part, dataset),
            simulated=dataset.simulated,
            options={} if options.subjects is None else {"subjects": list(chosen)},
            notes=(*notes, *_input_notes(dataset, chosen)),
            codebook=book,
        )


FAMILY = Img()


@functools.cache
def _manifests(definition: str) -> dict[str, Manifest]:
    with as_file(files(__package__).joinpath(f"img-{definition}.toml")) as path:
        return manifests_from_toml(path)


def _chosen_people(dataset: ThingsEEG2, subjects: tuple[str, ...] | None) -> tuple[str, ...]:
    if subjects is None:
        return dataset.subjects
    wanted = tuple(dict.fromkeys(f"sub-{name.removeprefix('sub-')}" for name in subjects))
    unknown = [name for name in wanted if name not in dataset.subjects]
    if unknown or not wanted:
        got = unknown[0] if unknown else "nobody"
        raise InputError(f"{dataset.signals}: has {', '.join(dataset.subjects)}, but {got} was requested.")
    return tuple(sorted(wanted))


def _fitted_to(manifest: Manifest, dataset: ThingsEEG2, book: Codebook) -> tuple[Manifest, tuple[str, ...]]:
    """Put the length of the embeddings and the number of candidates of these data into the rules.

    Other numbers are another task: they change the hash, so that boards do not mix the two.
    """
    candidates = len(dataset.names("test"))
    chance = TOP / candidates
    notes = []
    if book.length != manifest.caps["vector_length"]:
        notes.append(f"Embeddings of {book.length} numbers, not of {manifest.caps['vector_length']}.")
        manifest = manifest.replace(caps={**manifest.caps, "vector_length": book.length})
    if chance != manifest.chance:
        notes.append(f"{candidates} candidates, so that chance is {chance:.4g}.")
        manifest = manifest.replace(chance=chance)
    return manifest, tuple(notes)


def _input_notes(dataset: ThingsEEG2, subjects: tuple[str, ...]) -> tuple[str, ...]:
    times = dataset.epochs(subjects[0], "test").times
    if abs(times[0] + 0.2) < 1e-6:
        return ()
    return (f"Epochs begin {times[0]:g} s from the onset of the image, not at -0.2 s.",)
