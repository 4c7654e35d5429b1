"""The EEG Foundation Challenge 2025 as a benchmark family: five tasks under three definitions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import Field

from neuroarena.benchmarks.benchmark import Benchmark, WindowShape
from neuroarena.benchmarks.options import FamilyOptions
from neuroarena.datasets.dataset import locate_folder
from neuroarena.families.eeg2025 import binding, examples
from neuroarena.families.eeg2025.hbn import DATASET
from neuroarena.families.eeg2025.hbn.facts import CHANNELS, DEMOGRAPHICS
from neuroarena.families.eeg2025.pieces import stacked_channels
from neuroarena.families.eeg2025.windows import RATE_HZ, WINDOW
from neuroarena.recordings import Recording, channel_table
from neuroarena.scoring import Manifest, Overall, manifests_from_toml

DEFINITIONS = ("as-scored", "as-described", "zero-shot")
SPLITS = ("validation", "sealed")
RESPONSE_TIME = "response-time"
# Task -> column of participants.tsv.
FACTOR_OF = {
    "externalizing": "externalizing",
    "p-factor": "p_factor",
    "internalizing": "internalizing",
    "attention": "attention",
}
TASKS = (RESPONSE_TIME, *FACTOR_OF)


class Eeg2025Options(FamilyOptions):
    """What can be chosen of the challenges."""

    releases: tuple[str, ...] | None = Field(
        default=None,
        description="Only these releases (R5) or folders (R5_mini_L100_bdf); the split hash then differs.",
    )
    minimum_minutes: float | None = Field(
        default=None,
        gt=0,
        lt=1000,
        description="Least EEG of a person who counts, where the definition as-described asks for one prediction "
        "per person; by default 15, or what the card of a simulated twin states.",
    )
    channels: Literal[129, 128] = Field(
        default=129, description="128 leaves the flat reference Cz out; not in the definition as-scored."
    )
    fast: bool = Field(default=False, description="Judge only four people, to see whether a decoder runs.")


_DEFAULTS = Eeg2025Options()


class Eeg2025:
    """Response times and factors of psychopathology from EEG, across people and tasks."""

    name = "eeg2025"
    title = "EEG Foundation Challenge 2025: response times and psychopathology from EEG"
    definitions = DEFINITIONS
    code_contract = "neuroarena.families.eeg2025.code_submissions:CONTRACT"
    zoo_imports = "neuroarena.families.eeg2025.guest.zoo_names:prepare_imports"
    competition = "neuroarena.families.eeg2025/competition.toml"
    importers = "neuroarena.families.eeg2025.importer:IMPORTERS"
    overall = Overall.from_toml(Path(__file__).with_name("overall.toml"))
    options = Eeg2025Options

    def tasks(self, definition: str) -> tuple[str, ...]:
        """List the tasks of a definition in their canonical order."""
        return (RESPONSE_TIME,) if definition == "zero-shot" else TASKS

    def splits(self, task: str, definition: str) -> tuple[str, ...]:
        """List the splits of a task, the default first."""
        return SPLITS

    def manifest(self, task: str, definition: str) -> Manifest:
        """Return the rules of a task."""
        return _manifests(definition)[task]

    def window(self, task: str, definition: str) -> WindowShape:
        """Describe the windows: 2 s of 129 channels at 100 Hz, or a person's 15 minutes."""
        channels = channel_table(CHANNELS, kind="eeg")
        if definition == "zero-shot":
            channels = stacked_channels(channels, examples.PRE_TRIAL, examples.SURROUNDED)
        one_a_person = definition == "as-described" and task != RESPONSE_TIME
        samples = round(binding.MINIMUM_MINUTES * 60 * RATE_HZ) if one_a_person else WINDOW
        return WindowShape(channels, float(RATE_HZ), samples)

    def load(
        self, task: str, definition: str, data: str | None = None, options: Eeg2025Options = _DEFAULTS
    ) -> Benchmark:
        """Bind a task to a folder of HBN-EEG.

        Parameters
        ----------
        task, definition : str
        data : str, optional
            The folder; without it, where ``NEUROARENA_HBN`` or ``NEUROARENA_DATA`` point.
        options : Eeg2025Options

        Raises
        ------
        InputError
            For an option that the definition does not allow, and for releases or recordings that are not in the folder.
        """
        dataset = binding.open_folder(str(locate_folder(DATASET, data)), options.releases)
        choices = binding.Choices.checked(
            dataset,
            definition,
            options.minimum_minutes,
            options.channels,
            options.fast,
            options.releases is not None,
        )
        one_a_person = definition == "as-described" and task != RESPONSE_TIME
        notes = choices.notes(dataset, one_a_person)
        manifest = self.manifest(task, definition)
        if notes:
            # Other people or inputs are another task: the note changes the hash, so that boards do not mix the two.
            manifest = manifest.replace(notes=(*manifest.notes, *notes))
        zero_shot = definition == "zero-shot"
        make: Callable[[], pd.DataFrame]
        opened: Callable[..., Recording]
        if zero_shot:
            make, opened = functools.partial(examples.pair_examples, dataset), examples.open_pair
        elif task == RESPONSE_TIME:
            make, opened = functools.partial(examples.trial_examples, dataset), examples.open_window
        elif one_a_person:
            make = functools.partial(examples.person_examples, dataset, FACTOR_OF[task], choices)
            opened = examples.open_person
        else:
            make = functools.partial(examples.crop_examples, dataset, FACTOR_OF[task])
            opened = examples.open_window
        return Benchmark(
            manifest=manifest,
            make_examples=make,
            split_rules=binding.split_rules(dataset, choices, zero_shot),
            open_recording=functools.partial(opened, dataset, choices),
            simulated=dataset.simulated,
            options=choices.recorded(dataset),
            notes=notes,
            known=() if definition == "as-scored" else DEMOGRAPHICS,
        )


FAMILY = Eeg2025()


@functools.cache
def _manifests(definition: str) -> dict[str, Manifest]:
    with as_file(files(__package__).joinpath(f"eeg2025-{definition}.toml")) as path:
        return manifests_from_toml(path)
