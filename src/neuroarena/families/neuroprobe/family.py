"""Neuroprobe as a benchmark family: tasks and definitions bound to a BrainTreebank folder."""

from __future__ import annotations

import functools
from importlib.resources import as_file, files
from pathlib import Path

from neuroarena.benchmarks.benchmark import Benchmark, WindowShape
from neuroarena.datasets import locate
from neuroarena.families.neuroprobe import binding, labels
from neuroarena.families.neuroprobe.choices import Choices
from neuroarena.families.neuroprobe.folds import SPLITS
from neuroarena.families.neuroprobe.options import NeuroprobeOptions
from neuroarena.families.neuroprobe.tasks import DEFINITIONS, tasks_of
from neuroarena.recordings import channel_table
from neuroarena.scoring import Manifest, Overall, manifests_from_toml

_DEFAULTS = NeuroprobeOptions()


class Neuroprobe:
    """Fifteen tasks on intracranial recordings of people watching films; nineteen at first."""

    name = "neuroprobe"
    title = "Neuroprobe: fifteen tasks on intracranial recordings of people watching films"
    definitions = DEFINITIONS
    importers = "neuroarena.families.neuroprobe.importer:IMPORTERS"
    exporters = "neuroarena.families.neuroprobe.exporters:EXPORTERS"
    pretraining_rules = "neuroarena.families.neuroprobe.pretraining:RULES"
    submission_check = "neuroarena.families.neuroprobe.submission_verdict:check_submission"
    demo = "neuroarena.families.neuroprobe.demonstration:DEMO"
    views = "neuroarena.families.neuroprobe.views:name_view"
    maps = "neuroarena.families.neuroprobe.maps:MAPS"
    known_leaks = (
        ("order", "length"),
        "words and silences of a film follow each other by rule, so that when something is asked tells what",
    )
    overall = Overall.from_toml(Path(__file__).with_name("overall.toml"))
    options = NeuroprobeOptions

    def tasks(self, definition: str) -> tuple[str, ...]:
        """List the tasks of a definition in their canonical order."""
        return tuple(tasks_of(definition))

    def splits(self, task: str, definition: str) -> tuple[str, ...]:
        """List the splits of a task, the default first."""
        return SPLITS

    def manifest(self, task: str, definition: str) -> Manifest:
        """Return the rules of a task."""
        return _manifests(definition)[task]

    def window(self, task: str, definition: str) -> WindowShape:
        """Describe the windows: one second of two probes of a fictitious subject."""
        names = [f"{probe}{contact}" for probe in ("T1a", "T1b") for contact in range(1, 13)]
        regions = ["ctx-lh-superiortemporal"] * 12 + ["ctx-lh-insula"] * 12
        return WindowShape(
            channel_table(names, kind="ieeg", region=regions), float(labels.RATE_HZ), labels.WINDOW_SAMPLES
        )

    def electrodes(
        self,
        session: str,
        *,
        subset: labels.Subset = "lite",
        definition: str = DEFINITIONS[0],
        data: str | None = None,
    ) -> tuple[str, ...]:
        """List the electrodes of a session that a subset uses, in their order.

        Parameters
        ----------
        session : str
            Such as "1_1" or "btbank1_1".
        subset, definition, data
            As in :meth:`load`.
        """
        dataset = binding.open_folder(str(locate("braintreebank", data)))
        (chosen,) = binding.choose_sessions(dataset, subset, [session])
        return binding.session_electrodes(dataset, chosen, subset, definition)

    def load(
        self, task: str, definition: str, data: str | None = None, options: NeuroprobeOptions = _DEFAULTS
    ) -> Benchmark:
        """Bind a task to a folder.

        Parameters
        ----------
        task, definition : str
        data : str, optional
            The folder; without it, where ``ROOT_DIR_BRAINTREEBANK`` or ``NEUROARENA_DATA`` point.
        options : NeuroprobeOptions

        Raises
        ------
        InputError
            For sessions or electrodes that are not in the folder.
        """
        dataset = binding.open_folder(str(locate("braintreebank", data)))
        choices = Choices.checked(dataset, definition, options)
        manifest = choices.manifest(self.manifest(task, definition), task)
        stand_ins = binding.pitch_notes(dataset, choices.sessions, task, definition)
        if stand_ins:
            # Other labels are another task: the note changes the hash, so that boards do not mix the two.
            manifest = manifest.replace(notes=(*manifest.notes, *stand_ins))
        return Benchmark(
            manifest=manifest,
            make_examples=functools.partial(choices.examples, dataset, task),
            split_rules=choices.split_rules(task, simulated=dataset.simulated),
            open_recording=functools.partial(binding.open_recording, dataset, options.subset, definition),
            simulated=dataset.simulated,
            options=choices.recorded(),
            notes=(
                *stand_ins,
                *binding.table_notes(dataset, choices.sessions, definition),
                *binding.film_notes(choices.sessions),
            ),
        )


FAMILY = Neuroprobe()


@functools.cache
def _manifests(definition: str) -> dict[str, Manifest]:
    with as_file(files(__package__).joinpath(f"neuroprobe-{definition}.toml")) as path:
        return manifests_from_toml(path)
