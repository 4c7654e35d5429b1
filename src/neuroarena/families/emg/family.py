"""EMG-to-text as a benchmark family, bound to a folder of emg2qwerty."""

from __future__ import annotations

import functools
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import Field

from neuroarena.benchmarks.benchmark import Benchmark, WindowShape
from neuroarena.benchmarks.options import FamilyOptions
from neuroarena.benchmarks.split_rules import published_parts
from neuroarena.benchmarks.splits import Split
from neuroarena.datasets.dataset import open_dataset
from neuroarena.errors import InputError
from neuroarena.families.emg.emg2qwerty import DATASET
from neuroarena.families.emg.emg2qwerty.sessions import ON_KEYBOARD, plain_user
from neuroarena.families.emg.emg2qwerty.split_file import SplitFile
from neuroarena.families.emg.emg2qwerty.wristbands import RATE_HZ, wristband_channels
from neuroarena.scoring import Manifest, manifests_from_toml

OTHER_PEOPLE = "other-people"
PARTS = ("train", "val", "test")


class EmgOptions(FamilyOptions):
    """What can be chosen of EMG-to-text."""

    split_file: str | None = Field(
        default=None,
        description="File with a split in the dataset's YAML instead of generic.yaml in the folder; "
        "another list has another split hash.",
    )


_DEFAULTS = EmgOptions()


class EmgToText:
    """Which keys were typed, from two wristbands of EMG, by people other than those in training."""

    name = "emg"
    title = "EMG-to-text: keystrokes from wristband EMG of people never seen in training"
    definitions = ("2026",)
    code_contract = "neuroarena.evaluation.model_contract:CONTRACT"
    start_kit = Path(__file__).with_name("startkit")
    options = EmgOptions

    def tasks(self, definition: str) -> tuple[str, ...]:
        """List the tasks of a definition in their canonical order."""
        return tuple(_manifests(definition))

    def splits(self, task: str, definition: str) -> tuple[str, ...]:
        """List the splits of a task, the default first."""
        return (OTHER_PEOPLE,)

    def manifest(self, task: str, definition: str) -> Manifest:
        """Return the rules of a task."""
        return _manifests(definition)[task]

    def window(self, task: str, definition: str) -> WindowShape:
        """Describe the windows: 4 s of both wristbands, with 0.9 s before and 0.1 s after."""
        rule = self.manifest(task, definition).stream
        assert rule is not None
        samples = round((rule.before_s + rule.window_s + rule.after_s) * RATE_HZ)
        return WindowShape(wristband_channels(), RATE_HZ, samples)

    def load(
        self, task: str, definition: str, data: str | None = None, options: EmgOptions = _DEFAULTS
    ) -> Benchmark:
        """Bind a task to a folder of emg2qwerty.

        Parameters
        ----------
        task, definition : str
        data : str, optional
            The folder; without it, where ``NEUROARENA_EMG2QWERTY`` or ``NEUROARENA_DATA`` point.
        options : EmgOptions

        Raises
        ------
        InputError
            When the folder, the split file or a listed session is missing, a session does not belong to the user
            it is listed for, or a user is both in training and in test.
        """
        dataset = open_dataset(DATASET, data, DATASET.open)
        split_file = options.split_file
        listed = _check_lists(dataset, dataset.split_file(split_file))
        return Benchmark(
            manifest=self.manifest(task, definition),
            make_examples=functools.partial(_examples, dataset, listed),
            split_rules={OTHER_PEOPLE: functools.partial(_other_people, listed)},
            open_recording=dataset.recording,
            simulated=dataset.simulated,
            options={"split_file": "" if split_file is None else Path(split_file).name},
            notes=_notes(dataset, listed),
            read_events=dataset.events,
        )


FAMILY = EmgToText()


@functools.cache
def _manifests(definition: str) -> dict[str, Manifest]:
    with as_file(files(__package__).joinpath(f"emg-{definition}.toml")) as path:
        return manifests_from_toml(path)


def _check_lists(dataset: Any, listed: SplitFile) -> SplitFile:
    """Check the lists against the folder: nothing missing, nothing mislabelled, nobody on both sides."""
    for part in PARTS:
        for user, session in getattr(listed, part):
            found, _ = dataset.about(session)
            if found != plain_user(user):
                raise InputError(
                    f"{dataset.file(session)}: belongs to user {found}, but the split file lists it for user {user}."
                )
    known = {plain_user(user) for part in ("train", "val") for user, _ in getattr(listed, part)}
    shared = known & {plain_user(user) for user, _ in listed.test}
    if shared:
        raise InputError(
            f"{dataset.root}: user {min(shared)} is both in test and in training or validation. This task asks about "
            "people not seen in training; use the generic split file."
        )
    if not listed.train or not listed.test:
        raise InputError(f"{dataset.root}: the split file lists no session for train or for test.")
    return listed


def _list_typed(dataset: Any, listed: SplitFile) -> list[str]:
    """List the sessions that were typed on a keyboard: only then is it known what was typed."""
    every = [session for part in PARTS for _, session in getattr(listed, part)]
    return [session for session in every if dataset.about(session)[1] == ON_KEYBOARD]


def _notes(dataset: Any, listed: SplitFile) -> tuple[str, ...]:
    every = [session for part in PARTS for _, session in getattr(listed, part)]
    left = sorted(set(every) - set(_list_typed(dataset, listed)))
    if not left:
        return ()
    return (
        f"{len(left)} listed sessions were not typed on a keyboard and are left out, the first {left[0]}.",
    )


def _examples(dataset: Any, listed: SplitFile) -> pd.DataFrame:
    rows = []
    for session in _list_typed(dataset, listed):
        text, user = dataset.text(session), dataset.about(session)[0]
        if not text:
            raise InputError(
                f"{dataset.file(session)}: no key of the set was pressed in this session. "
                "An empty text cannot be judged: "
                "remove the session from the split file."
            )
        rows.append(
            {
                "id": session,
                "recording": session,
                "start": 0,
                "stop": dataset.recording(session).n_samples,
                "target": text,
                "unit": session,
                "cluster": user,
                "subject": user,
                "session": session,
            }
        )
    return pd.DataFrame(rows)


def _other_people(listed: SplitFile, examples: pd.DataFrame) -> Split:
    train, validation, test = ([session for _, session in getattr(listed, part)] for part in PARTS)
    return published_parts(examples, train, test, validation, name=OTHER_PEOPLE)
