"""The BCI track as a benchmark family: mental commands, and looking at flickering lights."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import Field

from neuroarena.benchmarks.benchmark import Benchmark, WindowShape
from neuroarena.benchmarks.options import FamilyOptions
from neuroarena.benchmarks.splits import Split
from neuroarena.datasets.dataset import open_dataset
from neuroarena.families.bci import examples, folds
from neuroarena.families.bci.bci_commands import DATASET as COMMANDS
from neuroarena.families.bci.bci_commands import BciCommands
from neuroarena.families.bci.ssvep_exo import DATASET as SSVEP
from neuroarena.families.bci.ssvep_exo import open_folder
from neuroarena.recordings import channel_table
from neuroarena.scoring import Manifest, manifests_from_toml

DEFINITIONS = ("2026",)
# The electrodes of PROTEUS, in its order.
_PROTEUS = (
    *("C2", "CP2", "P2", "Pz", "CPz", "Cz", "C1", "CP1", "P1", "P3", "PO7", "P5", "TP7", "CP5"),
    *("CP3", "C3", "PO8", "P6", "P4", "TP8", "CP6", "CP4", "C6", "C4", "FC6", "FC4", "FC2", "F6"),
    *("F4", "F2", "AF4", "AF3", "F5", "F3", "F1", "Fz", "FC5", "FC3", "FC1", "FCz", "C5"),
)
_OCCIPITAL = ("Oz", "O1", "O2", "PO3", "POz", "PO7", "PO8", "PO4")
# Task -> split -> rule; the first split of a task is its default.
_SPLIT_RULES: dict[str, dict[str, Callable[[pd.DataFrame], Split]]] = {
    "commands": {"later-sessions": folds.later_sessions},
    "ssvep-exo": {
        "cross-session": folds.cross_session,
        "leave-one-subject-out": folds.leave_one_subject_out,
    },
}


class BciOptions(FamilyOptions):
    """What can be chosen of the BCI track."""

    subjects: tuple[str, ...] | None = Field(
        default=None, description="Only these people; the split hash then differs."
    )
    authors_exclusions: bool = Field(
        default=False,
        description="Leave out the five recordings that the authors of the data left out.",
        json_schema_extra={"tasks": ["ssvep-exo"]},
    )


_DEFAULTS = BciOptions()


class Bci:
    """Commands of a brain-computer interface, on sessions and people that were not trained on."""

    name = "bci"
    title = "BCI: cued commands on later sessions, without recalibration"
    definitions = DEFINITIONS
    code_contract = "neuroarena.evaluation.model_contract:CONTRACT"
    start_kit = Path(__file__).with_name("startkit")
    options = BciOptions

    def tasks(self, definition: str) -> tuple[str, ...]:
        """List the tasks in their canonical order."""
        return tuple(_manifests(definition))

    def splits(self, task: str, definition: str) -> tuple[str, ...]:
        """List the splits of a task, the default first."""
        return tuple(_SPLIT_RULES[task])

    def manifest(self, task: str, definition: str) -> Manifest:
        """Return the rules of a task."""
        return _manifests(definition)[task]

    def window(self, task: str, definition: str) -> WindowShape:
        """Describe the windows of the real data."""
        if task == "commands":
            return WindowShape(channel_table(_PROTEUS, kind="eeg"), 500.0, 2000)
        return WindowShape(channel_table(_OCCIPITAL, kind="eeg"), 256.0, 1024)

    def load(
        self, task: str, definition: str, data: str | None = None, options: BciOptions = _DEFAULTS
    ) -> Benchmark:
        """Bind a task to a folder.

        Parameters
        ----------
        task : {"commands", "ssvep-exo"}
        definition : str
        data : str, optional
            The folder; without it, where ``NEUROARENA_BCI_COMMANDS`` or ``NEUROARENA_SSVEP_EXO``, or
            ``NEUROARENA_DATA``, point.
        options : BciOptions

        Raises
        ------
        InputError
            For people or sessions that are not in the folder.
        """
        named = options.subjects
        wanted = None if named is None else tuple(name.removeprefix("sub-") for name in named)
        manifest = self.manifest(task, definition)
        if task == "commands":
            return _load_commands(manifest, data, wanted)
        return _load_flicker(manifest, data, wanted, options.authors_exclusions)


FAMILY = Bci()


@functools.cache
def _manifests(definition: str) -> dict[str, Manifest]:
    with as_file(files(__package__).joinpath(f"bci-{definition}.toml")) as path:
        return manifests_from_toml(path)


def _load_commands(manifest: Manifest, data: str | None, subjects: tuple[str, ...] | None) -> Benchmark:
    dataset = open_dataset(COMMANDS, data, BciCommands)
    # Everybody who was requested must be there before anything is promised.
    runs = dataset.runs(subjects)
    return Benchmark(
        manifest=manifest,
        make_examples=functools.partial(examples.command_examples, dataset, subjects),
        split_rules=_SPLIT_RULES["commands"],
        open_recording=functools.partial(examples.open_command_run, dataset),
        simulated=dataset.simulated,
        options=_record_options(subjects=subjects),
        notes=_single_sessions(runs),
    )


def _single_sessions(runs: pd.DataFrame) -> tuple[str, ...]:
    counts = runs.groupby("subject")["session"].nunique()
    single = sorted(counts[counts == 1].index)
    if not single:
        return ()
    return (f"Not judged, because they came once: {', '.join(single)}.",)


def _load_flicker(
    manifest: Manifest, data: str | None, subjects: tuple[str, ...] | None, authors_exclusions: bool
) -> Benchmark:
    dataset = open_dataset(SSVEP, data, open_folder)
    recordings, notes = dataset.recordings(subjects, authors_exclusions=authors_exclusions)
    if dataset.simulated or subjects is not None or authors_exclusions:
        # The locked hashes are those of all recordings of the real data.
        manifest = manifest.replace(split_hashes={})
    return Benchmark(
        manifest=manifest,
        make_examples=functools.partial(examples.flicker_examples, dataset, recordings, manifest.classes),
        split_rules=_SPLIT_RULES["ssvep-exo"],
        open_recording=functools.partial(examples.open_flicker_recording, dataset),
        simulated=dataset.simulated,
        options=_record_options(subjects=subjects, authors_exclusions=authors_exclusions or None),
        notes=notes,
    )


def _record_options(**options: Any) -> dict[str, Any]:
    """Return the options that were used, as a record keeps them."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in options.items()
        if value is not None
    }
