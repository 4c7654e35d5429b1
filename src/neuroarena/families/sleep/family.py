"""The sleep track as a benchmark family: when does a person reach stable N2?"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal

from neuroarena.benchmarks.benchmark import Benchmark, WindowShape
from neuroarena.datasets.dataset import locate_folder
from neuroarena.errors import InputError
from neuroarena.families.sleep import binding
from neuroarena.families.sleep.muse_sleep import DATASET as MUSE_SLEEP
from neuroarena.families.sleep.muse_sleep import MuseSleep
from neuroarena.families.sleep.people import SPLIT, other_people
from neuroarena.families.sleep.sleep_edf import DATASET as SLEEP_EDF
from neuroarena.families.sleep.sleep_edf import SleepEDF
from neuroarena.families.sleep.stretches import StretchRule
from neuroarena.recordings import channel_table
from neuroarena.registry import unknown_name
from neuroarena.scoring import Manifest, manifests_from_toml

DEFINITIONS = ("2026",)
TASKS = ("sleep-edf", "muse")
_SHAPES = {"sleep-edf": (("EEG Fpz-Cz", "EEG Pz-Oz"), 100.0), "muse": (("TP9", "AF7", "AF8", "TP10"), 128.0)}

Study = Literal["cassette", "telemetry"]


class Sleep:
    """Track 3: seconds to the first stable N2 epoch, on a sparse montage, of people never seen in training."""

    name = "sleep"
    title = "Sleep onset: seconds to the first stable N2 epoch, of other people, as a stream"
    definitions = DEFINITIONS
    start_kit = Path(__file__).with_name("startkit")

    def tasks(self, definition: str) -> tuple[str, ...]:
        """List the tasks in their canonical order."""
        return TASKS

    def splits(self, task: str, definition: str) -> tuple[str, ...]:
        """List the splits of a task, the default first."""
        return (SPLIT,)

    def manifest(self, task: str, definition: str) -> Manifest:
        """Give the rules of a task."""
        return _manifests(definition)[task]

    def window(self, task: str, definition: str) -> WindowShape:
        """Tell what windows look like: 30 s of two or four electrodes."""
        names, rate_hz = _SHAPES[task]
        stream = self.manifest(task, definition).stream
        assert stream is not None
        return WindowShape(channel_table(list(names), kind="eeg"), rate_hz, round(stream.window_s * rate_hz))

    def load(
        self,
        task: str,
        definition: str,
        data: str | None = None,
        *,
        study: Study | None = None,
        k: int | None = None,
        subjects: Iterable[str] | None = None,
    ) -> Benchmark:
        """Bind a task to a folder.

        Parameters
        ----------
        task, definition : str
        data : str, optional
            The folder; without it, where ``NEUROARENA_SLEEP_EDF``, ``NEUROARENA_MUSE_SLEEP`` or
            ``NEUROARENA_DATA`` point.
        study : {"cassette", "telemetry"}, optional
            Of Sleep-EDF: nights at home (the default) or in hospital, some of them with a sleeping drug.
        k : int, optional
            Of Sleep-EDF: epochs of N2 or deeper that must follow the first N2; 1 by default, and 0 is the
            target `first_n2`. Another value is another task, and changes the manifest's hash.
        subjects : iterable of str, optional
            Only these people, "SC400" or "001"; the split hash then differs.

        Raises
        ------
        InputError
            For an option that is not one, and for people or nights that are not in the folder.
        """
        manifest = self.manifest(task, definition)
        chosen = (
            None if subjects is None else tuple(str(subject).removeprefix("sub-") for subject in subjects)
        )
        if task == "muse":
            if study is not None or k is not None:
                raise InputError(
                    "sleep/muse has neither study nor k: its recordings hold one event, n2_onset."
                )
            return _muse(manifest, data, chosen)
        if study not in (None, "cassette", "telemetry"):
            raise unknown_name("study of Sleep-EDF", str(study), ("cassette", "telemetry"), "benchmarks")
        return _sleep_edf(_with_k(manifest, k), data, study or "cassette", chosen)


def _sleep_edf(
    manifest: Manifest, root: str | None, study: Study, subjects: tuple[str, ...] | None
) -> Benchmark:
    data = SleepEDF(locate_folder(SLEEP_EDF, root))
    k = manifest.caps["following_n2_epochs"]
    naps = binding.sleep_edf_naps(data, study, k, subjects)
    if study == "telemetry":
        manifest = manifest.replace(notes=(*manifest.notes, "Nights of the telemetry study, in hospital."))
    return _benchmark(
        manifest,
        data,
        naps,
        groups=(study,),
        options={"study": study, "k": k, "subjects": subjects and list(subjects)},
        read_events=functools.partial(binding.hypnogram_events, data),
    )


def _muse(manifest: Manifest, root: str | None, subjects: tuple[str, ...] | None) -> Benchmark:
    data = MuseSleep(locate_folder(MUSE_SLEEP, root))
    naps = binding.muse_naps(data, subjects)
    options = {"subjects": subjects and list(subjects)}
    return _benchmark(manifest, data, naps, groups=("muse",), options=options, read_events=data.events)


def _benchmark(
    manifest: Manifest,
    data: SleepEDF | MuseSleep,
    naps: tuple[binding.Nap, ...],
    *,
    groups: tuple[str, ...],
    options: dict[str, Any],
    read_events: Any,
) -> Benchmark:
    rule = stretch_rule(manifest)
    return Benchmark(
        manifest=manifest,
        make_examples=functools.partial(binding.make_examples, data, naps, rule),
        split_rules={SPLIT: functools.partial(other_people, groups)},
        open_recording=data.open,
        simulated=data.simulated,
        options=options,
        notes=binding.left_out(naps, rule),
        read_events=read_events,
    )


def stretch_rule(manifest: Manifest) -> StretchRule:
    """Read from a manifest which stretch of a recording is an example."""
    assert manifest.stream is not None
    assert manifest.stream.horizon_s is not None
    return StretchRule(
        manifest.name,
        float(manifest.caps["least_seconds"]),
        float(manifest.caps["most_seconds"]),
        manifest.stream.horizon_s,
    )


def _with_k(manifest: Manifest, k: int | None) -> Manifest:
    """Put another k into the rules: on the title, in the words and in the numbers."""
    if k is None or k == manifest.caps["following_n2_epochs"]:
        return manifest
    if not isinstance(k, int) or isinstance(k, bool) or k < 0:
        raise InputError(f"sleep/sleep-edf: k must be a whole number from 0, got {k!r}.")
    said = "first_n2: whatever follows" if k == 0 else f"followed by at least k = {k} further epochs"
    return manifest.replace(
        title=manifest.title.replace("k = 1", f"k = {k}"),
        caps={**manifest.caps, "following_n2_epochs": k},
        notes=(*manifest.notes, f"Here with another k than the track's: the first N2, {said}."),
    )


FAMILY = Sleep()


@functools.cache
def _manifests(definition: str) -> dict[str, Manifest]:
    with as_file(files(__package__).joinpath(f"sleep-{definition}.toml")) as path:
        return manifests_from_toml(path)
