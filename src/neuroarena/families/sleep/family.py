"""The sleep track as a benchmark family: when does a person reach stable N2?"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from neuroarena.benchmarks.benchmark import Benchmark, WindowShape
from neuroarena.benchmarks.options import FamilyOptions
from neuroarena.datasets.dataset import open_dataset
from neuroarena.families.sleep import binding
from neuroarena.families.sleep.muse_sleep import DATASET as MUSE_SLEEP
from neuroarena.families.sleep.muse_sleep import MuseSleep
from neuroarena.families.sleep.people import SPLIT, other_people
from neuroarena.families.sleep.sleep_edf import DATASET as SLEEP_EDF
from neuroarena.families.sleep.sleep_edf import SleepEDF
from neuroarena.families.sleep.stretches import StretchRule
from neuroarena.recordings import channel_table
from neuroarena.scoring import Manifest, manifests_from_toml

DEFINITIONS = ("2026",)
TASKS = ("sleep-edf", "muse")
_SHAPES = {"sleep-edf": (("EEG Fpz-Cz", "EEG Pz-Oz"), 100.0), "muse": (("TP9", "AF7", "AF8", "TP10"), 128.0)}

Study = Literal["cassette", "telemetry"]


class SleepOptions(FamilyOptions):
    """What can be chosen of the sleep track."""

    study: Study = Field(
        default="cassette",
        description="Nights at home (cassette) or in hospital (telemetry), some of them with a sleeping drug.",
        json_schema_extra={"tasks": ["sleep-edf"]},
    )
    k: int = Field(
        default=1,
        ge=0,
        description="Epochs of N2 or deeper that must follow the first N2; 0 asks for the first N2, "
        "and every value but 1 is another task.",
        json_schema_extra={"tasks": ["sleep-edf"]},
    )
    subjects: tuple[str, ...] | None = Field(
        default=None, description="Only these people, such as SC400 or 001; the split hash then differs."
    )


_DEFAULTS = SleepOptions()
_KNOWN_ANSWERS = (
    "where a stream begins is drawn by a public hash of the recording's id, so that the answer follows from the id "
    "alone. Scores are for comparing methods; a sealed phase draws with a secret."
)


class Sleep:
    """Track 3: seconds to the first stable N2 epoch, on a sparse montage, of people never seen in training."""

    name = "sleep"
    title = "Sleep onset: seconds to the first stable N2 epoch, of other people, as a stream"
    definitions = DEFINITIONS
    code_contract = "neuroarena.evaluation.model_contract:CONTRACT"
    start_kit = Path(__file__).with_name("startkit")
    options = SleepOptions
    not_rankable: Mapping[str, str] = dict.fromkeys(TASKS, _KNOWN_ANSWERS)

    def tasks(self, definition: str) -> tuple[str, ...]:
        """List the tasks in their canonical order."""
        return TASKS

    def splits(self, task: str, definition: str) -> tuple[str, ...]:
        """List the splits of a task, the default first."""
        return (SPLIT,)

    def manifest(self, task: str, definition: str) -> Manifest:
        """Return the rules of a task."""
        return _manifests(definition)[task]

    def window(self, task: str, definition: str) -> WindowShape:
        """Describe the windows: 30 s of two or four electrodes."""
        names, rate_hz = _SHAPES[task]
        stream = self.manifest(task, definition).stream
        assert stream is not None
        return WindowShape(channel_table(list(names), kind="eeg"), rate_hz, round(stream.window_s * rate_hz))

    def load(
        self, task: str, definition: str, data: str | None = None, options: SleepOptions = _DEFAULTS
    ) -> Benchmark:
        """Bind a task to a folder.

        Parameters
        ----------
        task, definition : str
        data : str, optional
            The folder; without it, where ``NEUROARENA_SLEEP_EDF``, ``NEUROARENA_MUSE_SLEEP`` or
            ``NEUROARENA_DATA`` point.
        options : SleepOptions

        Raises
        ------
        InputError
            For people or nights that are not in the folder.
        """
        manifest = self.manifest(task, definition)
        named = options.subjects
        chosen = None if named is None else tuple(subject.removeprefix("sub-") for subject in named)
        if task == "muse":
            return _muse(manifest, data, chosen)
        return _sleep_edf(manifest, data, options, chosen)


def _sleep_edf(
    usual: Manifest, root: str | None, asked: SleepOptions, subjects: tuple[str, ...] | None
) -> Benchmark:
    data = open_dataset(SLEEP_EDF, root, SleepEDF)
    manifest, study, usual_k = _with_k(usual, asked.k), asked.study, usual.caps["following_n2_epochs"]
    naps = binding.sleep_edf_naps(data, study, asked.k, subjects, usual_k)
    if study == "telemetry":
        manifest = manifest.replace(notes=(*manifest.notes, "Nights of the telemetry study, in hospital."))
    return _benchmark(
        manifest,
        data,
        naps,
        groups=(study,),
        options={"study": study, "k": asked.k, "subjects": subjects and list(subjects)},
        read_events=functools.partial(binding.hypnogram_events, data),
        notes=binding.describe_targets(naps, asked.k, usual_k),
    )


def _muse(manifest: Manifest, root: str | None, subjects: tuple[str, ...] | None) -> Benchmark:
    data = open_dataset(MUSE_SLEEP, root, MuseSleep)
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
    notes: tuple[str, ...] = (),
) -> Benchmark:
    rule = stretch_rule(manifest)
    return Benchmark(
        manifest=manifest,
        make_examples=functools.partial(binding.make_examples, data, naps, rule),
        split_rules={SPLIT: functools.partial(other_people, groups)},
        open_recording=data.open,
        simulated=data.simulated,
        options=options,
        notes=(*binding.left_out(naps, rule), *notes),
        read_events=read_events,
    )


def stretch_rule(manifest: Manifest, secret: bytes | None = None) -> StretchRule:
    """Read from a manifest which stretch of a recording is an example; with a secret, drawn by it."""
    assert manifest.stream is not None
    assert manifest.stream.horizon_s is not None
    return StretchRule(
        manifest.name,
        float(manifest.caps["least_seconds"]),
        float(manifest.caps["most_seconds"]),
        manifest.stream.horizon_s,
        secret,
    )


def _with_k(manifest: Manifest, k: int) -> Manifest:
    """Put another k into the rules: in the title, the words and the numbers."""
    if k == manifest.caps["following_n2_epochs"]:
        return manifest
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
