"""Neuroprobe as a benchmark family: tasks and definitions bound to a BrainTreebank folder."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from importlib.resources import as_file, files
from typing import Any

import pandas as pd

from neuroarena.benchmarks.benchmark import Benchmark, WindowShape
from neuroarena.benchmarks.neuroprobe import labels
from neuroarena.benchmarks.neuroprobe.folds import SPLIT_RULES
from neuroarena.benchmarks.neuroprobe.sessions import (
    SESSIONS,
    Session,
    parse_session,
    session_key,
    subset_electrodes,
)
from neuroarena.benchmarks.neuroprobe.tasks import TASKS
from neuroarena.benchmarks.splits import Split
from neuroarena.datasets import locate
from neuroarena.datasets.braintreebank import BrainTreebank, nonverbal_table, word_table
from neuroarena.errors import InputError
from neuroarena.recordings import Recording, channel_table
from neuroarena.scoring import Manifest, manifests_from_toml


class Neuroprobe:
    """Fifteen tasks on intracranial recordings of people watching films."""

    name = "neuroprobe"
    title = "Neuroprobe: fifteen tasks on intracranial recordings of people watching films"
    definitions = labels.DEFINITIONS

    def tasks(self, definition: str) -> tuple[str, ...]:  # noqa: ARG002 - the same in both definitions
        """List the tasks in their canonical order."""
        return tuple(TASKS)

    def splits(self, definition: str) -> tuple[str, ...]:  # noqa: ARG002 - the same in both definitions
        """List the splits, the default first."""
        return tuple(SPLIT_RULES)

    def manifest(self, task: str, definition: str) -> Manifest:
        """Give the rules of a task."""
        return _manifests(definition)[task]

    def window(self, task: str, definition: str) -> WindowShape:  # noqa: ARG002 - the same for all tasks
        """Tell what windows look like: one second of two probes of an imagined subject."""
        names = [f"{probe}{contact}" for probe in ("T1a", "T1b") for contact in range(1, 13)]
        regions = ["ctx-lh-superiortemporal"] * 12 + ["ctx-lh-insula"] * 12
        return WindowShape(
            channel_table(names, kind="ieeg", region=regions), float(labels.RATE_HZ), labels.WINDOW_SAMPLES
        )

    def load(
        self,
        task: str,
        definition: str,
        data: str | None = None,
        *,
        subset: labels.Subset = "lite",
        multiclass: bool = False,
        sessions: Iterable[str] | None = None,
    ) -> Benchmark:
        """Bind a task to a BrainTreebank folder.

        Parameters
        ----------
        task, definition : str
        data : str, optional
            The folder; without it, where ``ROOT_DIR_BRAINTREEBANK`` or ``NEUROARENA_DATA`` point.
        subset : {"lite", "nano", "full"}
            Which sessions, electrodes and how many items.
        multiclass : bool
            Ask for the multiclass form of the task.
        sessions : iterable of str, optional
            Restrict to these sessions, for example ``["1_1", "1_2"]``; the split hash then differs.
        """
        dataset = _open(str(locate("braintreebank", data)))
        chosen = _choose_sessions(dataset, subset, sessions)
        manifest = self.manifest(task, definition)
        n_classes = TASKS[task].n_classes(multiclass)
        if n_classes != len(manifest.classes):
            manifest = manifest.replace(classes=tuple(str(label) for label in range(n_classes)))
        options: dict[str, Any] = {"subset": subset, "multiclass": multiclass}
        if sessions is not None:
            options["sessions"] = [session_key(session) for session in chosen]
        return Benchmark(
            manifest=manifest,
            make_examples=functools.partial(
                _examples, dataset, chosen, task, definition=definition, multiclass=multiclass, subset=subset
            ),
            split_rules=_split_rules(definition),
            open_recording=functools.partial(_recording, dataset, subset),
            simulated=dataset.simulated,
            options=options,
        )


FAMILY = Neuroprobe()


@functools.cache
def _manifests(definition: str) -> dict[str, Manifest]:
    with as_file(files(__package__).joinpath(f"neuroprobe-{definition}.toml")) as path:
        return manifests_from_toml(path)


@functools.lru_cache(maxsize=4)
def _open(root: str) -> BrainTreebank:
    return BrainTreebank(root)


def _split_rules(definition: str) -> dict[str, Callable[[pd.DataFrame], Split]]:
    validation = definition != "2025.09"
    return {name: functools.partial(rule, validation=validation) for name, rule in SPLIT_RULES.items()}


def _choose_sessions(dataset: BrainTreebank, subset: str, wanted: Iterable[str] | None) -> list[Session]:
    """Pick the sessions of a subset; one that is absent is an error unless the data are a twin.

    A twin is small by design and its card says which sessions it has; the split hash tells the
    two apart.
    """
    if subset not in SESSIONS:
        raise InputError(f'"{subset}" is not a subset of Neuroprobe; expected lite, nano or full.')
    table = list(SESSIONS[subset])
    if wanted is not None:
        chosen = [parse_session(text) for text in wanted]
        foreign = [session_key(session) for session in chosen if session not in table]
        if foreign:
            raise InputError(f"The subset {subset} of Neuroprobe has no session {', '.join(foreign)}.")
        table = chosen
    elif dataset.simulated:
        table = [session for session in table if session in dataset.sessions]
    absent = [session_key(session) for session in table if session not in dataset.sessions]
    if absent or not table:
        raise InputError(
            f"{dataset.root}: the subset {subset} needs the sessions {', '.join(absent) or 'of its table'}, which are "
            "not there. Get them, or name the sessions you have with --sessions; nothing is left out silently."
        )
    return table


@functools.lru_cache(maxsize=64)
def _tables(dataset: BrainTreebank, session: Session) -> tuple[pd.DataFrame, pd.DataFrame]:
    triggers = dataset.triggers(*session)
    words = word_table(dataset.features(*session), triggers)
    return words, nonverbal_table(words, int(triggers["index"].iloc[-1]))


def _examples(dataset: BrainTreebank, sessions: list[Session], task: str, **options: Any) -> pd.DataFrame:
    parts = []
    for session in sessions:
        words, nonverbal = _tables(dataset, session)
        key = session_key(session)
        try:
            items = labels.examples(
                task,
                words,
                nonverbal,
                dataset.features(*session),
                dataset.pitch(dataset.movie(*session)),
                **options,
            )
        except InputError as error:
            raise InputError(f"{key}: {error}") from error
        parts.append(
            pd.DataFrame(
                {
                    "id": [f"{key}-{item:05d}" for item in range(len(items))],
                    "recording": key,
                    "start": items["start"],
                    "stop": items["stop"],
                    "target": items["label"],
                    "unit": key,
                    "cluster": f"subject {session[0]}",
                    "subject": str(session[0]),
                    "session": key,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _recording(dataset: BrainTreebank, subset: str, key: str) -> Recording:
    subject, trial = parse_session(key)
    wanted = subset_electrodes(subset, subject)
    if wanted is None:
        return dataset.recording(subject, trial)
    present = set(dataset.electrodes(subject)["name"])
    absent = [label for label in wanted if label not in present]
    if absent and not dataset.simulated:
        raise InputError(
            f"{key}: {len(absent)} electrodes of the subset {subset} are not in this folder, for example {absent[0]}."
        )
    return dataset.recording(subject, trial, [label for label in wanted if label in present])
