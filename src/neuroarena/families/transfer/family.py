"""Foundation transfer as a benchmark family: the other four tracks, each under its own name here."""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from neuroarena.benchmarks.benchmark import Benchmark, Family, WindowShape
from neuroarena.benchmarks.faces import find_face
from neuroarena.benchmarks.names import FAMILIES
from neuroarena.errors import InputError
from neuroarena.scoring import Manifest, Overall

DEFINITIONS = ("2026",)


@dataclass(frozen=True)
class Task:
    """One of the four tasks: the track and task whose examples it uses, their definition and dataset, and notes."""

    track: str
    task: str
    definition: str
    dataset: str
    notes: tuple[str, ...]

    @property
    def family(self) -> Family:
        """The family of the track, as it is registered."""
        return FAMILIES.get(self.track)


class Transfer:
    """One shared encoder, judged on the examples, splits and metrics of the other four tracks."""

    name = "transfer"
    title = "Foundation transfer: one encoder on all four tracks, under the organiser's heads"
    definitions = DEFINITIONS
    overall = Overall.from_toml(Path(__file__).with_name("overall.toml"))
    entry_rules = "neuroarena.families.transfer.encoder_identity:void_changed_encoders"
    columns = "neuroarena.families.transfer.encoder_identity:COLUMNS"
    own_standings = "neuroarena.families.transfer.standings:OWN_STANDINGS"
    code_contract = "neuroarena.families.transfer.code_contract:CONTRACT"
    start_kit = Path(__file__).with_name("startkit")

    @property
    def not_rankable(self) -> dict[str, str]:
        """Tasks whose answers are known on public data: those of the tracks they come from."""
        known = {
            name: (find_face(chosen.family, "not_rankable") or {}).get(chosen.task)
            for definition in DEFINITIONS
            for name, chosen in _tasks(definition).items()
        }
        return {name: reason for name, reason in known.items() if reason is not None}

    def tasks(self, definition: str) -> tuple[str, ...]:
        """List the four tracks in their canonical order."""
        return tuple(_tasks(definition))

    def splits(self, task: str, definition: str) -> tuple[str, ...]:
        """List the one split of a task: the default of its track."""
        chosen = _tasks(definition)[task]
        return chosen.family.splits(chosen.task, chosen.definition)[:1]

    def manifest(self, task: str, definition: str) -> Manifest:
        """Return the rules of a task: those of its track under the name of this family."""
        chosen = _tasks(definition)[task]
        return _rename(chosen.family.manifest(chosen.task, chosen.definition), task, chosen, definition)

    def window(self, task: str, definition: str) -> WindowShape:
        """Describe the windows: those of the track."""
        chosen = _tasks(definition)[task]
        return chosen.family.window(chosen.task, chosen.definition)

    def load(self, task: str, definition: str, data: str | None = None) -> Benchmark:
        """Bind a task to data.

        Parameters
        ----------
        task : {"img", "bci", "sleep", "emg"}
        definition : str
        data : str, optional
            A folder that holds the four datasets by their names: things_eeg2, bci_commands, sleep_edf and emg2qwerty.
            Without it each is found where its environment variable or ``NEUROARENA_DATA`` points.

        Raises
        ------
        InputError
            When the folder of the dataset does not exist.
        """
        chosen = _tasks(definition)[task]
        folder = None if data is None else Path(data) / chosen.dataset
        if folder is not None and not folder.is_dir():
            raise InputError(
                f"{data}: has no folder {chosen.dataset}/. Expected a folder that holds the datasets of all four "
                f"tracks by their names. To make a simulated one: neuroarena data simulate {chosen.dataset} {folder}"
            )
        path = None if folder is None else str(folder)
        loaded = chosen.family.load(chosen.task, chosen.definition, path)
        first = loaded.splits[0]
        return dataclasses.replace(
            loaded,
            manifest=_rename(loaded.manifest, task, chosen, definition),
            split_rules={first: loaded.split_rules[first]},
        )


FAMILY = Transfer()


@functools.cache
def _tasks(definition: str) -> dict[str, Task]:
    text = files(__package__).joinpath(f"transfer-{definition}.toml").read_text(encoding="utf-8")
    said: dict[str, Any] = tomllib.loads(text)
    found = {}
    for name, own in said["tasks"].items():
        track, _, task = own["track"].partition("/")
        notes = (own["head"], *said["notes"])
        found[name] = Task(track, task, said["definition"], own["dataset"], notes)
    return found


def _rename(manifest: Manifest, task: str, chosen: Task, definition: str) -> Manifest:
    return manifest.replace(
        name=f"{FAMILY.name}/{task}",
        definition=definition,
        title=f"Transfer: {manifest.title}",
        notes=(*manifest.notes, *chosen.notes),
    )
